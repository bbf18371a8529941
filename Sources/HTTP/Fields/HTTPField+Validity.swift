extension HTTPField {
    /// Returns whether a value may be sent unchanged (RFC 9110, 5.5).
    ///
    /// Gives the same result as `isValidValue`, but is much faster for printable ASCII, the usual case.
    package static func isSendable(_ value: String) -> Bool {
        value.utf8.withContiguousStorageIfAvailable(isPlain) == true || isValidValue(value)
    }

    /// Whether the value may be sent unchanged.
    package var isSendable: Bool { withUnsafeBytesOfValue(Self.isPlain) || Self.isValidValue(value) }

    /// Returns whether the bytes are printable ASCII without a space at either end.
    ///
    /// The loop has no early exit, so that it can be vectorized.
    package static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.first != 0x20, bytes.last != 0x20 else { return false }
        var odd: UInt8 = 0
        for byte in bytes { odd |= byte &- 0x20 < 0x5F ? 0 : 1 }
        return odd == 0
    }
}
