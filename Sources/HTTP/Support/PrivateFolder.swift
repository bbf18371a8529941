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

/// A directory of files that only its owner may read.
///
/// Files are written atomically and survive a power loss. Links in the directory aren't followed.
package struct PrivateFolder: Sendable {
    private static let partExtension = ".part"

    private let folder: ConfinedFolder
    /// The parent folder and this folder's name in it, or `nil` if the caller specified this folder's path.
    private let parent: (folder: ConfinedFolder, name: String)?

    package var path: String { folder.path }

    package init(path: String) {
        folder = ConfinedFolder(path: path)
        parent = nil
    }

    /// Creates a reference to a directory in another one.
    package init(_ name: String, in parent: PrivateFolder) {
        folder = parent.folder.folder(name)
        self.parent = (parent.folder, name)
    }

    /// Creates the directory and its parents, if they don't exist.
    ///
    /// They are accessible only to their owner (mode 0700), and on the disk when this method returns.
    package func make() throws(NetworkError) {
        guard let parent else {
            if access(path, F_OK) == 0 { return }
            return try Self.make(path.split(separator: "/", omittingEmptySubsequences: false)[...])
        }
        if parent.folder.status(of: parent.name)?.type == .folder { return }
        try PrivateFolder(path: parent.folder.path).make()
        try parent.folder.makeFolder(parent.name)
        try parent.folder.sync()
    }

    private static func make(_ names: ArraySlice<Substring>) throws(NetworkError) {
        // A trailing slash names the same directory.
        guard let name = names.last else { return }
        if name.isEmpty { return try make(names.dropLast()) }
        let path = names.joined(separator: "/")
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            guard errno == ENOENT, names.count > 1 else { throw .file("cannot create", path, errno) }
            try make(names.dropLast())
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .file("cannot create", path, errno) }
        }
        let parent = names.dropLast().joined(separator: "/")
        try OpenFile(reading: !parent.isEmpty ? parent : path.hasPrefix("/") ? "/" : ".").sync()
    }

    /// Returns the names in the directory, without files that are still being written.
    ///
    /// Empty if the directory doesn't exist.
    package func names() throws(NetworkError) -> [String] {
        try allNames().filter { !$0.hasSuffix(Self.partExtension) }
    }

    private func allNames() throws(NetworkError) -> [String] {
        if let names = try folder.entries() { return names }
        if parent == nil, access(path, F_OK) == 0 {
            throw NetworkError(.file, during: .file, "cannot read \(path): it is not a directory")
        }
        return []
    }

    /// Opens a file for reading.
    package func file(_ name: String) throws(NetworkError) -> OpenFile { try folder.file(reading: name) }

    /// Writes a file, which is on the disk when this method returns.
    package func write(_ data: Data, as name: String) throws(NetworkError) {
        try make()
        // The sink uses a random name, so that leftovers of a killed process aren't in the way.
        let sink = try FileSink(name, in: folder)
        try sink.write(data)
        try sink.sync()
        try sink.commit()
        do throws(NetworkError) {
            try folder.sync()
        } catch {
            // Throw the first error, which has the reason.
            do throws(NetworkError) { try folder.remove(name) } catch {}
            throw error
        }
    }

    /// Creates an empty file if it doesn't exist.
    package func touch(_ name: String) throws(NetworkError) {
        do throws(NetworkError) {
            if !has(name) { _ = try folder.file(creating: name) }
        } catch {
            // Another process may have created it in the meantime.
            if !has(name) { throw error }
        }
    }

    /// Moves a file to another folder on the same disk.
    package func move(_ name: String, to other: PrivateFolder, as newName: String) throws(NetworkError) {
        try other.make()
        try folder.move(name, to: other.folder, as: newName)
        try other.folder.sync()
        try folder.sync()
    }

    /// Removes a file, if it exists. It stays removed after a power loss.
    package func remove(_ name: String) throws(NetworkError) {
        if try folder.remove(name) { try folder.sync() }
    }

    /// Returns whether the name exists, including a broken link.
    package func has(_ name: String) -> Bool { folder.status(of: name) != nil }

    /// Returns whether the name is a regular file that this process may read.
    package func isReadable(_ name: String) -> Bool { folder.isReadable(name) }

    /// Locks a file against all other processes, creating it if necessary. Returns `nil` if the lock is already taken.
    package func hold(_ name: String) throws(NetworkError) -> OpenFile? {
        try make()
        return try folder.file(holding: name)
    }

    /// Removes incomplete files that a killed process has left behind.
    ///
    /// - Parameter seconds: The minimum age of the files to remove. Another process may still be writing younger ones.
    package func removeParts(olderThan seconds: Int) throws(NetworkError) {
        let now = time(nil)
        for name in try allNames() where name.hasSuffix(Self.partExtension) {
            guard let status = folder.status(of: name), status.isRegular else { continue }
            if now - status.written > seconds { try remove(name) }
        }
    }
}
