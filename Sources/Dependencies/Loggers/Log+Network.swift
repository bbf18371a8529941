extension Log {
    /// A header field for a log.
    public struct Header: Sendable, Hashable, CustomStringConvertible {
        /// The name as sent.
        public var name: String
        /// The value, or its replacement if it is secret.
        public var value: String

        /// Creates a header field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// The field as sent.
        public var description: String { "\(name): \(value)" }
    }

    /// The data of a request for a log; the code that creates it must leave out secrets.
    public struct NetworkRequest: Sendable, Hashable, CustomStringConvertible {
        /// The HTTP method.
        public var method: String
        /// The URL, without secrets.
        public var url: String
        /// The header fields, without secrets.
        public var headers: [Header]
        /// The size and type of the body, or `nil` without a body.
        public var body: String?

        /// Creates the data of a request.
        public init(method: String, url: String, headers: [Header] = [], body: String? = nil) {
            self.method = method
            self.url = url
            self.headers = headers
            self.body = body
        }

        /// The method, URL, body and header fields in one line.
        public var description: String { "-> \(method) \(url)\(details(body, headers))" }
    }

    /// The data of a response or of the end of a request for a log; the code that creates it must leave out secrets.
    public struct NetworkResponse: Sendable, Hashable, CustomStringConvertible {
        /// The HTTP status, or `nil` if there is no response.
        public var status: Int?
        /// The URL of the response, without secrets.
        public var url: String
        /// The header fields, without secrets.
        public var headers: [Header]
        /// The size and type of the body, or `nil` without a body.
        public var body: String?
        /// The duration of the transfer, or `nil` if it isn't known.
        public var duration: Duration?
        /// The reason why there is no response, or `nil` if there is one.
        public var failure: String?
        /// The level of the message.
        public var level: LogLevel

        /// Creates the data of a response.
        public init(
            status: Int?,
            url: String,
            headers: [Header] = [],
            body: String? = nil,
            duration: Duration? = nil,
            failure: String? = nil,
            level: LogLevel = .debug
        ) {
            self.status = status
            self.url = url
            self.headers = headers
            self.body = body
            self.duration = duration
            self.failure = failure
            self.level = level
        }

        /// The status or failure, URL, duration, body and header fields in one line.
        public var description: String {
            let outcome = status.map(String.init) ?? failure ?? "no response"
            let time = duration.map { " in \($0.milliseconds) ms" } ?? ""
            return "<- \(outcome) \(url)\(time)\(details(body, headers))"
        }
    }
}

private func details(_ body: String?, _ headers: [Log.Header]) -> String {
    let parts = [body].compactMap { $0 } + headers.map(\.description)
    return parts.isEmpty ? "" : " [" + parts.joined(separator: "; ") + "]"
}

extension Duration {
    package var milliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
