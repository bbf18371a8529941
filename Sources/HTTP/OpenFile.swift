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
    package convenience init(reading path: String) throws(NetworkError) {
        // A pipe without a writer would hold up whoever opens it.
        try self.init(path, O_RDONLY | O_NONBLOCK, "cannot open")
    }

    /// Creates a file that was not there, for writing.
    package convenience init(creating path: String) throws(NetworkError) {
        try self.init(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, "cannot create")
    }

    /// Opens what is there for writing: a device, a pipe.
    package convenience init(writing path: String) throws(NetworkError) {
        try self.init(path, O_WRONLY, "cannot write")
    }

    private init(_ path: String, _ flags: Int32, _ what: String) throws(NetworkError) {
        self.path = path
        descriptor = open(path, flags | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw .file(what, path, errno) }
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

    /// Writes all bytes.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            #if canImport(Glibc)
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            #elseif canImport(Musl)
                let count = Musl.write(descriptor, rest.baseAddress, rest.count)
            #else
                let count = Darwin.write(descriptor, rest.baseAddress, rest.count)
            #endif
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
