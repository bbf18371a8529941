public import BeagleNet

extension LogEntry {
    /// A request as it was sent.
    public struct Request: Sendable, Hashable {
        /// The method.
        public var method: String
        /// The whole URL, without a fragment.
        public var url: String
        /// The protocol version, such as `HTTP/1.1` or `HTTP/2`.
        ///
        /// Archives may use other spellings, or leave it empty.
        public var httpVersion: String
        /// The header fields in the order in which they were sent.
        public var fields: [Field]
        /// The body; `nil` if the request has no body.
        public var body: Body?
        /// The size of the head in bytes; -1 if unknown, as with HTTP/2.
        public var headBytes: Int64
        /// The size of the body on the wire, in bytes; -1 if unknown.
        ///
        /// If secrets were removed from the body, the remaining size.
        public var bodyBytes: Int64

        /// Creates a request.
        public init(
            method: String,
            url: String,
            httpVersion: String = "",
            fields: [Field] = [],
            body: Body? = nil,
            headBytes: Int64 = -1,
            bodyBytes: Int64 = -1
        ) {
            self.method = method
            self.url = url
            self.httpVersion = httpVersion
            self.fields = fields
            self.body = body
            self.headBytes = headBytes
            self.bodyBytes = bodyBytes
        }
    }
}

extension LogEntry {
    /// A header field as it was written, which may be invalid in an archive.
    public struct Field: Sendable, Hashable {
        /// The name in its original spelling.
        public var name: String
        /// The value.
        public var value: String

        /// Creates a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        /// Returns whether the field has this name, in any case.
        ///
        /// - Parameter name: the name in lower case.
        func isCalled(_ name: String) -> Bool {
            self.name.utf8.count == name.utf8.count && self.name.lowercased() == name
        }
    }
}

extension [LogEntry.Field] {
    /// The value of the first field with this name, ignoring case.
    public subscript(name: String) -> String? {
        first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Creates a list from the fields of a message.
    public init(_ fields: HTTPFields) {
        self = fields.map { LogEntry.Field($0.name.rawName, $0.value) }
    }
}
