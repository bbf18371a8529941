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
    private let path: String
    /// The file written until it is whole; nil where `path` itself is written to.
    private let part: String?
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
        self.path = path
        if Self.isReplaceable(path) {
            let part = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
            file = try OpenFile(creating: part, isPrivate: isPrivate)
            self.part = part
        } else {
            guard mayWait || Self.type(of: path) != S_IFIFO else {
                throw NetworkError(.file, during: .file, "\(path) is a pipe", advice: "stream the body into it")
            }
            file = try OpenFile(writing: path)
            part = nil
        }
    }

    deinit {
        if let part, !isCommitted { unlink(part) }
    }

    /// Writes all bytes behind those written before.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        try file.write(bytes)
        position += Int64(bytes.count)
    }

    /// Writes all that a body gives, and commits.
    ///
    /// - Parameter onChunk: called after each piece was written.
    package func write(contentsOf body: HTTPBody, onChunk: (Data) -> Void) async throws(NetworkError) {
        try await NetworkError.catching {
            for try await chunk in body {
                try chunk.withUnsafeBytes { try write($0) }
                onChunk(chunk)
            }
        }
        try commit()
    }

    /// All is there.
    package func commit() throws(NetworkError) {
        if let part, rename(part, path) != 0 { throw .file("cannot rename \(part) to", path, errno) }
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
    static func target(of path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
