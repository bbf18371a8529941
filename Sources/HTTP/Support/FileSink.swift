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

/// A writer that creates or replaces a file atomically.
///
/// It writes to a `.part` file next to the destination and renames it on `commit()`. If the sink is released before
/// that, the `.part` file is removed and the destination is unchanged. Each sink has its own `.part` file, so that two
/// sinks for the same path don't interfere.
///
/// A destination that isn't a regular file, such as `/dev/null` or a pipe, can't be replaced and is written to
/// directly. If the destination is a symbolic link, the link is kept and its target is replaced.
package final class FileSink {
    /// A temporary file that replaces another file when it is complete.
    private struct TemporaryFile {
        let folder: ConfinedFolder
        let name: String
        /// The name of the temporary file.
        let partName: String

        init(of name: String, in folder: ConfinedFolder) {
            self.folder = folder
            self.name = name
            partName = "\(name).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        }
    }

    /// The temporary file, or `nil` if the destination is written to directly.
    private let part: TemporaryFile?
    private let file: OpenFile
    /// The number of bytes written.
    package private(set) var position: Int64 = 0
    private var isCommitted = false

    /// Whether incomplete data is discarded and the destination left unchanged.
    package var discardsIncompleteData: Bool { part != nil }

    /// Creates a sink for a path.
    ///
    /// - Parameters:
    ///   - mayBlock: Whether the call may block until a pipe is read.
    ///   - isPrivate: Whether only its owner may read the file.
    /// - Throws: `NetworkError` of kind `.file` if the destination can't be written.
    package init(path: String, mayBlock: Bool, isPrivate: Bool = false) throws(NetworkError) {
        let path = Self.target(of: path)
        if Self.isReplaceable(path) {
            let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
            let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
            let part = TemporaryFile(of: name, in: ConfinedFolder(path: folder))
            file = try part.folder.file(creating: part.partName, isPrivate: isPrivate)
            self.part = part
        } else {
            guard mayBlock || Self.type(of: path) != S_IFIFO else {
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

    /// Creates a sink for a file in a folder in which links aren't followed.
    ///
    /// - Parameter isPrivate: Whether only its owner may read the file.
    /// - Throws: `NetworkError` of kind `.file`, also if the name exists and is neither a regular file nor a link. A
    ///   link is replaced.
    package init(_ name: String, in folder: ConfinedFolder, isPrivate: Bool = true) throws(NetworkError) {
        try folder.checkReplaceable(name)
        let part = TemporaryFile(of: name, in: folder)
        file = try folder.file(creating: part.partName, isPrivate: isPrivate)
        self.part = part
    }

    deinit {
        guard let part, !isCommitted else { return }
        // A temporary file that can't be removed does no harm.
        do throws(NetworkError) { try part.folder.remove(part.partName) } catch {}
    }

    /// Appends bytes to the file.
    package func write(_ data: Data) throws(NetworkError) {
        do { try data.withUnsafeBytes { try write($0) } } catch { throw NetworkError(wrapping: error) }
    }

    /// Appends bytes to the file.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        try file.write(bytes)
        position += Int64(bytes.count)
    }

    /// Writes a whole body and commits.
    ///
    /// - Parameters:
    ///   - part: The expected part, if the body is a part of a representation. The body is checked against it.
    ///   - onChunk: Called after each chunk is written.
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

    /// Waits until the written bytes are on the disk.
    package func sync() throws(NetworkError) { try file.sync() }

    /// Completes the file and moves it to its destination.
    package func commit() throws(NetworkError) {
        if let part { try part.folder.rename(part.partName, to: part.name) }
        isCommitted = true
    }

    /// Returns whether the path is a regular file or doesn't exist.
    package static func isReplaceable(_ path: String) -> Bool {
        type(of: path).map { $0 == S_IFREG } ?? true
    }

    /// Returns the type of a file, or `nil` if it doesn't exist.
    private static func type(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Returns the path with all links resolved, or the path itself if that isn't possible.
    package static func target(of path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
