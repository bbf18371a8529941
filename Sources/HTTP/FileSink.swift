#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Writes to `PATH.part` and renames it to `PATH` when all is there; else it is removed and `PATH` is as it was.
///
/// What is no regular file, such as `/dev/null` or a pipe, must not be replaced: it is written to as it is. A symbolic
/// link stays, and the file that it leads to is replaced.
package final class FileSink {
    private let path: String
    /// The file written until it is whole; nil where `path` itself is written to.
    private let part: String?
    private let file: OpenFile
    /// Bytes written.
    package private(set) var position: Int64 = 0
    private var isCommitted = false

    /// Whether what is not whole leaves nothing behind.
    package var isUndone: Bool { part != nil }

    /// - Throws: `NetworkError` of kind `.file` where nothing can be written there.
    package init(path: String) throws(NetworkError) {
        let path = Self.target(of: path)
        var status = stat()
        let isReplaceable = stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
        self.path = path
        part = isReplaceable ? path + ".part" : nil
        file = try isReplaceable ? OpenFile(creating: path + ".part") : OpenFile(writing: path)
    }

    deinit {
        if let part, !isCommitted { unlink(part) }
    }

    /// Writes all bytes behind those written before.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        try file.write(bytes)
        position += Int64(bytes.count)
    }

    /// All is there.
    package func commit() throws(NetworkError) {
        if let part, rename(part, path) != 0 { throw .file("cannot rename \(part) to", path, errno) }
        isCommitted = true
    }

    /// Where a symbolic link leads; the path itself where it is none, or leads nowhere.
    private static func target(of path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
