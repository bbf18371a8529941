#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The body of a logged message: decoded, and without secrets.
public struct LoggedBody: Sendable, Hashable {
    /// Where its bytes are.
    public enum Content: Sendable, Hashable {
        /// Here.
        case data(Data)
        /// In a file beside the entries: a path relative to the recording's directory.
        case file(String)
        /// The fields of a form whose bytes nobody kept, as archives of browsers have them.
        case parameters([LoggedParameter])
        /// Nowhere; the words say why: `unredactable`, `too large`, `unknown`.
        case omitted(String)
    }

    /// Where its bytes are.
    public var content: Content
    /// What `Content-Type` says; empty where it said nothing.
    public var mediaType: String
    /// Bytes of the whole body, also of those that were not kept, but for secrets that were taken out of it; -1 where nobody
    /// knows.
    public var size: Int64
    /// Whether `content` is only the beginning; of a body that was omitted, whether there was one although `size` is unknown.
    public var isTruncated: Bool
    /// The encoding of the text that an archive's file has in UTF-8; `nil` if the file has the bytes as they were sent.
    var fileCharset: Charset?

    /// Describes a body; by default one of no bytes.
    ///
    /// - Parameters:
    ///   - content: where its bytes are.
    ///   - mediaType: what `Content-Type` says.
    ///   - size: bytes of the whole body; where nil, those of `content`, or -1.
    ///   - isTruncated: whether `content` is only the beginning.
    public init(
        _ content: Content = .data(Data()),
        mediaType: String = "",
        size: Int64? = nil,
        isTruncated: Bool = false
    ) {
        self.content = content
        self.mediaType = mediaType
        self.isTruncated = isTruncated
        self.size = size ?? content.size
    }
}

extension LoggedBody.Content {
    fileprivate var size: Int64 {
        if case .data(let data) = self { return Int64(data.count) }
        return -1
    }
}

/// A field of a form in an archive.
public struct LoggedParameter: Sendable, Hashable {
    /// The field's name.
    public var name: String
    /// Its value; nil where it is a file that the archive has not.
    public var value: String?
    /// The name of the file that it was.
    public var fileName: String?
    /// The file's media type.
    public var contentType: String?

    /// A field.
    public init(name: String, value: String? = nil, fileName: String? = nil, contentType: String? = nil) {
        self.name = name
        self.value = value
        self.fileName = fileName
        self.contentType = contentType
    }
}
