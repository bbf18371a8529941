/// A check of whether bytes are UTF-8 (RFC 3629), which examines ASCII eight bytes at a time.
enum UTF8Check {
    /// Returns the position of the first byte that doesn't begin or continue a valid scalar, or `nil`.
    static func firstInvalid(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let raw = UnsafeRawBufferPointer(bytes)
        let count = bytes.count
        var index = 0
        while index < count {
            // Both loads end within the buffer, because `index + 16` is at most its count.
            while index &+ 16 <= count {
                let low = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let high = raw.loadUnaligned(fromByteOffset: index &+ 8, as: UInt64.self)
                if (low | high) & 0x8080_8080_8080_8080 != 0 { break }
                index &+= 16
            }
            while index < count, bytes[index] < 0x80 { index &+= 1 }
            // Scalars of other scripts come in runs.
            while index < count, bytes[index] >= 0x80 {
                let length = length(of: bytes, at: index)
                if length == 0 { return index }
                index &+= length
            }
        }
        return nil
    }

    /// Returns the number of bytes of the scalar of two or more bytes that begins here, or 0 if it is invalid.
    @inline(__always)
    private static func length(of bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
        let first = bytes[index]
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard first >= 0xC2, first <= 0xF4, index &+ length <= bytes.count else { return 0 }
        let second = bytes[index &+ 1]
        // The bounds of the second byte exclude overlong forms, surrogates and scalars beyond U+10FFFF.
        let lowest: UInt8 = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80
        let highest: UInt8 = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF
        guard second >= lowest, second <= highest else { return 0 }
        for place in 2..<max(2, length) where bytes[index &+ place] & 0xC0 != 0x80 { return 0 }
        return length
    }
}
