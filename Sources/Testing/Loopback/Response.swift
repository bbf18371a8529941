public import BeagleNetHTTP

extension LoopbackServer {
    /// The response to a request, as one step or a sequence of steps.
    ///
    /// The connection stays open for the next request unless a step closes it or the client sent `Connection: close`.
    public struct Response: Sendable {
        enum Step: Sendable {
            case response(status: Int, fields: [(name: String, value: String)], body: Data)
            case bytes(Data)
            case dribble(Data, every: Duration)
            case endless(Data)
            case wait(Gate)
            case finish
            case stall
            case close
            case reset
            /// A function that uses the connection, which is closed if it returns `false`.
            case played(@Sendable (inout Connection) -> Bool)
        }

        let steps: [Step]

        private init(_ steps: Step...) {
            self.steps = steps
        }

        private init(joining answers: [Response]) {
            steps = answers.flatMap(\.steps)
        }

        /// Returns a correct response.
        ///
        /// `Content-Length` is added unless the fields frame the body themselves. The response to HEAD and the statuses
        /// 1xx, 204 and 304 have no body.
        public static func response(
            _ status: Int,
            _ fields: KeyValuePairs<String, String> = [:],
            _ body: Data
        ) -> Response {
            Response(.response(status: status, fields: fields.map { (name: $0.key, value: $0.value) }, body: body))
        }

        /// Returns a correct response with this text in UTF-8 as its body.
        public static func response(
            _ status: Int,
            _ fields: KeyValuePairs<String, String> = [:],
            _ body: String = ""
        ) -> Response {
            response(status, fields, Data(body.utf8))
        }

        /// Returns an answer that sends only these bytes: complete responses, parts of them, or invalid data.
        public static func raw(_ bytes: Data) -> Response { Response(.bytes(bytes)) }

        /// Returns an answer that sends only this text in UTF-8.
        public static func raw(_ text: String) -> Response { raw(Data(text.utf8)) }

        /// Returns a 200 response with a chunked body (RFC 9112, 7.1).
        public static func chunked(_ chunks: [Data], _ fields: KeyValuePairs<String, String> = [:]) -> Response {
            let lines = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
            var bytes = Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(lines)\r\n".utf8)
            for chunk in chunks where !chunk.isEmpty {
                bytes += Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8)
            }
            return raw(bytes + Data("0\r\n\r\n".utf8))
        }

        /// Returns an answer that sends these bytes one at a time, with a pause after each.
        public static func dribble(_ bytes: Data, every pause: Duration) -> Response {
            Response(.dribble(bytes, every: pause))
        }

        /// Returns an answer that sends these bytes repeatedly, until the client closes the connection.
        public static func endless(_ bytes: Data) -> Response { Response(.endless(bytes)) }

        /// Returns an answer that sends this text in UTF-8 repeatedly, until the client closes the connection.
        public static func endless(_ text: String) -> Response { endless(Data(text.utf8)) }

        /// Returns an answer that waits until the test opens the gate.
        public static func gate(_ gate: Gate) -> Response { Response(.wait(gate)) }

        /// An answer that stalls: the connection stays open until the client closes it, and received bytes are
        /// discarded.
        public static let stall = Response(.stall)

        /// An answer that closes the connection (FIN).
        public static let close = Response(.close)

        /// An answer that closes the sending side (FIN), and then discards received bytes until the client closes the
        /// connection.
        public static let finish = Response(.finish, .stall)

        /// An answer that resets the connection (RST).
        public static let reset = Response(.reset)

        /// Returns an answer in which a function uses the connection.
        static func played(_ play: @escaping @Sendable (inout Connection) -> Bool) -> Response {
            Response(.played(play))
        }

        /// Returns an answer that plays several answers in sequence.
        public static func sequence(_ answers: [Response]) -> Response { Response(joining: answers) }
    }

    /// A gate that holds an answer back until a test opens it.
    public final class Gate: Sendable {
        let latch: Latch

        /// Creates a closed gate.
        ///
        /// - Throws: `NetworkError` of kind `.connect` if no file descriptors are available.
        public init() throws(NetworkError) {
            latch = try Latch()
        }

        /// Opens the gate for all pending and later answers; further calls do nothing.
        public func open() {
            latch.open()
        }
    }
}

/// The reason phrases of the statuses that tests use most (RFC 9110, 15).
private let reasons = [
    100: "Continue", 103: "Early Hints", 200: "OK", 201: "Created", 204: "No Content", 206: "Partial Content",
    301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
    308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    413: "Content Too Large", 416: "Range Not Satisfiable", 422: "Unprocessable Content", 429: "Too Many Requests",
    500: "Internal Server Error", 503: "Service Unavailable",
]

extension LoopbackServer.Response.Step {
    /// Returns the bytes of a response to a request with this method.
    static func message(
        status: Int,
        fields: [(name: String, value: String)],
        body: Data,
        method: String?
    ) -> Data {
        let names = Set(fields.map { $0.name.lowercased() })
        let hasBody = status >= 200 && status != 204 && status != 304
        var lines = ["HTTP/1.1 \(status) \(reasons[status] ?? "Unnamed")"]
        lines += fields.map { "\($0.name): \($0.value)" }
        if hasBody && names.isDisjoint(with: ["content-length", "transfer-encoding"]) {
            lines.append("Content-Length: \(body.count)")
        }
        let head = Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        return hasBody && method != "HEAD" ? head + body : head
    }
}
