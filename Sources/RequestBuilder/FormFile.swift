public import BeagleNetHTTP

/// A file that a form sends, as a part of a multipart body.
public struct FormFile: Sendable, Hashable {
    /// Where the bytes are.
    public enum Content: Sendable, Hashable {
        /// In a regular file, read as it is sent and never held in memory.
        case path(String)
        /// In memory.
        case data(Data)
    }

    /// Where the bytes are.
    public var content: Content
    /// What the server is told that the file is called.
    public var filename: String
    /// The media type of the bytes.
    public var contentType: String

    /// The contents of a file. One that cannot be read is a build error, before anything is sent.
    ///
    /// - Parameters:
    ///   - path: the regular file to send.
    ///   - filename: what the server is told that it is called; the last component of `path` where nil.
    ///   - contentType: its media type, `application/octet-stream` by default.
    public init(path: String, filename: String? = nil, contentType: String = "application/octet-stream") {
        content = .path(path)
        self.filename = filename ?? path.split(separator: "/").last.map(String.init) ?? path
        self.contentType = contentType
    }

    /// Bytes in memory, sent as a file.
    ///
    /// - Parameters:
    ///   - data: the bytes.
    ///   - filename: what the server is told that the file is called.
    ///   - contentType: its media type, `application/octet-stream` by default.
    public init(_ data: Data, filename: String, contentType: String = "application/octet-stream") {
        content = .data(data)
        self.filename = filename
        self.contentType = contentType
    }
}
