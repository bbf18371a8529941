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

    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// Whether there is something.
    package var exists: Bool { access(path, F_OK) == 0 }

    /// The whole text, bytes that are no UTF-8 replaced.
    ///
    /// - Throws: `NetworkError` of kind `.file` and phase `.build`: it is read before anything is sent.
    package func read() throws(NetworkError) -> String {
        try withBytes { String(decoding: $0, as: UTF8.self) }
    }

    private func withBytes<Value>(_ make: (UnsafeRawBufferPointer) -> Value) throws(NetworkError) -> Value {
        do throws(NetworkError) {
            return try contents(make)
        } catch {
            var error = error
            error.phase = .build
            throw error
        }
    }

    private func contents<Value>(_ make: (UnsafeRawBufferPointer) -> Value) throws(NetworkError) -> Value {
        let file = try OpenFile(reading: path)
        let size = try file.size()
        guard size <= Self.limit else {
            throw NetworkError(.file, during: .file, "cannot read \(path): it is larger than \(Self.limit) bytes")
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(size), alignment: 1)
        defer { buffer.deallocate() }
        var count = 0
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let read = try file.read(into: rest, at: Int64(count))
            if read == 0 { break }
            count += read
        }
        return make(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
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
                let message = "line \(index + 1) of \(path) isn't \(subject)"
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
        let part = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        let file = try OpenFile(creating: part, isPrivate: true)
        do {
            try data.withUnsafeBytes { try file.write($0) }
            guard rename(part, path) == 0 else { throw NetworkError.file("cannot rename \(part) to", path, errno) }
        } catch {
            unlink(part)
            throw NetworkError(wrapping: error)
        }
    }

    /// Removes the file; one that is not there is no error.
    package func remove() throws(NetworkError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .file("cannot remove", path, errno) }
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
