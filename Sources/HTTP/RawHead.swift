import Synchronization

/// The head of a response as its bytes, of which fields are made when somebody first looks at them: most of what a
/// head costs is making strings that nobody reads.
package final class RawHead: Sendable {
    /// What its maker read in passing.
    package let status: HTTPResponse.Status
    /// The length of the encoded body, where the server said and it counts (RFC 9112, 6.3).
    package let contentLength: Int64?
    /// Whether the body has a `Content-Encoding`.
    package let isEncoded: Bool

    /// Checked lines, the status line first; empty where the head was made of fields.
    // Safe because the pointer is constant, its bytes were all written before `init`, whose caller gave them up, nobody writes
    // to them after, they are read in `withBlock` alone, which keeps the head alive meanwhile, and only `deinit`, which no
    // thread's look outlasts, frees them.
    nonisolated(unsafe) private let block: UnsafeBufferPointer<UInt8>
    private let typeInBlock: HeadScanner.ContentType
    private let made = AtomicLazyReference<Made>()

    private final class Made: Sendable {
        let head: HTTPResponse

        init(_ head: HTTPResponse) {
            self.head = head
        }
    }

    /// A head of fields that are there already.
    package init(_ head: HTTPResponse) {
        status = head.status
        let isTransferEncoded = head.headerFields.contains(.transferEncoding)
        contentLength = isTransferEncoded ? nil : head.headerFields[single: .contentLength].flatMap(Int64.init)
        isEncoded = head.headerFields.contains(.contentEncoding)
        block = UnsafeBufferPointer(start: nil, count: 0)
        typeInBlock = .often
        _ = made.storeIfNil(Made(head))
    }

    /// A head of these lines.
    ///
    /// - Throws: `NetworkError` where they are no head (RFC 9112, 4 and 5; RFC 9113, 8.3.2).
    package convenience init(parsing block: [UInt8]) throws(NetworkError) {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: block.count)
        _ = copy.initialize(fromContentsOf: block)
        try self.init(taking: UnsafeBufferPointer(copy))
    }

    /// A head of these lines, in memory that was allocated for them and is its own from now on, also where it throws.
    ///
    /// - Throws: as `init(parsing:)`.
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
        typeInBlock = scanned.contentType
        self.block = block
    }

    deinit {
        block.deallocate()
    }

    /// The fields of lines that stand behind a body (RFC 9110, 6.5).
    ///
    /// - Throws: `NetworkError` where a line is no field.
    package static func trailers(parsing block: [UInt8]) throws(NetworkError) -> HTTPFields {
        try HeadScanner.trailers(of: block)
    }

    /// What the head says of the body's type; mostly no fields have to be made for it.
    package var contentType: String? {
        switch typeInBlock {
        case .none: nil
        case .once(let line):
            withBlock { HeadScanner.value(ofLine: line, in: $0) } ?? head.headerFields[single: .contentType]
        case .often: head.headerFields[single: .contentType]
        }
    }

    /// Whether the body's type is this and no other word, as text in ASCII; mostly no text has to be made for it.
    package func hasContentType(_ type: StaticString) -> Bool {
        guard case .once(let line) = typeInBlock,
            let isSame = withBlock({ HeadScanner.hasValue(type, line, in: $0) })
        else { return contentType == type.description }
        return isSame
    }

    /// Gives the bytes of each `Set-Cookie` as they came: a field has spaces in the place of control characters.
    package func forEachSetCookie(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        if block.isEmpty {
            for field in head.headerFields where field.name == .setCookie { field.withUnsafeBytesOfValue(body) }
        } else {
            withBlock { HeadScanner.forEachValue(of: "set-cookie", in: $0, body) }
        }
    }

    /// Gives names and values in the order and spelling received, for which no fields are made.
    package func forEachField(_ body: (_ name: String, _ value: String) -> Void) {
        if let made = made.load() {
            for field in made.head.headerFields { body(field.name.rawName, field.value) }
        } else {
            withBlock { HeadScanner.forEachField(of: $0, body) }
        }
    }

    /// Status and fields, in the order and spelling received.
    package var head: HTTPResponse {
        if let made = made.load() { return made.head }
        let fields = withBlock { HeadScanner.fields(of: $0) }
        return made.storeIfNil(Made(HTTPResponse(status: status, headerFields: fields))).head
    }

    /// The block, which lives no longer than the head.
    private func withBlock<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        withExtendedLifetime(self) { body(block) }
    }
}
