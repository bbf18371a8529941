#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A hash for tables that compare the keys they find.
///
/// It multiplies words into one another, at a fraction of the cost of `Hasher`.
///
/// A random seed of the process changes it on every launch, so that colliding texts can't be predicted.
struct TableHash {
    private static let seed = UInt64.random(in: .min ... .max)

    private(set) var bits = TableHash.seed

    mutating func combine(_ word: UInt64) {
        // An odd number whose bits have no pattern.
        let product = (bits ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        bits = product.high ^ product.low &+ bits
    }

    mutating func combine(_ text: String) {
        var text = text
        text.withUTF8 { combine(UnsafeRawBufferPointer($0)) }
    }

    mutating func combine(_ data: Data) {
        data.withUnsafeBytes { combine($0) }
    }

    private mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        combine(UInt64(bytes.count))
        var index = 0
        while index + 8 <= bytes.count {
            combine(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        var rest: UInt64 = 0
        while index < bytes.count {
            rest = rest << 8 | UInt64(bytes[index])
            index += 1
        }
        combine(rest)
    }
}
