extension HTTPField {
    /// Whether a value may be sent as it is (RFC 9110, 5.5): what `isValidValue` says, in a fraction of its time where the
    /// value is as nearly all are.
    package static func maySend(_ value: String) -> Bool {
        value.utf8.withContiguousStorageIfAvailable(isPlain) == true || isValidValue(value)
    }

    /// Whether the value may be sent as it is.
    package var maySend: Bool { withUnsafeBytesOfValue(Self.isPlain) || Self.isValidValue(value) }

    /// Whether these are printable ASCII without a blank at either end. All of them are looked at, many at once.
    package static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.first != 0x20, bytes.last != 0x20 else { return false }
        var odd: UInt8 = 0
        for byte in bytes { odd |= byte &- 0x20 < 0x5F ? 0 : 1 }
        return odd == 0
    }
}
