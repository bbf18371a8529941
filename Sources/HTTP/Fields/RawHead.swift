import Synchronization

/// The head of a response as bytes.
///
/// Its header fields are created on first access, because strings are most of the cost of a head and are rarely read.
package final class RawHead: Sendable {
    /// The age and the lifetime of a stored response.
    package struct Freshness: Sendable {
        /// The age in seconds (RFC 9111, 4.2.3).
        package let age: Double
        /// The freshness lifetime in seconds (RFC 9111, 4.2.1).
        package let lifetime: Double

        /// Creates the freshness of a stored response.
        package init(age: Double, lifetime: Double) {
            (self.age, self.lifetime) = (age, lifetime)
        }
    }

    /// The status, which is parsed when the head is created.
    package let status: HTTPResponse.Status
    /// The freshness of a stored response, whose age is its `Age` field; `nil` if the response isn't stored.
    package let freshness: Freshness?

    /// Validated lines, the status line first. Empty if the head was created from header fields.
    // Safe because the pointer is constant, and its bytes are written before `init`, whose caller gives them up, and
    // never after. They are read only in `withBlock`, which keeps the head alive, and freed only in `deinit`, when no
    // thread can still read them.
    nonisolated(unsafe) private let block: UnsafeBufferPointer<UInt8>
    private let source: Source
    private let parsedHead = AtomicLazyReference<ParsedHead>()

    private enum Source: Sendable {
        case lines(HeadScanner.Scanned)
        /// A head whose fields exist, except the `Age` of a stored response.
        case head(HTTPResponse)
    }

    private final class ParsedHead: Sendable {
        let head: HTTPResponse

        init(_ head: HTTPResponse) {
            self.head = head
        }
    }

    /// Creates a head from existing header fields.
    ///
    /// - Parameter freshness: The freshness of a stored response, whose `Age` field is created on first access.
    package init(_ head: HTTPResponse, _ freshness: Freshness? = nil) {
        status = head.status
        self.freshness = freshness
        block = UnsafeBufferPointer(start: nil, count: 0)
        source = .head(head)
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
        freshness = nil
        source = .lines(scanned)
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

    /// The length of the encoded body, if the server declared one and it applies (RFC 9112, 6.3).
    package var contentLength: Int64? {
        switch source {
        case .lines(let scanned): scanned.isTransferEncoded ? nil : scanned.contentLength
        case .head(let head):
            head.headerFields.contains(.transferEncoding)
                ? nil : head.headerFields[single: .contentLength].flatMap(Int64.init)
        }
    }

    /// Whether the body has a `Content-Encoding`.
    package var isEncoded: Bool {
        switch source {
        case .lines(let scanned): scanned.isEncoded
        case .head(let head): head.headerFields.contains(.contentEncoding)
        }
    }

    /// The value of `Content-Type`. Usually found without creating header fields.
    package var contentType: String? {
        switch source {
        case .head(let head): return head.headerFields[single: .contentType]
        case .lines(let scanned):
            switch scanned.contentType {
            case .none: return nil
            case .single(let line):
                return withBlock { HeadScanner.value(ofLine: line, in: $0) } ?? head.headerFields[single: .contentType]
            case .multiple: return head.headerFields[single: .contentType]
            }
        }
    }

    /// Returns whether `Content-Type` is exactly this ASCII text. Usually decided without creating a string.
    package func hasContentType(_ type: StaticString) -> Bool {
        guard case .lines(let scanned) = source, case .single(let line) = scanned.contentType,
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
        if block.isEmpty || parsedHead.load() != nil {
            for field in head.headerFields { body(field.name.rawName, field.value) }
        } else {
            withBlock { HeadScanner.forEachField(of: $0, body) }
        }
    }

    /// The status and header fields, in the order and spelling received.
    package var head: HTTPResponse {
        if case .head(let head) = source, freshness == nil { return head }
        if let parsedHead = parsedHead.load() { return parsedHead.head }
        return parsedHead.storeIfNil(ParsedHead(createdHead)).head
    }

    private var createdHead: HTTPResponse {
        switch source {
        case .lines: return HTTPResponse(status: status, headerFields: withBlock { HeadScanner.fields(of: $0) })
        case .head(var head):
            if let age = freshness?.age { head.headerFields[.age] = String(Int64(min(age, 2_147_483_648))) }
            return head
        }
    }

    /// Calls a closure with the bytes, which are valid as long as the head.
    private func withBlock<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        withExtendedLifetime(self) { body(block) }
    }
}
