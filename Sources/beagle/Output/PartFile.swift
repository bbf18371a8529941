import BeagleNetHTTP
import Foundation

/// Writes to `PATH.part`, which takes the place of `PATH` when all is there; else it is removed and `PATH` is as it was.
struct PartFile: ~Copyable {
    let path: String
    private let handle: FileHandle
    private var isWhole = false

    private var partPath: String { "\(path).part" }

    init(path: String) throws {
        self.path = path
        guard FileManager.default.createFile(atPath: "\(path).part", contents: nil),
            let handle = FileHandle(forWritingAtPath: "\(path).part")
        else { throw NetworkError.file("cannot write", "\(path).part", errno) }
        self.handle = handle
    }

    func write(_ chunk: Data) throws {
        try handle.write(contentsOf: chunk)
    }

    mutating func commit() throws {
        try handle.close()
        guard rename(partPath, path) == 0 else { throw NetworkError.file("cannot rename \(partPath) to", path, errno) }
        isWhole = true
    }

    deinit {
        if !isWhole { unlink("\(path).part") }
    }
}
