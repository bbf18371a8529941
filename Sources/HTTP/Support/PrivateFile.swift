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

/// A small text file that only its owner may read, for state that a client keeps between launches.
package struct PrivateFile: Sendable {
    /// The maximum size of a file, in bytes. Larger files are rejected.
    private static let limit = 16 << 20

    private let location: Location

    private enum Location {
        case path(String)
        case name(String, ConfinedFolder)
    }

    /// Creates a reference to a file that the user named.
    ///
    /// Links are followed, and a device or a pipe is written to directly.
    package init(path: String) {
        location = .path(path)
    }

    /// Creates a reference to a file in a folder in which links aren't followed.
    package init(_ name: String, in folder: ConfinedFolder) {
        location = .name(name, folder)
    }

    package var path: String {
        switch location {
        case .path(let path): path
        case .name(let name, let folder): folder.path(of: name)
        }
    }

    /// Whether the file exists.
    package var exists: Bool {
        switch location {
        case .path(let path): access(path, F_OK) == 0
        case .name(let name, let folder): folder.status(of: name) != nil
        }
    }

    /// Returns the whole text. Bytes that aren't UTF-8 are replaced.
    ///
    /// - Throws: `NetworkError` of kind `.file` and phase `.build`, because the file is read before anything is sent.
    package func read() throws(NetworkError) -> String {
        try withBytes { String(decoding: $0, as: UTF8.self) }
    }

    private func withBytes<Value>(_ make: (UnsafeRawBufferPointer) -> Value) throws(NetworkError) -> Value {
        do throws(NetworkError) {
            return try contents().withUnsafeBytes(make)
        } catch {
            var error = error
            error.phase = .build
            throw error
        }
    }

    private func contents() throws(NetworkError) -> Data {
        let file =
            switch location {
            case .path(let path): try OpenFile(reading: path)
            case .name(let name, let folder): try folder.file(reading: name)
            }
        return try file.contents(upTo: Self.limit)
    }

    /// Reads the lines that are neither empty nor comments.
    ///
    /// - Parameters:
    ///   - subject: The expected content of a line, with an article.
    ///   - advice: The syntax of a line, for errors.
    ///   - onSkippedLine: Called for each invalid line.
    ///   - isComment: Whether a line is ignored. By default, empty lines and lines that begin with `#` are ignored.
    ///   - make: Parses a line, or returns `nil` if it is invalid.
    /// - Throws: `NetworkError` of kind `.file` for the first invalid line if no line is valid.
    func entries<Entry>(
        _ subject: String,
        advice: String,
        _ onSkippedLine: (NetworkError) -> Void,
        comments isComment: (Substring) -> Bool = { $0.isEmpty || $0.hasPrefix("#") },
        _ make: (Substring) -> Entry?
    ) throws(NetworkError) -> [Entry] {
        var (entries, skipped): ([Entry], [NetworkError]) = ([], [])
        for (index, line) in try lines().enumerated() where !isComment(line) {
            if let entry = make(line) {
                entries.append(entry)
            } else {
                let message = "line \(index + 1) of \(path) is not \(subject)"
                skipped.append(NetworkError(.file, during: .build, message, advice: advice))
            }
        }
        if entries.isEmpty, let first = skipped.first { throw first }
        for error in skipped { onSkippedLine(error) }
        return entries
    }

    /// Returns the lines without their line ends, as opaque text (`String(opaque:)`).
    func lines() throws(NetworkError) -> [Substring] {
        let text = try withBytes { String(opaque: $0) }
        // Split scalars, because a line feed and a combining mark after it would be one `Character`.
        return text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map {
            Substring($0.last == "\r" ? $0.dropLast() : $0)
        }
    }

    /// Writes the text to the file, replacing it atomically.
    package func write(_ text: String) throws(NetworkError) {
        try write(Data(text.utf8))
    }

    /// Writes the bytes to the file, replacing it atomically.
    package func write(_ data: Data) throws(NetworkError) {
        let sink =
            switch location {
            case .path(let path): try FileSink(path: path, mayBlock: true, isPrivate: true)
            case .name(let name, let folder): try FileSink(name, in: folder, isPrivate: true)
            }
        try sink.write(data)
        try sink.commit()
    }

    /// Removes the file, if it exists.
    package func remove() throws(NetworkError) {
        switch location {
        case .path(let path):
            guard unlink(path) == 0 || errno == ENOENT else { throw .file("cannot remove", path, errno) }
        case .name(let name, let folder): try folder.remove(name)
        }
    }

    /// Creates a directory and its parents, if they don't exist, accessible only to their owner.
    package static func makeDirectory(_ path: String) throws(NetworkError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        guard errno == ENOENT, !parent.isEmpty else { throw .file("cannot create", path, errno) }
        try makeDirectory(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .file("cannot create", path, errno) }
    }
}
