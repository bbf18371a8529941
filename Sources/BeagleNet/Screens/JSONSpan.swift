/// The position of a text in a JSON document: the bytes of a string without its quotes, or of any other value.
struct JSONSpan: Sendable, Hashable {
    /// The bit of `limit` that is set if the text has escapes. Documents are smaller than 2 GiB.
    private static let escapeBit: UInt32 = 1 << 31

    private let first: UInt32
    private let limit: UInt32

    /// The span of a value that the document doesn't have.
    static let none = JSONSpan(0, 0)

    @inline(__always)
    init(_ start: Int, _ end: Int, hasEscapes: Bool = false) {
        first = UInt32(truncatingIfNeeded: start)
        limit = UInt32(truncatingIfNeeded: end) | (hasEscapes ? Self.escapeBit : 0)
    }

    @inline(__always) var start: Int { Int(first) }
    @inline(__always) var end: Int { Int(limit & ~Self.escapeBit) }
    @inline(__always) var count: Int { end - start }
    @inline(__always) var hasEscapes: Bool { limit & Self.escapeBit != 0 }
    /// Whether the document has the value. No value begins at its first byte, except for the outermost.
    var isPresent: Bool { limit != 0 }

    /// Returns the bytes as they are written.
    func written(in bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[start..<end])
    }
}
