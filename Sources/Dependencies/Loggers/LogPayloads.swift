extension Log {
    /// A header field as a log shows it.
    public struct Header: Sendable, Hashable, CustomStringConvertible {
        /// The name as it goes over the wire.
        public var name: String
        /// The value, or what stands for a secret one.
        public var value: String

        /// A field of this name and value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// The field as on the wire.
        public var description: String { "\(name): \(value)" }
    }

    /// What a log shows of a request. Whoever makes it leaves secrets out.
    public struct NetworkRequest: Sendable, Hashable, CustomStringConvertible {
        /// The HTTP method.
        public var method: String
        /// The URL, without secrets.
        public var url: String
        /// The header fields, without secrets.
        public var headers: [Header]
        /// Size and kind of the body; nil for none.
        public var body: String?

        /// Describes a request.
        public init(method: String, url: String, headers: [Header] = [], body: String? = nil) {
            self.method = method
            self.url = url
            self.headers = headers
            self.body = body
        }

        /// Method, URL, body and header fields in one line.
        public var description: String { "-> \(method) \(url)\(details(body, headers))" }
    }

    /// What a log shows of a response or of the end of a request. Whoever makes it leaves secrets out.
    public struct NetworkResponse: Sendable, Hashable, CustomStringConvertible {
        /// The HTTP status; nil where no response came.
        public var status: Int?
        /// The URL that answered, without secrets.
        public var url: String
        /// The header fields, without secrets.
        public var headers: [Header]
        /// Size and kind of the body; nil for none.
        public var body: String?
        /// From the start of the transfer to its end; nil where it is not known.
        public var duration: Duration?
        /// Why there is no response; nil where there is one.
        public var failure: String?
        /// How much it matters.
        public var level: LogLevel

        /// Describes the end of a request.
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

        /// Status or failure, URL, duration, body and header fields in one line.
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
