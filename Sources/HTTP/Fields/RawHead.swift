import Synchronization

/// The head of a response as bytes.
///
/// Its header fields are created on first access, because strings are most of the cost of a head and are rarely read.
package final class RawHead: Sendable {
    /// The status, which is parsed when the head is created.
    package let status: HTTPResponse.Status
    /// The length of the encoded body, if the server declared one and it applies (RFC 9112, 6.3).
    package let contentLength: Int64?
    /// Whether the body has a `Content-Encoding`.
    package let isEncoded: Bool

    /// Validated lines, the status line first. Empty if the head was created from header fields.
    // Safe because the pointer is constant, and its bytes are written before `init`, whose caller gives them up, and
    // never after. They are read only in `withBlock`, which keeps the head alive, and freed only in `deinit`, when no
    // thread can still read them.
    nonisolated(unsafe) private let block: UnsafeBufferPointer<UInt8>
    private let scannedContentType: HeadScanner.ContentType
    private let parsedHead = AtomicLazyReference<ParsedHead>()

    private final class ParsedHead: Sendable {
        let head: HTTPResponse

        init(_ head: HTTPResponse) {
            self.head = head
        }
    }

    /// Creates a head from existing header fields.
    package init(_ head: HTTPResponse) {
        status = head.status
        let isTransferEncoded = head.headerFields.contains(.transferEncoding)
        contentLength = isTransferEncoded ? nil : head.headerFields[single: .contentLength].flatMap(Int64.init)
        isEncoded = head.headerFields.contains(.contentEncoding)
        block = UnsafeBufferPointer(start: nil, count: 0)
        scannedContentType = .multiple
        _ = parsedHead.storeIfNil(ParsedHead(head))
    }

    /// Parses a head.
    ///
    /// - Throws: `NetworkError` if the lines aren't a valid head (RFC 9112, 4 and 5; RFC 9113, 8.3.2).
    package convenience init(parsing block: [UInt8]) throws(NetworkError) {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: block.count)
        _ = copy.initialize(fromContentsOf: block)
        try self.init(taking: UnsafeBufferPointer(copy))
    }

    /// Parses a head and takes ownership of its memory, even if it throws. The memory must have been allocated for it.
    ///
    /// - Throws: The same errors as `init(parsing:)`.
    package init(taking block: UnsafeBufferPointer<UInt8>) throws(NetworkError) {
        let scanned: HeadScanner.Scanned
        do throws(NetworkError) {
            scanned = try HeadScanner.scan(block)
        } catch {
            block.deallocate()
            throw error
        }
        status = scanned.status
        contentLength = scanned.isTransferEncoded ? nil : scanned.contentLength
        isEncoded = scanned.isEncoded
        scannedContentType = scanned.contentType
        self.block = block
    }

    deinit {
        block.deallocate()
    }

    /// Parses the trailer fields that follow a body (RFC 9110, 6.5).
    ///
    /// - Throws: `NetworkError` if a line isn't a valid field.
    package static func trailers(parsing block: [UInt8]) throws(NetworkError) -> HTTPFields {
        try HeadScanner.trailers(of: block)
    }

    /// The value of `Content-Type`. Usually found without creating header fields.
    package var contentType: String? {
        switch scannedContentType {
        case .none: nil
        case .single(let line):
            withBlock { HeadScanner.value(ofLine: line, in: $0) } ?? head.headerFields[single: .contentType]
        case .multiple: head.headerFields[single: .contentType]
        }
    }

    /// Returns whether `Content-Type` is exactly this ASCII text. Usually decided without creating a string.
    package func hasContentType(_ type: StaticString) -> Bool {
        guard case .single(let line) = scannedContentType,
            let isSame = withBlock({ HeadScanner.hasValue(type, line, in: $0) })
        else { return contentType == type.description }
        return isSame
    }

    /// Calls a closure with the raw bytes of each `Set-Cookie` field.
    ///
    /// A header field would have spaces in place of control characters.
    package func forEachSetCookie(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        if block.isEmpty {
            for field in head.headerFields where field.name == .setCookie { field.withUnsafeBytesOfValue(body) }
        } else {
            withBlock { HeadScanner.forEachValue(of: "set-cookie", in: $0, body) }
        }
    }

    /// Calls a closure with names and values in the order and spelling received, without creating header fields.
    package func forEachField(_ body: (_ name: String, _ value: String) -> Void) {
        if let parsedHead = parsedHead.load() {
            for field in parsedHead.head.headerFields { body(field.name.rawName, field.value) }
        } else {
            withBlock { HeadScanner.forEachField(of: $0, body) }
        }
    }

    /// The status and header fields, in the order and spelling received.
    package var head: HTTPResponse {
        if let parsedHead = parsedHead.load() { return parsedHead.head }
        let fields = withBlock { HeadScanner.fields(of: $0) }
        return parsedHead.storeIfNil(ParsedHead(HTTPResponse(status: status, headerFields: fields))).head
    }

    /// Calls a closure with the bytes, which are valid as long as the head.
    private func withBlock<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        withExtendedLifetime(self) { body(block) }
    }
}
