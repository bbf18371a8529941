#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif
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
    ///
    /// - Parameter followsLinks: Whether the path may be that of a symbolic link; its folder's may.
    package convenience init(reading path: String, followsLinks: Bool = true) throws(NetworkError) {
        // A pipe without a writer would hold up whoever opens it.
        try self.init(path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW), "cannot open")
    }

    /// Creates a file that was not there, for writing.
    ///
    /// - Parameter isPrivate: whether nobody but its owner may read it.
    package convenience init(creating path: String, isPrivate: Bool = false) throws(NetworkError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        try self.init(path, flags, "cannot create", mode: isPrivate ? 0o600 : 0o666)
    }

    /// Creates a file without a name in a directory, for writing and reading; it is gone with this object, or the process.
    package convenience init(scratchIn directory: String) throws(NetworkError) {
        let path = "\(directory)/.\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        try self.init(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, "cannot create", mode: 0o600)
        unlink(path)
    }

    /// Creates a file, or empties the one that is there. Only its owner may read it.
    package convenience init(replacing path: String) throws(NetworkError) {
        try self.init(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, "cannot write", mode: 0o600)
    }

    /// Opens or creates a file that is written at its end, by nobody else who opens it in this way.
    package static func appendingAlone(_ path: String) throws(NetworkError) -> OpenFile {
        while true {
            // A pipe without a reader would hold up whoever opens it.
            let file = try OpenFile(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, "cannot write")
            guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 else {
                throw NetworkError(.file, during: .file, "\(path) is being written by another download")
            }
            // Whoever had it before may have renamed or removed it between our opening and locking.
            var (ours, there) = (stat(), stat())
            guard fstat(file.descriptor, &ours) == 0 else { throw .file("cannot read", path, errno) }
            if stat(path, &there) == 0, ours.st_dev == there.st_dev, ours.st_ino == there.st_ino { return file }
        }
    }

    /// Opens or creates a file that many write at its end. Only its owner may read it.
    package convenience init(appending path: String) throws(NetworkError) {
        try self.init(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, "cannot write", mode: 0o600)
        // A pipe takes only so much before it waits for its reader.
        _ = try size()
    }

    /// Opens or creates a file that says no more than who holds it.
    ///
    /// - Returns: nil where somebody else holds it; it is let go with the object, and when the process ends.
    package static func held(_ path: String) throws(NetworkError) -> OpenFile? {
        try OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW, "cannot write", mode: 0o600).held()
    }

    /// Takes the file for this object alone, until it ends.
    ///
    /// - Returns: The file, or `nil` if it is held already.
    func held() throws(NetworkError) -> OpenFile? {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return nil }
            if errno != EINTR { throw .file("cannot lock", path, errno) }
        }
        return self
    }

    /// Opens what is there for writing: a device, a pipe.
    package convenience init(writing path: String) throws(NetworkError) {
        try self.init(path, O_WRONLY, "cannot write")
    }

    /// Takes an open descriptor over.
    init(descriptor: Int32, path: String) {
        self.path = path
        self.descriptor = descriptor
    }

    private init(_ path: String, _ flags: Int32, _ what: String, mode: mode_t = 0o666) throws(NetworkError) {
        self.path = path
        descriptor = open(path, flags | O_CLOEXEC, mode)
        guard descriptor < 0 else { return }
        guard flags & O_NOFOLLOW != 0, errno == ELOOP || errno == EMLINK else { throw .file(what, path, errno) }
        // The system's words say nothing of a link.
        throw NetworkError(.file, during: .file, "\(what) \(path): links are not followed")
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
            throw NetworkError(.file, during: .file, "cannot read \(path): it is not a regular file")
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

    /// Reads the whole file into memory.
    ///
    /// - Parameter limit: The size above which nothing is read, in bytes.
    /// - Throws: `NetworkError` of kind `.file`, also if the file is larger than the limit, or no regular file.
    package func contents(upTo limit: Int) throws(NetworkError) -> Data {
        let size = try size()
        guard size <= limit else {
            throw NetworkError(.file, during: .file, "cannot read \(path): it is larger than \(limit) bytes")
        }
        return try contents(count: Int(size))
    }

    /// Reads the beginning of the file into memory.
    ///
    /// - Parameter count: The most bytes that are read.
    package func beginning(_ count: Int) throws(NetworkError) -> Data {
        try contents(count: Int(min(Int64(count), size())))
    }

    private func contents(count: Int) throws(NetworkError) -> Data {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { buffer.deallocate() }
        var done = 0
        while done < count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let read = try read(into: rest, at: Int64(done))
            if read == 0 { break }
            done += read
        }
        return Data(buffer[..<done])
    }

    /// Returns where data begins behind a hole, which takes no room on the disk and reads as zeros.
    ///
    /// - Returns: The offset itself if there is no hole, or the system cannot tell; the file's size if nothing but a hole
    ///   follows.
    package func dataOffset(from offset: Int64) throws(NetworkError) -> Int64 {
        #if os(Linux)
            // SEEK_DATA of lseek(2), which Glibc's module lacks. The file's own position is nowhere used.
            let found = lseek(descriptor, off_t(offset), 3)
            if found >= 0 { return Int64(found) }
            if errno == ENXIO { return max(offset, try size()) }
        #endif
        return offset
    }

    /// Lends the descriptor, which stays open meanwhile.
    func withDescriptor<R>(_ work: (Int32) throws(NetworkError) -> R) throws(NetworkError) -> R {
        // `self` is not released before its method returns.
        defer { withExtendedLifetime(self) {} }
        return try work(descriptor)
    }

    /// Returns the names in this directory, without `.` and `..`.
    func names() throws(NetworkError) -> [String] {
        // `closedir` closes what `fdopendir` was given.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .file("cannot read", path, errno) }
        guard let directory = fdopendir(copy) else {
            let code = errno
            close(copy)
            throw .file("cannot read", path, code)
        }
        defer { closedir(directory) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(directory) else { break }
            // The name is as long as it is, whatever its type says: it is read where it lies.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let name = String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw .file("cannot read", path, errno) }
        return names
    }

    /// Whether a file of this path is held by anybody, as `held` has it; a file that is not there is not.
    package static func isHeld(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Shared, so that two who look do not take each other for the holder.
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Bytes in the file; nil where it has no name any more.
    package func sizeWhileLinked() throws(NetworkError) -> Int64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .file("cannot read", path, errno) }
        return status.st_nlink == 0 ? nil : Int64(status.st_size)
    }

    /// Writes bytes in one call of the system, so that they stay together whoever else writes at the file's end.
    ///
    /// - Returns: how many of them were written.
    package func writeOnce(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) -> Int {
        while true {
            #if canImport(Glibc)
                let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            #elseif canImport(Musl)
                let count = Musl.write(descriptor, bytes.baseAddress, bytes.count)
            #else
                let count = Darwin.write(descriptor, bytes.baseAddress, bytes.count)
            #endif
            if count >= 0 { return count }
            if errno != EINTR { throw .file("cannot write", path, errno) }
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
