import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Recording {
    /// Reads a recording: the directory of a log, or an HTTP Archive.
    ///
    /// An archive may be compressed with gzip or zlib, or be part of a zip archive with its bodies, as Playwright
    /// writes it. The format is detected from the file's first bytes. If an archive is broken, the recording has the
    /// entries before the broken place, and a warning states the place and the reason.
    ///
    /// - Throws: `NetworkError` of kind `.file` if the file cannot be read; of kind `.decoding`, `.encoding` or
    ///   `.tooLarge` if it has no readable entry.
    public init(contentsOf path: String) throws(NetworkError) {
        if RequestLog.Reader.isLog(path) {
            self = try RequestLog.Reader(directory: path).recording()
            return
        }
        let reader = HARReader(contentsOf: path)
        var (entries, warnings): ([LogEntry], [Warning]) = ([], [])
        var breakage: NetworkError?
        do throws(NetworkError) {
            while let next = try reader.next() {
                entries.append(next.entry)
                warnings += next.warnings
            }
        } catch {
            guard !entries.isEmpty, error.kind != .file else { throw error }
            breakage = error
            warnings.append(
                error.underlying as? Warning ?? Warning(file: path, reason: error.message)
            )
        }
        warnings += reader.warnings
        self.init(entries, directory: Self.directory(of: path), warnings: warnings)
        members = reader.members
        zip = reader.zip
        self.breakage = breakage
    }

    /// Returns the directory of an archive, to which the file names of its bodies are relative.
    static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

// MARK: - Bodies

extension Recording {
    /// Returns the bytes of a body.
    ///
    /// A file is read only if it is in or below the recording's directory and the path contains no links, or if it is a
    /// member of the zip archive from which the recording was read. A body file of a log is checked against the SHA-256
    /// in its name. The fields of a form are encoded as `application/x-www-form-urlencoded`.
    ///
    /// - Parameters:
    ///   - body: the body of one of the recording's requests or responses.
    ///   - limit: the maximum size of a file in bytes, 256 MiB by default.
    /// - Throws: `NetworkError` of kind `.file` if the file is missing, outside of the directory, not a regular file,
    ///   or damaged; `.tooLarge` if it is larger than `limit`; `.notStored` if the body wasn't recorded, or if only
    ///   fields of a form with files were.
    public func data(of body: LogEntry.Body, upTo limit: Int = 256 << 20) throws(NetworkError) -> Data {
        switch body.content {
        case .data(let data): return data
        case .parameters(let parameters):
            guard let text = FormText.body(parameters, mediaType: body.mediaType) else {
                throw NetworkError(
                    .notStored,
                    during: .file,
                    "only the fields of the form were recorded, not how it was sent"
                )
            }
            return Data(text.utf8)
        case .omitted(let reason):
            throw NetworkError(.notStored, during: .file, "the body was not recorded: \(reason)")
        case .file(let name):
            let file = try file(name)
            let size = try file.size()
            guard size <= limit else {
                throw NetworkError(.tooLarge, during: .file, "\(name) is larger than the \(limit) bytes allowed")
            }
            var data = Data(capacity: Int(size))
            let reader = VerifiedBodyReader(file, name: name)
            while data.count <= limit, let piece = try reader.next() { data.append(piece) }
            return body.fileCharset?.bytes(ofFile: data) ?? data
        }
    }

    /// Returns a body whose file is read in pieces as it is sent or iterated.
    ///
    /// A damaged file results in an error at its end.
    ///
    /// - Throws: the same errors as `data(of:upTo:)`.
    public func body(of body: LogEntry.Body) throws(NetworkError) -> HTTPBody {
        guard case .file(let name) = body.content, body.fileCharset == nil else { return HTTPBody(try data(of: body)) }
        let file = try file(name)
        return HTTPBody(
            .stream(length: try file.size(), isReplayable: true) {
                let reader = VerifiedBodyReader(file, name: name)
                return { try reader.next() }
            }
        )
    }

    func file(_ name: String) throws(NetworkError) -> OpenFile {
        if let zip { return try zip.file(name) }
        guard let directory else {
            throw NetworkError(.file, during: .build, "cannot read \(name): the recording has no directory")
        }
        do throws(NetworkError) {
            return try ConfinedFolder(path: directory).file(reading: name)
        } catch {
            throw error.whileReading
        }
    }
}

extension Recording {
    /// Writes the recording as an HTTP Archive, with the pages, browser and creator of its source; see `HARWriter`.
    ///
    /// - Returns: warnings about data that is missing from the archive, or changed.
    /// - Throws: `NetworkError` of kind `.file` if the file cannot be written; an existing file then remains unchanged.
    @discardableResult
    public func writeHAR(
        to path: String,
        bodies: HARWriter.Bodies = .embedded
    ) throws(NetworkError) -> [Warning] {
        let writer = try HARWriter(to: path, bodies: bodies)
        for entry in entries { try writer.write(archived(entry)) }
        try writer.finish(members: writableMembers)
        return writer.warnings
    }
}

extension Recording {
    /// Returns the bytes of a completely recorded body.
    ///
    /// - Throws: the errors of `data(of:upTo:)`, and `NetworkError` if only the beginning was recorded.
    func wholeBody(_ body: LogEntry.Body) throws(NetworkError) -> Data {
        if case .omitted = body.content { return try data(of: body) }
        guard !body.isTruncated else {
            throw NetworkError(.notStored, during: .file, "only the beginning of the body was recorded")
        }
        return try data(of: body)
    }
}
