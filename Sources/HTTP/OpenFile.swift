#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An open file, closed with this object.
package final class OpenFile: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Opens a file for reading.
    package init(reading path: String) throws(NetworkError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file("cannot open", path, errno) }
    }

    /// Creates a file, or empties it, for writing.
    package init(writing path: String) throws(NetworkError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .file("cannot create", path, errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Bytes in the file; an error where it is no regular file.
    package func size() throws(NetworkError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .file("cannot read", path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw NetworkError(.file, during: .file, "cannot read \(path): it is no regular file")
        }
        return Int64(status.st_size)
    }

    /// Reads from `offset`; gives the bytes read, 0 at the end.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(NetworkError) -> Int {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw .file("cannot read", path, errno) }
        }
    }

    /// Writes all bytes at `offset`.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(NetworkError) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + Int64(done)))
            if count >= 0 {
                done += count
            } else if errno != EINTR {
                throw .file("cannot write", path, errno)
            }
        }
    }
}

extension NetworkError {
    /// An error of the file system, with the system's reason for the code.
    package static func file(_ what: String, _ path: String, _ code: Int32) -> NetworkError {
        NetworkError(.file, during: .file, "\(what) \(path): \(String(cString: strerror(code)))")
    }
}
