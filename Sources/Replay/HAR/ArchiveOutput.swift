import BeagleNetHTTP

/// An archive file that is being written, optionally compressed. It appears at its path only when it is complete.
final class ArchiveOutput {
    private let sink: FileSink
    private let deflater: Deflater?
    /// The bytes that are not written yet.
    private var buffer: [UInt8] = []

    init(path: String, _ compression: HARWriter.Compression) throws(NetworkError) {
        sink = try FileSink(path: path, mayBlock: true, isPrivate: true)
        deflater = compression == .none ? nil : try Deflater(isGzip: compression == .gzip)
    }

    func write(_ bytes: [UInt8]) throws(NetworkError) {
        try bytes.withRawBytes { bytes throws(NetworkError) in try write(bytes) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= 256 << 10 { try flush(isLast: false) }
    }

    /// Writes the remaining bytes and moves the file to its path.
    func finish() throws(NetworkError) {
        try flush(isLast: true)
        try sink.commit()
    }

    private func flush(isLast: Bool) throws(NetworkError) {
        try buffer.withRawBytes { bytes throws(NetworkError) in
            guard let deflater else { return try sink.write(bytes) }
            try deflater.write(bytes, isLast: isLast) { piece throws(NetworkError) in try sink.write(piece) }
        }
        buffer.removeAll(keepingCapacity: true)
    }
}

extension [UInt8] {
    /// Calls `withUnsafeBytes` with typed throws.
    func withRawBytes<E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> Void) throws(E) {
        try withUnsafeBufferPointer { bytes throws(E) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}
