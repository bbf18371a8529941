/// A parser for a block of header lines.
///
/// It can validate the block in one pass without creating header fields, and create the fields later.
enum HeadScanner {
    struct Scanned: Sendable {
        fileprivate(set) var status: HTTPResponse.Status
        fileprivate(set) var contentLength: Int64?
        fileprivate(set) var isEncoded = false
        fileprivate(set) var isTransferEncoded = false
        fileprivate(set) var contentType = ContentType.none
    }

    /// The `Content-Type` fields of a head.
    enum ContentType: Sendable {
        case none
        /// There is one field, in this range of the block.
        case single(Range<Int>)
        case multiple
    }

    static func scan(_ block: UnsafeBufferPointer<UInt8>) throws(NetworkError) -> Scanned {
        guard block.firstOffset(of: 0) == nil else { throw .head("the response head contains NUL") }
        var lines = LineReader(rest: block)
        guard let statusLine = lines.next(), let status = status(of: statusLine) else {
            throw .head("the status line is malformed")
        }
        var scanned = Scanned(status: status)
        // Read once, because each access to a static property checks whether it is initialized.
        let tokens = tokens
        while let line = lines.next(), !line.isEmpty { try scan(line, of: block, tokens, &scanned) }
        return scanned
    }

    static func fields(of block: UnsafeBufferPointer<UInt8>) -> HTTPFields {
        var lines = LineReader(rest: block)
        _ = lines.next()
        var fields = HTTPFields()
        fields.reserveCapacity(16)
        while let line = lines.next(), !line.isEmpty {
            if let field = field(of: line) { fields.append(field) }
        }
        return fields
    }

    /// Calls a closure with the same names and values as `fields(of:)` returns.
    static func forEachField(
        of block: UnsafeBufferPointer<UInt8>,
        _ body: (_ name: String, _ value: String) -> Void
    ) {
        var lines = LineReader(rest: block)
        _ = lines.next()
        while let line = lines.next(), !line.isEmpty {
            guard let (name, value) = parts(of: line) else { continue }
            body(name.rawName, value.text ?? HTTPField(name: name, value: value).value)
        }
    }

    /// Calls a closure with the raw bytes of each value of a field. The name must be in lower case.
    static func forEachValue(
        of name: StaticString,
        in block: UnsafeBufferPointer<UInt8>,
        _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        var lines = LineReader(rest: block)
        _ = lines.next()
        while let line = lines.next(), !line.isEmpty {
            guard let colon = line.firstOffset(of: .colon), Bytes(rebasing: line[..<colon]).isSpelled(name) else {
                continue
            }
            body(line.value(after: colon))
        }
    }

    /// Returns the value of a field line, or `nil` if the line alone doesn't determine it.
    static func value(ofLine line: Range<Int>, in block: UnsafeBufferPointer<UInt8>) -> String? {
        let line = Bytes(rebasing: block[line])
        guard let colon = line.firstOffset(of: .colon) else { return nil }
        let value = line.value(after: colon)
        return value.mayBeList ? nil : value.text
    }

    /// Returns whether the value of a field line is this text, or `nil` if the line alone doesn't determine it.
    static func hasValue(_ text: StaticString, _ line: Range<Int>, in block: UnsafeBufferPointer<UInt8>) -> Bool? {
        let line = Bytes(rebasing: block[line])
        guard let colon = line.firstOffset(of: .colon) else { return nil }
        let value = line.value(after: colon)
        let isSame = value.count == text.utf8CodeUnitCount && value.begins(with: text)
        return isSame || value.isText && !value.mayBeList ? isSame : nil
    }

    /// Parses the trailer fields that follow a body.
    static func trailers(of block: [UInt8]) throws(NetworkError) -> HTTPFields {
        try block.withUnsafeBufferPointer { (block) throws(NetworkError) in
            guard block.firstOffset(of: 0) == nil else { throw .head("a trailer of the response contains NUL") }
            var lines = LineReader(rest: block)
            var fields = HTTPFields()
            let tokens = tokens
            while let line = lines.next() {
                if line.isEmpty { continue }
                guard colon(of: line, tokens) != nil, let field = field(of: line) else {
                    throw .head("a trailer field of the response is malformed")
                }
                fields.append(field)
            }
            return fields
        }
    }

    /// Returns the index of the colon that ends the name of a field, or `nil` if the field is malformed.
    private static func colon(of line: Bytes, _ tokens: [Bool]) -> Int? {
        guard let colon = line.firstOffset(of: .colon), colon > 0, line[..<colon].allSatisfy({ tokens[Int($0)] })
        else { return nil }
        return colon
    }

    private static func scan(
        _ line: Bytes,
        of block: Bytes,
        _ tokens: [Bool],
        _ scanned: inout Scanned
    ) throws(NetworkError) {
        guard let colon = colon(of: line, tokens) else {
            throw .head("a header field of the response is malformed")
        }
        let name = Bytes(rebasing: line[..<colon])
        if name.isSpelled("content-length") {
            try note(length: line.value(after: colon), &scanned)
        } else if name.isSpelled("content-type") {
            scanned.contentType =
                if case .none = scanned.contentType { .single(block.range(of: line)) } else { .multiple }
        } else if name.isSpelled("content-encoding") {
            scanned.isEncoded = true
        } else if name.isSpelled("transfer-encoding") {
            scanned.isTransferEncoded = true
        }
    }

    /// Stores the value of `Content-Length`.
    ///
    /// A length that isn't a number, is too large or contradicts another one could make the client misjudge where the
    /// message ends (RFC 9112, 6.3). libcurl would then read until the connection closes.
    private static func note(length text: Bytes, _ scanned: inout Scanned) throws(NetworkError) {
        var length: Int64 = 0
        for digit in text {
            let (tens, isTooLong) = length.multipliedReportingOverflow(by: 10)
            let (sum, isTooLarge) = tens.addingReportingOverflow(Int64(digit) - 0x30)
            guard (0x30...0x39).contains(digit), !isTooLong, !isTooLarge else { throw .invalidContentLength }
            length = sum
        }
        guard !text.isEmpty else { throw .invalidContentLength }
        guard scanned.contentLength == nil || scanned.contentLength == length else {
            throw .head("the response has two different Content-Length fields")
        }
        scanned.contentLength = length
    }

    private static func status(of line: Bytes) -> HTTPResponse.Status? {
        guard line.begins(with: "HTTP/"), let space = line.firstOffset(of: .space) else { return nil }
        let rest = line[(space + 1)...]
        guard rest.count >= 3 else { return nil }
        var code = 0
        for digit in rest.prefix(3) {
            guard (0x30...0x39).contains(digit) else { return nil }
            code = code * 10 + Int(digit - 0x30)
        }
        guard code >= 100, rest.count == 3 || rest[rest.startIndex + 3] == .space else { return nil }
        let reason = rest.dropFirst(3).drop { $0 == .space }
        // A fast path for the most common status line, without creating and validating a string.
        if code == 200, reason.count == 2, Bytes(rebasing: reason).begins(with: "OK") { return .ok }
        return .init(code: code, reasonPhrase: reason.isEmpty ? "" : String(decoding: reason, as: UTF8.self))
    }

    private static func field(of line: Bytes) -> HTTPField? {
        guard let (name, value) = parts(of: line) else { return nil }
        // A fast path for plain ASCII, the common case.
        if let text = value.text { return HTTPField(name: name, value: text) }
        return HTTPField(name: name, value: value)
    }

    /// Splits a line into name and value. Returns `nil` if there is no colon or no valid name before it.
    private static func parts(of line: Bytes) -> (name: HTTPField.Name, value: Bytes)? {
        guard let colon = line.firstOffset(of: .colon), let name = FieldNames.name(Bytes(rebasing: line[..<colon]))
        else { return nil }
        return (name, line.value(after: colon))
    }

    /// A table of the bytes that are allowed in a field name (RFC 9110, 5.6.2).
    private static let tokens: [Bool] = (0...255).map { byte in
        switch UInt8(byte) {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(UInt8(byte))
        }
    }
}

private typealias Bytes = UnsafeBufferPointer<UInt8>

/// A reader that returns the lines of a block without their line ends.
private struct LineReader {
    var rest: Bytes

    mutating func next() -> Bytes? {
        guard let end = rest.firstOffset(of: .lineFeed) else { return nil }
        let line = rest[..<end]
        rest = Bytes(rebasing: rest[(end + 1)...])
        return Bytes(rebasing: line.last == .carriageReturn ? line.dropLast() : line)
    }
}

extension UInt8 {
    fileprivate static let lineFeed: UInt8 = 0x0A
    fileprivate static let carriageReturn: UInt8 = 0x0D
    fileprivate static let space: UInt8 = 0x20
    fileprivate static let tab: UInt8 = 0x09
    fileprivate static let colon: UInt8 = 0x3A
}

extension Bytes {
    /// Returns the value of a field: the bytes after the colon, without surrounding white space.
    fileprivate func value(after colon: Int) -> Self {
        var value = self[(colon + 1)...]
        while let first = value.first, first == .space || first == .tab { value = value.dropFirst() }
        while let last = value.last, last == .space || last == .tab { value = value.dropLast() }
        return Self(rebasing: value)
    }

    /// The bytes as the text of a field value, or `nil` if only `HTTPField` can convert them.
    fileprivate var text: String? { isText ? String(decoding: self, as: UTF8.self) : nil }

    /// Whether `HTTPField` would leave the bytes unchanged.
    ///
    /// It replaces control characters, and preserves bytes that aren't text.
    fileprivate var isText: Bool { allSatisfy { (0x20..<0x7F).contains($0) || $0 == .tab } }

    /// Whether the bytes could be several values that were joined.
    fileprivate var mayBeList: Bool { firstOffset(of: UInt8(ascii: ",")) != nil }

    /// Returns the range of a part of this buffer.
    fileprivate func range(of part: Self) -> Range<Int> {
        guard let baseAddress, let start = part.baseAddress else { return 0..<0 }
        return start - baseAddress..<start - baseAddress + part.count
    }

    /// Returns whether the bytes begin with a text.
    fileprivate func begins(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where self[index] != text.utf8Start[index] { return false }
        return true
    }

    /// Returns whether the bytes spell a name, ignoring case. The name must be in lower case.
    fileprivate func isSpelled(_ name: StaticString) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        for index in 0..<count where self[index] | 0x20 != name.utf8Start[index] { return false }
        return true
    }
}

extension NetworkError {
    fileprivate static var invalidContentLength: NetworkError {
        .head("the response's Content-Length is not a valid length")
    }

    fileprivate static func head(_ message: String) -> NetworkError {
        NetworkError(.protocol, during: .firstByte, message)
    }
}
