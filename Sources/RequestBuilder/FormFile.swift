public import BeagleNetHTTP

/// A file of a form, sent as a part of a multipart body.
public struct FormFile: Sendable, Hashable {
    /// The source of the bytes.
    public enum Content: Sendable, Hashable {
        /// A regular file, which is read as it is sent and never held in memory.
        case path(String)
        /// Bytes in memory.
        case data(Data)
    }

    /// The source of the bytes.
    public var content: Content
    /// The filename that is sent to the server.
    public var filename: String
    /// The media type of the bytes.
    public var contentType: String

    /// Creates a form file from a file on disk; if it can't be read, the request fails before anything is sent.
    ///
    /// - Parameters:
    ///   - path: The regular file to send.
    ///   - filename: The filename to send to the server, or `nil` to use the last component of `path`.
    ///   - contentType: The media type, `application/octet-stream` by default.
    public init(path: String, filename: String? = nil, contentType: String = "application/octet-stream") {
        content = .path(path)
        self.filename = filename ?? path.split(separator: "/").last.map(String.init) ?? path
        self.contentType = contentType
    }

    /// Creates a form file from bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - filename: The filename to send to the server.
    ///   - contentType: The media type, `application/octet-stream` by default.
    public init(_ data: Data, filename: String, contentType: String = "application/octet-stream") {
        content = .data(data)
        self.filename = filename
        self.contentType = contentType
    }
}
