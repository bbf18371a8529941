import BeagleNetHTTP
import Foundation

/// Writes to `PATH.part`, which takes the place of `PATH` when all is there; else it is removed and `PATH` is as it was.
///
/// What is no regular file, such as `/dev/null` or a pipe, must not be replaced: it is written to as it is. A symbolic
/// link stays, and the file that it leads to is replaced.
struct PartFile: ~Copyable {
    private let path: String
    /// The file written until it is whole; nil where `path` itself is written to.
    private let part: String?
    private let handle: FileHandle
    private var isWhole = false

    init(path: String) throws {
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        var status = stat()
        let isReplaceable = stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
        let written = isReplaceable ? "\(path).part" : path
        let descriptor = open(written, O_WRONLY | O_CLOEXEC | (isReplaceable ? O_CREAT | O_TRUNC : 0), 0o666)
        guard descriptor >= 0 else { throw NetworkError.file("cannot write", written, errno) }
        self.path = path
        part = isReplaceable ? written : nil
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Whether a transfer that fails leaves nothing behind.
    var isUndone: Bool { part != nil }

    func write(_ chunk: Data) throws {
        try handle.write(contentsOf: chunk)
    }

    mutating func commit() throws {
        try handle.close()
        if let part, rename(part, path) != 0 {
            throw NetworkError.file("cannot rename \(part) to", path, errno)
        }
        isWhole = true
    }

    deinit {
        if let part, !isWhole { unlink(part) }
    }
}
