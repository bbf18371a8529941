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

/// A small text file that nobody but its owner may read: what a client remembers between two runs.
package struct PrivateFile: Sendable {
    /// Larger ones are refused, in bytes.
    private static let limit = 16 << 20

    private let place: Place

    private enum Place {
        case path(String)
        case name(String, ConfinedFolder)
    }

    /// A file that the user named: a link leads to it, and a device or a pipe is written to.
    package init(path: String) {
        place = .path(path)
    }

    /// A file of a folder in which no link is followed.
    package init(_ name: String, in folder: ConfinedFolder) {
        place = .name(name, folder)
    }

    package var path: String {
        switch place {
        case .path(let path): path
        case .name(let name, let folder): folder.path(of: name)
        }
    }

    /// Whether there is something.
    package var exists: Bool {
        switch place {
        case .path(let path): access(path, F_OK) == 0
        case .name(let name, let folder): folder.status(of: name) != nil
        }
    }

    /// The whole text, bytes that are no UTF-8 replaced.
    ///
    /// - Throws: `NetworkError` of kind `.file` and phase `.build`: it is read before anything is sent.
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
            switch place {
            case .path(let path): try OpenFile(reading: path)
            case .name(let name, let folder): try folder.file(reading: name)
            }
        return try file.contents(upTo: Self.limit)
    }

    /// Reads the lines that are neither empty nor comments.
    ///
    /// - Parameters:
    ///   - subject: What a line holds, with its article.
    ///   - advice: How to write a line.
    ///   - onSkippedLine: Called for each line that can't be read.
    ///   - isComment: Whether a line is passed over; by default if it is empty or begins with `#`.
    ///   - make: Makes an entry of a line; `nil` if the line can't be read.
    /// - Throws: `NetworkError` of kind `.file`: the first skipped line, if there is no entry beside it.
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

    /// The lines of the text, without their ends; opaque text (`String(opaque:)`).
    func lines() throws(NetworkError) -> [Substring] {
        let text = try withBytes { String(opaque: $0) }
        // Among scalars: a combining character behind a mark makes one `Character` of the two.
        return text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map {
            Substring($0.last == "\r" ? $0.dropLast() : $0)
        }
    }

    /// Puts a file of this text in the place of the one that is there, all at once.
    package func write(_ text: String) throws(NetworkError) {
        try write(Data(text.utf8))
    }

    /// Puts a file of these bytes in the place of the one that is there, all at once.
    package func write(_ data: Data) throws(NetworkError) {
        let sink =
            switch place {
            case .path(let path): try FileSink(path: path, mayWait: true, isPrivate: true)
            case .name(let name, let folder): try FileSink(name, in: folder, isPrivate: true)
            }
        try sink.write(data)
        try sink.commit()
    }

    /// Removes the file; one that is not there is no error.
    package func remove() throws(NetworkError) {
        switch place {
        case .path(let path):
            guard unlink(path) == 0 || errno == ENOENT else { throw .file("cannot remove", path, errno) }
        case .name(let name, let folder): try folder.remove(name)
        }
    }

    /// Makes a directory, and those above it, for its owner alone; one that is there stays as it is.
    package static func makeDirectory(_ path: String) throws(NetworkError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        guard errno == ENOENT, !parent.isEmpty else { throw .file("cannot create", path, errno) }
        try makeDirectory(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .file("cannot create", path, errno) }
    }
}
