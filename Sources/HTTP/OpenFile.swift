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
    ///
    /// - Parameter isPrivate: whether nobody but its owner may read it.
    package convenience init(creating path: String, isPrivate: Bool = false) throws(NetworkError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        try self.init(path, flags, "cannot create", mode: isPrivate ? 0o600 : 0o666)
    }

    /// Creates a file, or empties the one that is there. Only its owner may read it.
    package convenience init(replacing path: String) throws(NetworkError) {
        try self.init(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, "cannot write", mode: 0o600)
    }

    /// Opens or creates a file that is written at its end, by nobody else who opens it in this way.
    package static func appendingAlone(_ path: String) throws(NetworkError) -> OpenFile {
        while true {
            let file = try OpenFile(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, "cannot write")
            guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 else {
                throw NetworkError(.file, during: .file, "\(path) is being written by another download")
            }
            // Whoever had it before may have renamed or removed it between our opening and locking.
            var (ours, there) = (stat(), stat())
            guard fstat(file.descriptor, &ours) == 0 else { throw .file("cannot read", path, errno) }
            if stat(path, &there) == 0, ours.st_dev == there.st_dev, ours.st_ino == there.st_ino { return file }
        }
    }

    /// Opens or creates a file that says no more than who holds it.
    ///
    /// - Returns: nil where somebody else holds it; it is let go with the object, and when the process ends.
    package static func held(_ path: String) throws(NetworkError) -> OpenFile? {
        let file = try OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW, "cannot write", mode: 0o600)
        while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return nil }
            if errno != EINTR { throw .file("cannot lock", path, errno) }
        }
        return file
    }

    /// Opens what is there for writing: a device, a pipe.
    package convenience init(writing path: String) throws(NetworkError) {
        try self.init(path, O_WRONLY, "cannot write")
    }

    private init(_ path: String, _ flags: Int32, _ what: String, mode: mode_t = 0o666) throws(NetworkError) {
        self.path = path
        descriptor = open(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .file(what, path, errno) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        // A child that has not come to its exec yet has the file open too, and with it the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
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

    /// Waits until what was written is on the disk; of a directory, which files it has.
    package func sync() throws(NetworkError) {
        #if canImport(Darwin)
            // There `fsync` leaves it in the disk's own memory.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw .file("cannot write", path, errno) }
    }

    /// Takes all bytes out of the file.
    package func truncate() throws(NetworkError) {
        guard ftruncate(descriptor, 0) == 0 else { throw .file("cannot empty", path, errno) }
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
