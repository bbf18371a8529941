#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension UnsafeBufferPointer<UInt8> {
    /// Returns the index of the first occurrence of a byte, or `nil` if the byte doesn't occur.
    ///
    /// Uses `memchr`, which compares many bytes at a time.
    package func firstOffset(of byte: UInt8) -> Int? {
        guard let baseAddress, let found = memchr(baseAddress, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(baseAddress)
    }
}
