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

/// An open file, which is closed when this object is released.
package final class OpenFile: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Opens a file for reading.
    ///
    /// - Parameter followsLinks: Whether the path itself may be a symbolic link. Its parent folders may be links in any
    ///   case.
    package convenience init(reading path: String, followsLinks: Bool = true) throws(NetworkError) {
        // Without `O_NONBLOCK`, opening a pipe that has no writer would block.
        try self.init(path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW), "cannot open")
    }

    /// Creates a file for writing. It must not exist yet.
    ///
    /// - Parameter isPrivate: Whether only its owner may read the file.
    package convenience init(creating path: String, isPrivate: Bool = false) throws(NetworkError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        try self.init(path, flags, "cannot create", mode: isPrivate ? 0o600 : 0o666)
    }

    /// Creates an unnamed temporary file in a directory, for reading and writing.
    ///
    /// It is deleted with this object or when the process exits.
    package convenience init(temporaryIn directory: String) throws(NetworkError) {
        let path = "\(directory)/.\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        try self.init(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, "cannot create", mode: 0o600)
        unlink(path)
    }

    /// Creates a file or truncates an existing one. Only its owner may read a new file.
    package convenience init(replacing path: String) throws(NetworkError) {
        try self.init(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, "cannot write", mode: 0o600)
    }

    /// Opens or creates a file for appending and locks it against others that open it with this method.
    package static func appendingExclusively(_ path: String) throws(NetworkError) -> OpenFile {
        while true {
            // Without `O_NONBLOCK`, opening a pipe that has no reader would block.
            let file = try OpenFile(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, "cannot write")
            guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 else {
                throw NetworkError(.file, during: .file, "\(path) is being written by another download")
            }
            // The previous owner may have renamed or removed the file after it was opened and before it was locked.
            var (ours, there) = (stat(), stat())
            guard fstat(file.descriptor, &ours) == 0 else { throw .file("cannot read", path, errno) }
            if stat(path, &there) == 0, ours.st_dev == there.st_dev, ours.st_ino == there.st_ino { return file }
        }
    }

    /// Opens or creates a file to which several processes may append. Only its owner may read a new file.
    package convenience init(appending path: String) throws(NetworkError) {
        try self.init(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, "cannot write", mode: 0o600)
        // A pipe is rejected, because writes to it block when it is full.
        _ = try size()
    }

    /// Opens or creates a lock file and locks it.
    ///
    /// - Returns: The locked file, or `nil` if the lock is already taken. The lock is released with the object, and
    ///   when the process exits.
    package static func locked(_ path: String) throws(NetworkError) -> OpenFile? {
        try OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW, "cannot write", mode: 0o600).locked()
    }

    /// Locks the file until this object is released.
    ///
    /// - Returns: The file, or `nil` if the lock is already taken.
    func locked() throws(NetworkError) -> OpenFile? {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return nil }
            if errno != EINTR { throw .file("cannot lock", path, errno) }
        }
        return self
    }

    /// Opens an existing file for writing, such as a device or a pipe.
    package convenience init(writing path: String) throws(NetworkError) {
        try self.init(path, O_WRONLY, "cannot write")
    }

    /// Creates an open file that takes ownership of a descriptor.
    init(descriptor: Int32, path: String) {
        self.path = path
        self.descriptor = descriptor
    }

    private init(_ path: String, _ flags: Int32, _ what: String, mode: mode_t = 0o666) throws(NetworkError) {
        self.path = path
        descriptor = open(path, flags | O_CLOEXEC, mode)
        guard descriptor < 0 else { return }
        guard flags & O_NOFOLLOW != 0, errno == ELOOP || errno == EMLINK else { throw .file(what, path, errno) }
        // The system's message doesn't mention a link.
        throw NetworkError(.file, during: .file, "\(what) \(path): links are not followed")
    }

    deinit {
        guard descriptor >= 0 else { return }
        // Unlock explicitly: a forked child that hasn't called `exec` yet still has the file open, and with it the
        // lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Returns the size of the file in bytes. Throws if it isn't a regular file.
    package func size() throws(NetworkError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .file("cannot read", path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw NetworkError(.file, during: .file, "cannot read \(path): it is not a regular file")
        }
        return Int64(status.st_size)
    }

    /// Waits until the written data is on the disk or, for a directory, its entries.
    package func sync() throws(NetworkError) {
        #if canImport(Darwin)
            // On Darwin, `fsync` may leave the data in the disk's cache.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw .file("cannot write", path, errno) }
    }

    /// Removes all bytes from the file.
    package func truncate() throws(NetworkError) {
        guard ftruncate(descriptor, 0) == 0 else { throw .file("cannot empty", path, errno) }
    }

    /// Reads bytes at an offset and returns their number, or 0 at the end of the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(NetworkError) -> Int {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw .file("cannot read", path, errno) }
        }
    }

    /// Reads the whole file into memory.
    ///
    /// - Parameter limit: The maximum size of the file, in bytes. A larger file isn't read.
    /// - Throws: `NetworkError` of kind `.file`, also if the file exceeds the limit or isn't a regular file.
    package func contents(upTo limit: Int) throws(NetworkError) -> Data {
        let size = try size()
        guard size <= limit else {
            throw NetworkError(.file, during: .file, "cannot read \(path): it is larger than \(limit) bytes")
        }
        return try contents(count: Int(size))
    }

    /// Reads the beginning of the file into memory.
    ///
    /// - Parameter count: The maximum number of bytes to read.
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

    /// Returns the offset of the next data after a hole. A hole takes no space on the disk and reads as zeros.
    ///
    /// - Returns: The given offset if there is no hole or the system can't find it, or the file's size if only a hole
    ///   follows.
    package func dataOffset(from offset: Int64) throws(NetworkError) -> Int64 {
        #if os(Linux)
            // SEEK_DATA of lseek(2), which the Glibc module lacks. The file's own position is never used.
            let found = lseek(descriptor, off_t(offset), 3)
            if found >= 0 { return Int64(found) }
            if errno == ENXIO { return max(offset, try size()) }
        #endif
        return offset
    }

    /// Calls a closure with the descriptor, which stays open during the call.
    func withDescriptor<R>(_ work: (Int32) throws(NetworkError) -> R) throws(NetworkError) -> R {
        // Keeps `self` alive until the method returns.
        defer { withExtendedLifetime(self) {} }
        return try work(descriptor)
    }

    /// Returns the names in this directory, without `.` and `..`.
    func names() throws(NetworkError) -> [String] {
        // `closedir` closes the descriptor that was passed to `fdopendir`.
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
            // The name may be longer than the declared type of `d_name`, so it is read in place.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let name = String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw .file("cannot read", path, errno) }
        return names
    }

    /// Returns whether a file is locked by `locked`. `false` if the file doesn't exist.
    package static func isLocked(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // A shared lock, so that two simultaneous checks don't mistake each other for the owner.
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Returns the size of the file in bytes, or `nil` if it has been deleted.
    package func sizeWhileLinked() throws(NetworkError) -> Int64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .file("cannot read", path, errno) }
        return status.st_nlink == 0 ? nil : Int64(status.st_size)
    }

    /// Writes bytes in a single system call, so that other processes that append to the file can't interrupt them.
    ///
    /// - Returns: The number of bytes written.
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
    /// Returns a file system error with the system's message for the code.
    package static func file(_ what: String, _ path: String, _ code: Int32) -> NetworkError {
        NetworkError(.file, during: .file, "\(what) \(path): \(String(cString: strerror(code)))")
    }
}
