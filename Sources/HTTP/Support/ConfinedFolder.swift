#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A folder in which files are opened, listed, renamed and removed without following symbolic links.
///
/// The caller chooses the folder's own path, which may contain links. Names are relative to it and may contain slashes,
/// but can't lead out of it: neither links nor `..` are followed. A folder with malicious contents can't affect files
/// elsewhere.
package struct ConfinedFolder: Sendable {
    /// The path that the caller passed.
    private let root: String
    /// The names of the folders that lead from the root to this folder.
    private let names: [String]

    /// Creates a confined folder at a path. The folder may be created later.
    package init(path: String) {
        root = path.isEmpty ? "." : path
        names = []
    }

    private init(root: String, names: [String]) {
        self.root = root
        self.names = names
    }

    /// The path, for messages.
    package var path: String { names.isEmpty ? root : path(of: nil) }

    /// Returns a folder directly below this one.
    package func folder(_ name: String) -> ConfinedFolder { ConfinedFolder(root: root, names: names + [name]) }

    /// Returns the path of a file, for messages.
    package func path(of name: String) -> String { path(of: Optional(name)) }

    private func path(of name: String?) -> String {
        let below = (names + [name].compactMap(\.self)).joined(separator: "/")
        if root == "." { return below }
        return root.hasSuffix("/") ? root + below : "\(root)/\(below)"
    }

    // MARK: files

    /// Opens a file for reading.
    ///
    /// - Throws: `NetworkError` of kind `.file`, also if it isn't a regular file.
    package func file(reading name: String) throws(NetworkError) -> OpenFile {
        // Without `O_NONBLOCK`, opening a pipe that has no writer would block the caller.
        let file = try openFile(name, O_RDONLY | O_NONBLOCK, "cannot open")
        _ = try file.size()
        return file
    }

    /// Creates a file for writing.
    ///
    /// - Parameter isPrivate: Whether only its owner may read the file.
    /// - Throws: `NetworkError` of kind `.file`, also if the name already exists.
    package func file(creating name: String, isPrivate: Bool = true) throws(NetworkError) -> OpenFile {
        try openFile(name, O_WRONLY | O_CREAT | O_EXCL, "cannot create", mode: isPrivate ? 0o600 : 0o666)
    }

    /// Opens or creates a lock file and locks it against other processes.
    ///
    /// - Returns: The locked file, or `nil` if another process holds the lock.
    package func file(holding name: String) throws(NetworkError) -> OpenFile? {
        try openFile(name, O_RDWR | O_CREAT, "cannot write", mode: 0o600).locked()
    }

    private func openFile(
        _ name: String,
        _ flags: Int32,
        _ what: String,
        mode: mode_t = 0
    ) throws(NetworkError) -> OpenFile {
        try withParent(of: name) { parent, last throws(NetworkError) in
            let descriptor = openat(parent, last, flags | O_NOFOLLOW | O_CLOEXEC, mode)
            let code = errno
            guard descriptor >= 0 else {
                throw .file(what, path(of: name), code, isLink: Self.isLink(last, in: parent))
            }
            return OpenFile(descriptor: descriptor, path: path(of: name))
        }
    }

    // MARK: names

    /// The attributes of a file, folder or link.
    package struct Status: Sendable {
        package enum FileType: Sendable {
            case regular, folder, link
            /// A device, a pipe or a socket.
            case other
        }

        package let type: FileType
        package let inode: UInt64
        package let bytes: Int64
        /// The time of the last write, in seconds since 1970.
        package let written: Int

        package var isRegular: Bool { type == .regular }
    }

    /// Returns the attributes of a name, or `nil` if nothing can be found there. Links aren't followed.
    package func status(of name: String) -> Status? {
        do throws(NetworkError) {
            return try withParent(of: name) { parent, last in
                var status = stat()
                guard fstatat(parent, last, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
                #if canImport(Darwin)
                    let written = status.st_mtimespec.tv_sec
                #else
                    let written = status.st_mtim.tv_sec
                #endif
                let type: Status.FileType =
                    switch status.st_mode & S_IFMT {
                    case S_IFREG: .regular
                    case S_IFDIR: .folder
                    case S_IFLNK: .link
                    default: .other
                    }
                return Status(
                    type: type,
                    inode: UInt64(status.st_ino),
                    bytes: Int64(status.st_size),
                    written: written
                )
            }
        } catch {
            return nil
        }
    }

    /// Returns whether the name is a regular file that this process may read.
    package func isReadable(_ name: String) -> Bool {
        guard status(of: name)?.isRegular == true else { return false }
        do throws(NetworkError) {
            return try withParent(of: name) { parent, last in faccessat(parent, last, R_OK, 0) == 0 }
        } catch {
            return false
        }
    }

    /// Returns the names in a folder.
    ///
    /// - Parameter name: The folder, relative to this one, or `nil` for this one.
    /// - Returns: The names without `.` and `..`, or `nil` if there is no such folder or a link leads to it.
    package func entries(of name: String? = nil) throws(NetworkError) -> [String]? {
        let parts = try names + (name.map(Self.parts) ?? [])
        guard case .success(let folder) = try openFolder(parts, O_RDONLY) else { return nil }
        return try folder.names()
    }

    /// Creates a folder in this one that only its owner may use. An existing folder is left unchanged.
    package func makeFolder(_ name: String) throws(NetworkError) {
        try withParent(of: name) { parent, last throws(NetworkError) in
            if mkdirat(parent, last, 0o700) == 0 { return }
            let code = errno
            var status = stat()
            let isThere = fstatat(parent, last, &status, AT_SYMLINK_NOFOLLOW) == 0
            if code == EEXIST, isThere, status.st_mode & S_IFMT == S_IFDIR { return }
            throw .file("cannot create", path(of: name), code, isLink: Self.isLink(last, in: parent))
        }
    }

    /// Renames a file within this folder, replacing a file or link with the new name.
    ///
    /// - Throws: `NetworkError` of kind `.file`, also if the new name is neither a regular file nor a link.
    package func rename(_ name: String, to newName: String) throws(NetworkError) {
        try move(name, to: self, as: newName)
    }

    /// Moves a file to another folder on the same disk, replacing a file or link with the new name.
    ///
    /// - Throws: `NetworkError` of kind `.file`, also if the new name is neither a regular file nor a link.
    package func move(_ name: String, to folder: ConfinedFolder, as newName: String) throws(NetworkError) {
        try folder.checkReplaceable(newName)
        try withParent(of: name) { (old, last) throws(NetworkError) in
            try folder.withParent(of: newName) { (new, newLast) throws(NetworkError) in
                guard renameat(old, last, new, newLast) == 0 else {
                    throw .file("cannot rename \(path(of: name)) to", folder.path(of: newName), errno)
                }
            }
        }
    }

    /// Checks that a file may be written at a name: that it doesn't exist yet, or is a regular file or a link.
    ///
    /// - Throws: `NetworkError` of kind `.file` if the name is something else, such as a device or a pipe.
    func checkReplaceable(_ name: String) throws(NetworkError) {
        guard let type = status(of: name)?.type, type != .regular, type != .link else { return }
        throw NetworkError(.file, during: .file, "cannot replace \(path(of: name)): it is not a regular file")
    }

    /// Removes a file or link. A link's target isn't affected.
    ///
    /// - Returns: Whether there was a file or link.
    /// - Throws: `NetworkError` of kind `.file` if it can't be removed.
    @discardableResult
    package func remove(_ name: String) throws(NetworkError) -> Bool {
        var parts = try names + Self.parts(name)
        let last = parts.removeLast()
        guard case .success(let parent) = try openFolder(parts) else { return false }
        return try parent.withDescriptor { parent throws(NetworkError) in
            if unlinkat(parent, last, 0) == 0 { return true }
            if errno == ENOENT { return false }
            throw .file("cannot remove", path(of: name), errno)
        }
    }

    /// Sets the modification time of a file to now.
    ///
    /// - Returns: Whether it succeeded.
    @discardableResult
    package func touch(_ name: String) -> Bool {
        do throws(NetworkError) {
            return try withParent(of: name) { parent, last in utimensat(parent, last, nil, AT_SYMLINK_NOFOLLOW) == 0 }
        } catch {
            return false
        }
    }

    /// Waits until the entries of this folder are written to the disk.
    package func sync() throws(NetworkError) {
        try openFolder(names, O_RDONLY).get().sync()
    }

    // MARK: path resolution

    private static func parts(_ name: String) throws(NetworkError) -> [String] {
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        guard parts.allSatisfy({ !["", ".", ".."].contains($0) }), !name.utf8.contains(0) else {
            throw NetworkError(.file, during: .file, "'\(name)' is not a path below a folder")
        }
        return parts
    }

    /// Opens the folder that contains a file.
    ///
    /// - Parameter work: Called with the open folder and the file's name in it.
    private func withParent<R>(
        of name: String,
        _ work: (_ parent: Int32, _ last: String) throws(NetworkError) -> R
    ) throws(NetworkError) -> R {
        var parts = try names + Self.parts(name)
        let last = parts.removeLast()
        let parent = try openFolder(parts).get()
        return try parent.withDescriptor { descriptor throws(NetworkError) in try work(descriptor, last) }
    }

    #if os(Linux)
        /// `O_PATH`, a macro that requires `_GNU_SOURCE`: opens a folder that may be searched but not read.
        private static let searchOnly: Int32 = 0x20_0000
    #else
        private static let searchOnly = O_RDONLY
    #endif

    /// Opens a folder by the names that lead to it from the root. None of them may be a link.
    ///
    /// - Parameter access: `O_RDONLY` to list the folder or to sync it.
    /// - Returns: The folder, or the reason why there is no folder at that path.
    private func openFolder(
        _ parts: [String],
        _ access: Int32 = Self.searchOnly
    ) throws(NetworkError) -> Result<OpenFile, NetworkError> {
        func flags(_ isLast: Bool) -> Int32 { (isLast ? access : Self.searchOnly) | O_DIRECTORY | O_CLOEXEC }
        var (descriptor, path) = (open(root, flags(parts.isEmpty)), root)
        var (code, isLink) = (errno, false)
        for (index, part) in parts.enumerated() where descriptor >= 0 {
            let next = openat(descriptor, part, flags(index == parts.count - 1) | O_NOFOLLOW)
            code = errno
            isLink = next < 0 && Self.isLink(part, in: descriptor)
            close(descriptor)
            descriptor = next
            path += "/\(part)"
        }
        if descriptor >= 0 { return .success(OpenFile(descriptor: descriptor, path: path)) }
        let error = NetworkError.file("cannot open", path, code, isLink: isLink)
        guard isLink || code == ENOENT || code == ENOTDIR else { throw error }
        return .failure(error)
    }

    private static func isLink(_ name: String, in folder: Int32) -> Bool {
        // Preserve `errno` for the caller.
        let code = errno
        defer { errno = code }
        var status = stat()
        return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }
}

extension NetworkError {
    /// Returns a file system error that also says, unlike the system's message, that a link isn't followed.
    fileprivate static func file(_ what: String, _ path: String, _ code: Int32, isLink: Bool) -> NetworkError {
        guard isLink else { return .file(what, path, code) }
        return NetworkError(.file, during: .file, "\(what) \(path): links are not followed")
    }
}
