import BeagleNetHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A growing buffer for a collected body, which is returned as `Data` without a copy.
struct BodyBuffer: ~Copyable {
    private var start: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    /// Reserves memory for a body of the announced size, at most 1 MiB, because the server may announce any size.
    mutating func reserve(_ size: Int) throws(NetworkError) {
        try grow(to: min(size, 1 << 20))
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        guard let source = bytes.baseAddress else { return }
        if count + bytes.count > capacity { try grow(to: max(count + bytes.count, capacity * 2, 512)) }
        guard let start else { return }
        (start + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// Returns the bytes and empties the buffer.
    mutating func take() -> Data {
        guard let bytes = start, count > 0 else { return Data() }
        defer {
            start = nil
            count = 0
            capacity = 0
        }
        return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
    }

    private mutating func grow(to size: Int) throws(NetworkError) {
        guard size > capacity else { return }
        guard let grown = realloc(start, size) else {
            throw NetworkError(.tooLarge, during: .body, "not enough memory for a body of \(size) bytes")
        }
        start = grown
        capacity = size
    }

    deinit {
        free(start)
    }
}
