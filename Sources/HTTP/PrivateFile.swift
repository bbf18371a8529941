#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A small text file that nobody but its owner may read: what a client remembers between two runs.
struct PrivateFile {
    /// Larger ones are refused, in bytes.
    private static let limit = 16 << 20

    let path: String

    /// The whole text, bytes that are no UTF-8 replaced.
    ///
    /// - Throws: `NetworkError` of kind `.file` and phase `.build`: it is read before anything is sent.
    func read() throws(NetworkError) -> String {
        do throws(NetworkError) {
            return try contents()
        } catch {
            var error = error
            error.phase = .build
            throw error
        }
    }

    private func contents() throws(NetworkError) -> String {
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
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// The lines of the text, without their ends.
    func lines() throws(NetworkError) -> [Substring] {
        // Among scalars: a combining character behind a mark makes one `Character` of the two.
        try read().unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map {
            Substring($0.last == "\r" ? $0.dropLast() : $0)
        }
    }

    /// Puts a file of this text in the place of the one that is there, all at once.
    func write(_ text: String) throws(NetworkError) {
        let part = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        let file = try OpenFile(creating: part, isPrivate: true)
        do {
            try Array(text.utf8).withUnsafeBytes { try file.write($0) }
            guard rename(part, path) == 0 else { throw NetworkError.file("cannot rename \(part) to", path, errno) }
        } catch {
            unlink(part)
            throw NetworkError(wrapping: error)
        }
    }
}
