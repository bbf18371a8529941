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

/// A directory of files that nobody but its owner may read. Each is there whole or not at all, and what was written
/// outlives a loss of power. Links in it are not followed.
package struct PrivateFolder: Sendable {
    private static let partEnding = ".part"

    private let folder: ConfinedFolder
    /// The folder above, and this one's name in it; `nil` if the caller named this one.
    private let parent: (folder: ConfinedFolder, name: String)?

    package var path: String { folder.path }

    package init(path: String) {
        folder = ConfinedFolder(path: path)
        parent = nil
    }

    /// A directory in another one.
    package init(_ name: String, in parent: PrivateFolder) {
        folder = parent.folder.folder(name)
        self.parent = (parent.folder, name)
    }

    /// Makes the directory, and those above it, where they are not there: for its owner alone (mode 0700), and on the disk
    /// when this returns.
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
        // A slash at the end names the same directory.
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

    /// The names of what is in it, without what is still being written; none where there is no directory.
    package func names() throws(NetworkError) -> [String] {
        try everything().filter { !$0.hasSuffix(Self.partEnding) }
    }

    private func everything() throws(NetworkError) -> [String] {
        if let names = try folder.entries() { return names }
        if parent == nil, access(path, F_OK) == 0 {
            throw NetworkError(.file, during: .file, "cannot read \(path): it is not a directory")
        }
        return []
    }

    /// Opens a file for reading.
    package func file(_ name: String) throws(NetworkError) -> OpenFile { try folder.file(reading: name) }

    /// Writes a file that is on the disk when this returns.
    package func write(_ data: Data, as name: String) throws(NetworkError) {
        try make()
        // What a killed process left under the same name is not in the way.
        let sink = try FileSink(name, in: folder)
        try sink.write(data)
        try sink.sync()
        try sink.commit()
        do throws(NetworkError) {
            try folder.sync()
        } catch {
            // The first error tells why.
            do throws(NetworkError) { try folder.remove(name) } catch {}
            throw error
        }
    }

    /// Makes an empty file where there is none.
    package func touch(_ name: String) throws(NetworkError) {
        do throws(NetworkError) {
            if !has(name) { _ = try folder.file(creating: name) }
        } catch {
            // Another process may have made it meanwhile.
            if !has(name) { throw error }
        }
    }

    /// Moves a file to another folder of the same disk.
    package func move(_ name: String, to other: PrivateFolder, as newName: String) throws(NetworkError) {
        try other.make()
        try folder.move(name, to: other.folder, as: newName)
        try other.folder.sync()
        try folder.sync()
    }

    /// Removes a file, which stays away after a loss of power; one that is not there is no error.
    package func remove(_ name: String) throws(NetworkError) {
        if try folder.remove(name) { try folder.sync() }
    }

    /// Whether there is something of this name, be it a link that leads nowhere.
    package func has(_ name: String) -> Bool { folder.status(of: name) != nil }

    /// Whether that is a file which this process may read.
    package func isReadable(_ name: String) -> Bool { folder.isReadable(name) }

    /// Takes the file of this name for the caller alone, among all processes; nil where another has it.
    package func hold(_ name: String) throws(NetworkError) -> OpenFile? {
        try make()
        return try folder.file(holding: name)
    }

    /// Removes what a process that was killed has left half written.
    ///
    /// - Parameter seconds: how old it must be: another process may be writing what is younger.
    package func removeParts(olderThan seconds: Int) throws(NetworkError) {
        let now = time(nil)
        for name in try everything() where name.hasSuffix(Self.partEnding) {
            guard let status = folder.status(of: name), status.isRegular else { continue }
            if now - status.written > seconds { try remove(name) }
        }
    }
}
