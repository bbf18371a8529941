import BeagleNetHTTP

/// A source of bytes in memory.
final class DataUpload: UploadSource {
    private let data: Data
    private var position = 0

    init(_ data: Data) {
        self.data = data
    }

    var length: Int64? { Int64(data.count) }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
        let count = min(buffer.count, data.count - position)
        guard count > 0 else { return .end }
        let start = data.startIndex + position
        data.copyBytes(to: buffer, from: start..<(start + count))
        position += count
        return .bytes(count)
    }

    func rewind() -> Bool {
        position = 0
        return true
    }

    func close() {}
}
