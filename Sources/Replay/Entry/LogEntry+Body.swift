#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension LogEntry {
    /// The body of a logged message, decoded and without secrets.
    public struct Body: Sendable, Hashable {
        /// The location of a body's bytes.
        public enum Content: Sendable, Hashable {
            /// The bytes themselves.
            case data(Data)
            /// A file beside the entries, as a path relative to the recording's directory.
            case file(String)
            /// The fields of a form, without its bytes, as browsers archive them.
            case parameters([Parameter])
            /// No bytes, with the reason: `unredactable`, `too large`, `unknown`.
            case omitted(String)
        }

        /// The body's bytes, or their location.
        public var content: Content
        /// The value of `Content-Type`; empty if the field is missing.
        public var mediaType: String
        /// The size of the whole body in bytes, without removed secrets; -1 if unknown.
        ///
        /// It includes bytes that weren't stored.
        public var size: Int64
        /// Whether `content` is only the beginning of the body.
        ///
        /// For an omitted body: whether a body existed although its `size` is unknown.
        public var isTruncated: Bool
        /// The original encoding of the text that an archive's file stores as UTF-8; `nil` if the file has the original
        /// bytes.
        var fileCharset: Charset?

        /// Creates a body; an empty one by default.
        ///
        /// - Parameters:
        ///   - content: the bytes, or their location.
        ///   - mediaType: the value of `Content-Type`.
        ///   - size: the size of the whole body in bytes; if `nil`, the size of `content`, or -1.
        ///   - isTruncated: whether `content` is only the beginning of the body.
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
}

extension LogEntry.Body.Content {
    fileprivate var size: Int64 {
        if case .data(let data) = self { return Int64(data.count) }
        return -1
    }
}

extension LogEntry {
    /// A form field in an archive.
    public struct Parameter: Sendable, Hashable {
        /// The field's name.
        public var name: String
        /// The field's value; `nil` if it is a file that the archive doesn't contain.
        public var value: String?
        /// The name of the uploaded file.
        public var fileName: String?
        /// The file's media type.
        public var contentType: String?

        /// Creates a form field.
        public init(name: String, value: String? = nil, fileName: String? = nil, contentType: String? = nil) {
            self.name = name
            self.value = value
            self.fileName = fileName
            self.contentType = contentType
        }
    }
}
