public import BeagleNet

/// A message as it was sent.
public struct LoggedRequest: Sendable, Hashable {
    /// The method.
    public var method: String
    /// The whole URL, without a fragment.
    public var url: String
    /// The protocol, as `HTTP/1.1` or `HTTP/2`; archives have other spellings, and may say nothing.
    public var httpVersion: String
    /// The header fields in the order in which they were sent.
    public var fields: [LoggedField]
    /// The body; nil where there was none.
    public var body: LoggedBody?
    /// Bytes of the head; -1 where nobody knows, as with HTTP/2.
    public var headBytes: Int64
    /// Bytes of the body as they went over the wire; -1 where nobody knows. Where secrets were taken out of it, what is
    /// left.
    public var bodyBytes: Int64

    /// Describes a message.
    public init(
        method: String,
        url: String,
        httpVersion: String = "",
        fields: [LoggedField] = [],
        body: LoggedBody? = nil,
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

/// A header field as it was written. It need not be a valid one: archives hold others.
public struct LoggedField: Sendable, Hashable {
    /// The name as it was spelled.
    public var name: String
    /// The value.
    public var value: String

    /// A field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// - Parameter name: in lower case.
    func isCalled(_ name: String) -> Bool {
        self.name.utf8.count == name.utf8.count && self.name.lowercased() == name
    }
}

extension [LoggedField] {
    /// The value of the first field of this name, whatever its case.
    public subscript(name: String) -> String? {
        first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The fields of a message.
    public init(_ fields: HTTPFields) {
        self = fields.map { LoggedField($0.name.rawName, $0.value) }
    }
}
