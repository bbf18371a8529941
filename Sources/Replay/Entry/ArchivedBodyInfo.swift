import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The facts about a body that an archive states in addition to its text: whether there was one, and its size in bytes.
struct ArchivedBodyInfo {
    private let isRequest: Bool
    /// Whether the message can have a body (RFC 9110, 6.4.1).
    private var canHaveBody = true
    /// Whether the message is a redirect. Most recorders don't read the body of a redirect.
    private var isRedirect = false
    /// Whether the method and fields suggest a body. A request with a media type but no body would have sent
    /// `Content-Length: 0`.
    private var expectsBody = false
    /// Whether the body was sent in a content coding.
    private let isCoded: Bool
    /// The value of `Content-Length`.
    private let contentLength: Int64?
    /// The number of bytes that the archive states; 0 or less if unknown.
    private let size: Int64
    /// The number of bytes received over the wire, as the archive states it; -1 if unknown.
    private var received: Int64 = -1

    init(ofRequest method: String, _ fields: [LogEntry.Field], bodySize: Int64) {
        self.init(fields, isRequest: true, size: bodySize)
        expectsBody =
            ["POST", "PUT", "PATCH"].contains(method.uppercased())
            && (fields["Content-Type"] != nil || fields["Transfer-Encoding"] != nil)
    }

    init(ofResponse status: Int, to method: String, _ fields: [LogEntry.Field], size: Int64, received: Int64) {
        self.init(fields, isRequest: false, size: size)
        self.received = received
        let isAnswered = !["HEAD", "CONNECT"].contains(method.uppercased())
        canHaveBody = isAnswered && status >= 200 && status != 204 && status != 304
        isRedirect = (300..<400).contains(status)
    }

    private init(_ fields: [LogEntry.Field], isRequest: Bool, size: Int64) {
        self.isRequest = isRequest
        self.size = size
        isCoded = BodyCoding(fields["Content-Encoding"]) != nil
        contentLength = fields["Content-Length"].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The announced size of the body, in bytes; `nil` if it is missing, or if it counts content-coded bytes.
    private var announcedLength: Int64? { isCoded || !canHaveBody ? nil : contentLength }

    /// Whether the recorder counted as many bytes as were announced.
    private var isComplete: Bool { announcedLength.map { $0 == size || $0 == received } ?? false }

    /// Whether there was a body, even though the archive doesn't hold its text.
    private var hasBody: Bool {
        guard canHaveBody else { return false }
        if let contentLength { return contentLength > 0 }
        return isRequest && (size > 0 || expectsBody)
    }

    /// Returns a placeholder for a request body that another tool's archive lacks; `nil` if there was no body.
    func missing(_ mediaType: String?) -> LogEntry.Body? {
        guard hasBody else { return nil }
        var body = LogEntry.Body(mediaType: mediaType ?? "")
        omit(&body, nil)
        return body
    }

    /// Returns the text of the body, from which its bytes are reconstructed.
    func text(_ text: String, _ charset: Charset?, _ mediaType: String) -> ArchivedText {
        // For a coded body, some recorders state the decoded size, others the coded size.
        let isSizeKnown = isRequest || !isCoded || contentLength.map { $0 != size } ?? false
        var statedSizes = isSizeKnown && size > 0 ? [size] : []
        if isRequest, isCoded, let contentLength { statedSizes.append(contentLength) }
        return ArchivedText(
            text: text,
            charset: charset,
            mediaType: mediaType,
            announcedLength: announcedLength,
            statedSizes: statedSizes,
            isComplete: isComplete,
            isRequest: isRequest
        )
    }

    /// Completes a body from another tool's archive: whether it is whole, and whether it is present at all.
    ///
    /// - Parameters:
    ///   - comment: the recorder's comment about the body. Firefox writes one if it didn't store the body.
    ///   - fields: the header fields of the message.
    func complete(_ body: inout LogEntry.Body, comment: String?, _ fields: [LogEntry.Field]) {
        let comment = comment.flatMap { $0.isEmpty ? nil : $0 }
        switch body.content {
        case .parameters: break
        case .file:
            // A recorder stores a text file in UTF-8, unless its size is the announced one.
            guard !isRequest, size < 0 || announcedLength != size else { break }
            body.fileCharset = Charset(fields, mediaType: body.mediaType)
            if body.fileCharset != nil { body.size = -1 }
        case .data(let data) where data.isEmpty && isRequest:
            if hasBody || comment != nil { omit(&body, comment) }
        case .data(let data) where data.isEmpty && hasBody && (isRedirect || size == contentLength):
            omit(&body, comment)
        case .data(let data):
            body.size = Int64(data.count)
            // A recorder that counted all bytes has seen the whole body, even if the text is damaged.
            guard let announcedLength, announcedLength > data.count, isRequest || !isComplete else { break }
            (body.isTruncated, body.size) = (true, announcedLength)
        case .omitted("unknown"):
            if canHaveBody, size <= 0, hasBody || comment != nil { omit(&body, comment) }
        case .omitted: (body.isTruncated, body.size) = (true, announcedLength ?? body.size)
        }
    }

    private func omit(_ body: inout LogEntry.Body, _ comment: String?) {
        let words = comment.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
        body.content = .omitted(words ?? "the recorder left it out")
        (body.size, body.isTruncated) = isRedirect ? (-1, false) : (announcedLength ?? -1, true)
    }
}
