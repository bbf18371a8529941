public import BeagleNetHTTP

extension LoopbackServer {
    /// What a request is answered with: one step, or a sequence of them. The connection is kept open for the next
    /// request unless a step ends it, or the client asked for its end with `Connection: close`.
    public struct Answer: Sendable {
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
            /// Whatever a function does with the connection, which ends where it gives false.
            case played(@Sendable (inout Connection) -> Bool)
        }

        let steps: [Step]

        private init(_ steps: Step...) {
            self.steps = steps
        }

        private init(joining answers: [Answer]) {
            steps = answers.flatMap(\.steps)
        }

        /// A correct response. `Content-Length` is added unless the fields frame the body themselves; a HEAD request,
        /// 1xx, 204 and 304 get no body.
        public static func response(
            _ status: Int,
            _ fields: KeyValuePairs<String, String> = [:],
            _ body: Data
        ) -> Answer {
            Answer(.response(status: status, fields: fields.map { (name: $0.key, value: $0.value) }, body: body))
        }

        /// A correct response whose body is this text in UTF-8.
        public static func response(
            _ status: Int,
            _ fields: KeyValuePairs<String, String> = [:],
            _ body: String = ""
        ) -> Answer {
            response(status, fields, Data(body.utf8))
        }

        /// These bytes and nothing else: whole responses, halves of them, or nonsense.
        public static func raw(_ bytes: Data) -> Answer { Answer(.bytes(bytes)) }

        /// This text in UTF-8 and nothing else.
        public static func raw(_ text: String) -> Answer { raw(Data(text.utf8)) }

        /// A 200 whose body goes out in these chunks (RFC 9112, 7.1).
        public static func chunked(_ chunks: [Data], _ fields: KeyValuePairs<String, String> = [:]) -> Answer {
            let lines = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
            var bytes = Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(lines)\r\n".utf8)
            for chunk in chunks where !chunk.isEmpty {
                bytes += Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8)
            }
            return raw(bytes + Data("0\r\n\r\n".utf8))
        }

        /// These bytes one at a time, with a pause after each.
        public static func dribble(_ bytes: Data, every pause: Duration) -> Answer {
            Answer(.dribble(bytes, every: pause))
        }

        /// These bytes again and again, until the client has had enough.
        public static func endless(_ bytes: Data) -> Answer { Answer(.endless(bytes)) }

        /// This text in UTF-8 again and again, until the client has had enough.
        public static func endless(_ text: String) -> Answer { endless(Data(text.utf8)) }

        /// Nothing, until the test opens the gate.
        public static func gate(_ gate: Gate) -> Answer { Answer(.wait(gate)) }

        /// Nothing more, while the connection stays open until the client closes it. What it sends is dropped.
        public static let stall = Answer(.stall)

        /// The end of the connection (FIN).
        public static let close = Answer(.close)

        /// The end of the sending side only (FIN); what the client sends is dropped until it closes, too.
        public static let finish = Answer(.finish, .stall)

        /// The abrupt end of the connection (RST).
        public static let reset = Answer(.reset)

        /// What a function does with the connection.
        static func played(_ play: @escaping @Sendable (inout Connection) -> Bool) -> Answer { Answer(.played(play)) }

        /// These answers one after another.
        public static func sequence(_ answers: [Answer]) -> Answer { Answer(joining: answers) }
    }

    /// Holds an answer back until a test opens it.
    public final class Gate: Sendable {
        let latch: Latch

        /// A closed gate.
        ///
        /// - Throws: `NetworkError` of kind `.connect` when the system has no descriptors left.
        public init() throws(NetworkError) {
            latch = try Latch()
        }

        /// Lets every answer pass that waits or will wait here. A second call does nothing.
        public func open() {
            latch.open()
        }
    }
}

/// The reason phrases of the statuses that tests speak of most (RFC 9110, 15).
private let reasons = [
    100: "Continue", 103: "Early Hints", 200: "OK", 201: "Created", 204: "No Content", 206: "Partial Content",
    301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
    308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    413: "Content Too Large", 416: "Range Not Satisfiable", 422: "Unprocessable Content", 429: "Too Many Requests",
    500: "Internal Server Error", 503: "Service Unavailable",
]

extension LoopbackServer.Answer.Step {
    /// A response's bytes, as the answer to a request of this method.
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
