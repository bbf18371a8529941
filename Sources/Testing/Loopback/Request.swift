public import BeagleNetHTTP

extension LoopbackServer {
    /// A request as received.
    public struct Request: Sendable {
        /// The number of its connection, from 1.
        public var connection: Int
        /// The method: the first word of the request line.
        public var method: String
        /// The target: the second word of the request line, which is a path with its query, `*`, or any other text.
        public var target: String
        /// The version: the third word of the request line, such as `HTTP/1.1`.
        public var version: String
        /// The header lines in the order and spelling received.
        public var fields: [(name: String, value: String)]
        /// The body without its chunk framing.
        public var body: Data
        /// All bytes of the request, including the head and framing.
        public var raw: Data

        /// The value of the first field with this name, ignoring case.
        public subscript(name: String) -> String? { values(of: name).first }

        /// Returns the values of all fields with this name, ignoring case.
        public func values(of name: String) -> [String] {
            fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }
    }
}

extension LoopbackServer.Request {
    /// Parses a head that ends with an empty line; a line without a colon becomes a field with an empty name.
    init(connection: Int, head: [UInt8]) {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        self.connection = connection
        method = words.first ?? ""
        target = words.count > 1 ? words[1] : ""
        version = words.count > 2 ? words[2] : ""
        fields = lines.dropFirst().map { line in
            guard let colon = line.firstIndex(of: ":") else { return ("", String(line)) }
            return (String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
        body = Data()
        raw = Data(head)
    }

    /// Whether the client wants the connection to be closed after the response (RFC 9112, 9.6).
    var isLast: Bool {
        let options = values(of: "Connection").flatMap { $0.lowercased().split { $0 == "," || $0 == " " } }
        return options.contains("close") || (version == "HTTP/1.0" && !options.contains("keep-alive"))
    }

    var isChunked: Bool { self["Transfer-Encoding"]?.lowercased() == "chunked" }
}
