import BeagleNetHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Grows with a collected body and is handed over as `Data` without a copy.
struct BodyBuffer: ~Copyable {
    private var start: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    /// Room for a body of this announced size; no more than 1 MiB is taken on a server's word.
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

    /// The bytes; the buffer is empty afterwards.
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
