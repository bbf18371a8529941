import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A keyed 128-bit hash of a list of parts.
///
/// Each text or data part is preceded by its length, so that different lists don't give the same bytes. The algorithm
/// is SipHash-1-3 with the 128-bit output (https://github.com/veorq/SipHash). Swift's `Hasher` uses the same algorithm
/// with the 64-bit output; two hashers would read everything twice.
package struct KeyHash {
    /// A random seed of this process, which keeps hashes unpredictable for others.
    private static let seed: (UInt64, UInt64) = (.random(in: .min ... .max), .random(in: .min ... .max))

    /// The size of the buffer, in bytes: a multiple of the word size.
    private static let roomSize = 1_024

    private var (v0, v1, v2, v3): (UInt64, UInt64, UInt64, UInt64)
    /// The buffer for parts, owned by the caller, which must outlive the hash; `bufferedBytes` bytes of it are used.
    private let buffer: UnsafeMutableRawBufferPointer
    private var bufferedBytes = 0
    private var hashedBytes = 0

    private init(_ seed: (UInt64, UInt64), _ buffer: UnsafeMutableRawBufferPointer) {
        self.buffer = buffer
        v0 = seed.0 ^ 0x736f_6d65_7073_6575
        v1 = seed.1 ^ 0x646f_7261_6e64_6f6d ^ 0xEE
        v2 = seed.0 ^ 0x6c79_6765_6e65_7261
        v3 = seed.1 ^ 0x7465_6462_7974_6573
    }

    /// Returns the hash of everything that `body` combines.
    package static func of(
        seed: (UInt64, UInt64) = KeyHash.seed,
        _ body: (inout KeyHash) -> Void
    ) -> (high: UInt64, low: UInt64) {
        withUnsafeTemporaryAllocation(byteCount: roomSize, alignment: MemoryLayout<UInt64>.alignment) { buffer in
            var hash = KeyHash(seed, buffer)
            body(&hash)
            return hash.finish()
        }
    }

    package mutating func combine(_ text: String) {
        let isDone: Void? = text.utf8.withContiguousStorageIfAvailable { combine(UnsafeRawBufferPointer($0)) }
        // The text has no contiguous UTF-8 storage, such as a bridged `NSString` on Apple's platforms.
        if isDone == nil { Array(text.utf8).withUnsafeBytes { combine($0) } }
    }

    package mutating func combine(_ data: Data) {
        data.withUnsafeBytes { combine($0) }
    }

    package mutating func combine(_ number: Int) {
        let number = Int64(number).littleEndian
        if bufferedBytes + MemoryLayout<Int64>.size > buffer.count { return withUnsafeBytes(of: number) { append($0) } }
        buffer.storeBytes(of: number, toByteOffset: bufferedBytes, as: Int64.self)
        bufferedBytes += MemoryLayout<Int64>.size
    }

    private mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        combine(bytes.count)
        append(bytes)
    }

    /// Adds bytes without their length.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, let end = buffer.baseAddress else { return }
        if bytes.count <= buffer.count - bufferedBytes {
            (end + bufferedBytes).copyMemory(from: start, byteCount: bytes.count)
            bufferedBytes += bytes.count
            return
        }
        var rest = bytes[...]
        while bufferedBytes + rest.count > buffer.count {
            let part = rest.prefix(buffer.count - bufferedBytes)
            UnsafeMutableRawBufferPointer(rebasing: buffer[bufferedBytes...]).copyMemory(from: .init(rebasing: part))
            bufferedBytes = buffer.count
            compress()
            rest = rest.dropFirst(part.count)
        }
        UnsafeMutableRawBufferPointer(rebasing: buffer[bufferedBytes...]).copyMemory(from: .init(rebasing: rest))
        bufferedBytes += rest.count
    }

    /// Compresses all whole words in the buffer.
    private mutating func compress() {
        let end = bufferedBytes & ~7
        var hash = self
        for word in UnsafeRawBufferPointer(rebasing: buffer[..<end]).bindMemory(to: UInt64.self) {
            hash.compress(UInt64(littleEndian: word))
        }
        self = hash
        hashedBytes += end
        bufferedBytes -= end
    }

    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        round()
        v0 ^= word
    }

    private mutating func finish() -> (high: UInt64, low: UInt64) {
        let start = bufferedBytes & ~7
        compress()
        var last = UInt64(truncatingIfNeeded: hashedBytes + bufferedBytes) << 56
        for index in 0..<bufferedBytes { last |= UInt64(buffer[start + index]) << (8 * index) }
        compress(last)
        v2 ^= 0xEE
        let low = mixed()
        v1 ^= 0xDD
        return (mixed(), low)
    }

    private mutating func mixed() -> UInt64 {
        for _ in 0..<3 { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func round() {
        v0 &+= v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 &+= v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 &+= v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
    }
}
