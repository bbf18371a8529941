/// An answer as it was received.
public struct LoggedResponse: Sendable, Hashable {
    /// The status; 0 or less where an archive has none.
    public var status: Int
    /// The words behind it.
    public var statusText: String
    /// The protocol, as `HTTP/1.1` or `HTTP/2`; archives have other spellings, and may say nothing.
    public var httpVersion: String
    /// The header fields in the order in which they came.
    public var fields: [LoggedField]
    /// The body, decoded.
    public var body: LoggedBody
    /// Where a redirect led; empty where it is none.
    public var redirectURL: String
    /// Bytes of the head; -1 where nobody knows, as with HTTP/2.
    public var headBytes: Int64
    /// Bytes of the body as they came over the wire; -1 where nobody knows. Where secrets were taken out of it, what is
    /// left.
    public var bodyBytes: Int64
    /// The fields behind the body.
    public var trailers: [LoggedField]
    /// Answers that came before it, as 103.
    public var interim: [LoggedHead]

    /// Describes an answer.
    public init(
        status: Int,
        statusText: String = "",
        httpVersion: String = "",
        fields: [LoggedField] = [],
        body: LoggedBody = LoggedBody(),
        redirectURL: String = "",
        headBytes: Int64 = -1,
        bodyBytes: Int64 = -1,
        trailers: [LoggedField] = [],
        interim: [LoggedHead] = []
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

/// Status and fields of an answer that was not the last.
public struct LoggedHead: Sendable, Hashable {
    /// The status.
    public var status: Int
    /// The header fields.
    public var fields: [LoggedField]

    /// Describes a head.
    public init(status: Int, fields: [LoggedField] = []) {
        self.status = status
        self.fields = fields
    }
}
