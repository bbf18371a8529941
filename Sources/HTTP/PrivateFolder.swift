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
/// outlives a loss of power.
package struct PrivateFolder: Sendable {
    private static let partEnding = ".part"

    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// Makes the directory, and those above it, where they are not there: for its owner alone (mode 0700), and on the disk
    /// when this returns.
    package func make() throws(NetworkError) {
        if access(path, F_OK) == 0 { return }
        try Self.make(path.split(separator: "/", omittingEmptySubsequences: false)[...])
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
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            if access(path, F_OK) != 0, errno == ENOENT { return [] }
            throw NetworkError(.file, during: .file, "cannot read the directory \(path)", underlying: error)
        }
    }

    /// The bytes of a file.
    package func read(_ name: String) throws(NetworkError) -> Data {
        let file = try OpenFile(reading: "\(path)/\(name)")
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(try file.size()), alignment: 1)
        defer { buffer.deallocate() }
        var count = 0
        while count < buffer.count {
            let read = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]), at: Int64(count))
            if read == 0 { break }
            count += read
        }
        return Data(buffer[..<count])
    }

    /// Writes a file that is on the disk when this returns.
    package func write(_ data: Data, as name: String) throws(NetworkError) {
        try make()
        // What a killed process left under the same name is not in the way.
        let part = "\(path)/\(name).\(String(UInt64.random(in: .min ... .max), radix: 36))\(Self.partEnding)"
        let file = try OpenFile(creating: part, isPrivate: true)
        do {
            try data.withUnsafeBytes { try file.write($0) }
            try file.sync()
            guard rename(part, "\(path)/\(name)") == 0 else {
                throw NetworkError.file("cannot rename \(part) to", "\(path)/\(name)", errno)
            }
        } catch {
            unlink(part)
            throw NetworkError(wrapping: error)
        }
        do throws(NetworkError) {
            try OpenFile(reading: path).sync()
        } catch {
            unlink("\(path)/\(name)")
            throw error
        }
    }

    /// Makes an empty file where there is none.
    package func touch(_ name: String) throws(NetworkError) {
        do throws(NetworkError) {
            if !has(name) { _ = try OpenFile(creating: "\(path)/\(name)", isPrivate: true) }
        } catch {
            // Another process may have made it meanwhile.
            if !has(name) { throw error }
        }
    }

    /// Moves a file to another folder of the same disk.
    package func move(_ name: String, to folder: PrivateFolder, as newName: String) throws(NetworkError) {
        try folder.make()
        let (old, new) = ("\(path)/\(name)", "\(folder.path)/\(newName)")
        guard rename(old, new) == 0 else { throw .file("cannot rename \(old) to", new, errno) }
        try OpenFile(reading: folder.path).sync()
        try OpenFile(reading: path).sync()
    }

    /// Removes a file, which stays away after a loss of power; one that is not there is no error.
    package func remove(_ name: String) throws(NetworkError) {
        guard unlink("\(path)/\(name)") == 0 else {
            if errno == ENOENT { return }
            throw .file("cannot remove", "\(path)/\(name)", errno)
        }
        try OpenFile(reading: path).sync()
    }

    /// Whether there is something of this name, be it a link that leads nowhere.
    package func has(_ name: String) -> Bool {
        var status = stat()
        return lstat("\(path)/\(name)", &status) == 0
    }

    /// Whether that is a file which this process may read.
    package func isReadable(_ name: String) -> Bool {
        var status = stat()
        let file = "\(path)/\(name)"
        return stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(file, R_OK) == 0
    }

    /// Takes the file of this name for the caller alone, among all processes; nil where another has it.
    package func hold(_ name: String) throws(NetworkError) -> OpenFile? {
        try make()
        return try OpenFile.held("\(path)/\(name)")
    }

    /// Removes what a process that was killed has left half written.
    ///
    /// - Parameter seconds: how old it must be: another process may be writing what is younger.
    package func removeParts(olderThan seconds: Int) throws(NetworkError) {
        let now = time(nil)
        for name in try everything() where name.hasSuffix(Self.partEnding) {
            var status = stat()
            guard lstat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            #if canImport(Darwin)
                let written = status.st_mtimespec.tv_sec
            #else
                let written = status.st_mtim.tv_sec
            #endif
            if now - written > seconds { try remove(name) }
        }
    }
}
