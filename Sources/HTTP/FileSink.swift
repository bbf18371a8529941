#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Writes a body to `PATH.part` and renames it to `PATH` when it is whole; what is not whole is removed.
package final class FileSink {
    private let path: String
    private let file: OpenFile
    /// Bytes written.
    package private(set) var position: Int64 = 0
    private var isCommitted = false

    private var partPath: String { path + ".part" }

    package init(path: String) throws(NetworkError) {
        self.path = path
        file = try OpenFile(writing: path + ".part")
    }

    deinit {
        if !isCommitted { unlink(partPath) }
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        try file.write(bytes, at: position)
        position += Int64(bytes.count)
    }

    package func commit() throws(NetworkError) {
        guard rename(partPath, path) == 0 else { throw .file("cannot rename \(partPath) to", path, errno) }
        isCommitted = true
    }
}
