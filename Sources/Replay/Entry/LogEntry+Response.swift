extension LogEntry {
    /// A response as it was received.
    public struct Response: Sendable, Hashable {
        /// The status code; 0 or less if an archive has none.
        public var status: Int
        /// The reason phrase after the status code.
        public var statusText: String
        /// The protocol version, such as `HTTP/1.1` or `HTTP/2`.
        ///
        /// Archives may use other spellings, or leave it empty.
        public var httpVersion: String
        /// The header fields in the order in which they were received.
        public var fields: [Field]
        /// The body, decoded.
        public var body: Body
        /// The URL of a redirect; empty if the response isn't one.
        public var redirectURL: String
        /// The size of the head in bytes; -1 if unknown, as with HTTP/2.
        public var headBytes: Int64
        /// The size of the body on the wire, in bytes; -1 if unknown.
        ///
        /// If secrets were removed from the body, the remaining size.
        public var bodyBytes: Int64
        /// The trailer fields after the body.
        public var trailers: [Field]
        /// The interim responses before it, such as 103.
        public var interim: [Head]

        /// Creates a response.
        public init(
            status: Int,
            statusText: String = "",
            httpVersion: String = "",
            fields: [Field] = [],
            body: Body = Body(),
            redirectURL: String = "",
            headBytes: Int64 = -1,
            bodyBytes: Int64 = -1,
            trailers: [Field] = [],
            interim: [Head] = []
        ) {
            self.status = status
            self.statusText = statusText
            self.httpVersion = httpVersion
            self.fields = fields
            self.body = body
            self.redirectURL = redirectURL
            self.headBytes = headBytes
            self.bodyBytes = bodyBytes
            self.trailers = trailers
            self.interim = interim
        }
    }
}

extension LogEntry {
    /// The status and header fields of an interim response.
    public struct Head: Sendable, Hashable {
        /// The status code.
        public var status: Int
        /// The header fields.
        public var fields: [Field]

        /// Creates a head.
        public init(status: Int, fields: [Field] = []) {
            self.status = status
            self.fields = fields
        }
    }
}
