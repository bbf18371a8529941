import BeagleNetHTTP

/// A source of the bytes of a file.
final class FileUpload: UploadSource {
    private let path: String
    private let file: OpenFile
    private let size: Int64
    private var sent: Int64 = 0

    init(path: String) throws(NetworkError) {
        self.path = path
        file = try OpenFile(reading: path)
        size = try file.size()
    }

    var length: Int64? { size }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> UploadRead {
        let wanted = min(Int64(buffer.count), size - sent)
        if wanted == 0 { return .end }
        let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(wanted)]), at: sent)
        guard count > 0 else {
            throw NetworkError(.file, during: .send, "\(path) shrank while it was being sent")
        }
        sent += Int64(count)
        return .bytes(count)
    }

    func rewind() -> Bool {
        sent = 0
        return true
    }

    func close() {}
}
