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

/// Writes to a `.part` file beside `PATH` and renames it to `PATH` when all is there; else it is removed and `PATH` is
/// as it was. Each sink has a part of its own, so that two of the same path don't meet.
///
/// What is no regular file, such as `/dev/null` or a pipe, must not be replaced: it is written to as it is. A symbolic
/// link stays, and the file that it leads to is replaced.
package final class FileSink {
    /// A file that takes another's place when it is whole.
    private struct Part {
        let folder: ConfinedFolder
        let name: String
        /// The file's name until then.
        let partName: String

        init(of name: String, in folder: ConfinedFolder) {
            self.folder = folder
            self.name = name
            partName = "\(name).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        }
    }

    /// `nil` if the file itself is written to.
    private let part: Part?
    private let file: OpenFile
    /// Bytes written.
    package private(set) var position: Int64 = 0
    private var isCommitted = false

    /// Whether what is not whole leaves nothing behind.
    package var isUndone: Bool { part != nil }

    /// - Parameters:
    ///   - mayWait: whether the caller may be held up by the reader of a pipe.
    ///   - isPrivate: whether nobody but its owner may read the file.
    /// - Throws: `NetworkError` of kind `.file` where nothing can be written there.
    package init(path: String, mayWait: Bool, isPrivate: Bool = false) throws(NetworkError) {
        let path = Self.target(of: path)
        if Self.isReplaceable(path) {
            let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
            let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
            let part = Part(of: name, in: ConfinedFolder(path: folder))
            file = try part.folder.file(creating: part.partName, isPrivate: isPrivate)
            self.part = part
        } else {
            guard mayWait || Self.type(of: path) != S_IFIFO else {
                throw NetworkError(
                    .file,
                    during: .file,
                    "cannot replace \(path): it is a pipe",
                    advice: "stream the body into it"
                )
            }
            file = try OpenFile(writing: path)
            part = nil
        }
    }

    /// Writes a file of a folder in which no link is followed.
    ///
    /// - Parameter isPrivate: Whether only its owner may read the file.
    /// - Throws: `NetworkError` of kind `.file`, also if there is something of that name that is neither a regular file nor
    ///   a link. A link is replaced.
    package init(_ name: String, in folder: ConfinedFolder, isPrivate: Bool = true) throws(NetworkError) {
        try folder.checkReplaceable(name)
        let part = Part(of: name, in: folder)
        file = try folder.file(creating: part.partName, isPrivate: isPrivate)
        self.part = part
    }

    deinit {
        guard let part, !isCommitted else { return }
        // What cannot be removed is a file of its own.
        do throws(NetworkError) { try part.folder.remove(part.partName) } catch {}
    }

    /// Writes all bytes behind those written before.
    package func write(_ data: Data) throws(NetworkError) {
        do { try data.withUnsafeBytes { try write($0) } } catch { throw NetworkError(wrapping: error) }
    }

    /// Writes all bytes behind those written before.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        try file.write(bytes)
        position += Int64(bytes.count)
    }

    /// Writes all that a body gives, and commits.
    ///
    /// - Parameters:
    ///   - part: What the body is held to, if it is that of a part.
    ///   - onChunk: called after each piece was written.
    package func write(
        contentsOf body: HTTPBody,
        of part: PartialBody? = nil,
        onChunk: (Data) -> Void
    ) async throws(NetworkError) {
        var part = part
        try await NetworkError.catching {
            for try await chunk in body {
                try part?.take(chunk.count)
                try chunk.withUnsafeBytes { try write($0) }
                onChunk(chunk)
            }
        }
        try part?.finish()
        try commit()
    }

    /// Waits until what was written is on the disk.
    package func sync() throws(NetworkError) { try file.sync() }

    /// All is there.
    package func commit() throws(NetworkError) {
        if let part { try part.folder.rename(part.partName, to: part.name) }
        isCommitted = true
    }

    /// Whether there is nothing, or a regular file.
    package static func isReplaceable(_ path: String) -> Bool {
        type(of: path).map { $0 == S_IFREG } ?? true
    }

    /// The type of what is there; nil where there is nothing.
    private static func type(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Where a symbolic link leads; the path itself where it is none, or leads nowhere.
    package static func target(of path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
