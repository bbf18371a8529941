import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Recording {
    /// Reads a recording: a log's directory, or an HTTP Archive, also one compressed by gzip or zlib, or in a zip archive with
    /// its bodies, as Playwright writes it.
    ///
    /// What a file is, its first bytes tell. Of an archive that is broken the entries before that place are there, and a
    /// warning says where it is and what is wrong.
    ///
    /// - Throws: `NetworkError` of kind `.file` where it cannot be read; of kind `.decoding`, `.encoding` or `.tooLarge`
    ///   where it has no entry that can be read.
    public init(contentsOf path: String) throws(NetworkError) {
        if LogReader.isLog(path) {
            self = try LogReader(directory: path).recording()
            return
        }
        let reader = HARReader(contentsOf: path)
        var (entries, warnings): ([LogEntry], [RecordingWarning]) = ([], [])
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
                error.underlying as? RecordingWarning ?? RecordingWarning(file: path, reason: error.message)
            )
        }
        warnings += reader.warnings
        self.init(entries, directory: Self.directory(of: path), warnings: warnings)
        members = reader.members
        zip = reader.zip
        self.breakage = breakage
    }

    /// Where the files are that an archive's bodies name: beside it.
    static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

// MARK: - Bodies

extension Recording {
    /// The bytes of a body.
    ///
    /// A file is only read if it lies in or below the recording's directory and no link leads to it, or if it is a member of the
    /// zip archive from which the recording was read; that of a log's body
    /// is held to the SHA-256 that names it. The fields of a form are written as `application/x-www-form-urlencoded`.
    ///
    /// - Parameters:
    ///   - body: of one of the recording's messages.
    ///   - limit: the most bytes of a file that are read, 256 MiB by default.
    /// - Throws: `NetworkError` of kind `.file` where the file is not there, leads out of the directory, is no regular file,
    ///   or is damaged; `.tooLarge` where it is larger than `limit`; `.notStored` where the body was not kept, or only fields of a
    ///   form that had files.
    public func data(of body: LoggedBody, upTo limit: Int = 256 << 20) throws(NetworkError) -> Data {
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
            let reader = SealedReader(file, name: name)
            while data.count <= limit, let piece = try reader.next() { data.append(piece) }
            return body.fileCharset?.bytes(ofFile: data) ?? data
        }
    }

    /// A body whose file is read as it is sent or iterated, and never held in memory: where it is damaged its end is an error.
    ///
    /// - Throws: as `data(of:upTo:)`.
    public func body(of body: LoggedBody) throws(NetworkError) -> HTTPBody {
        guard case .file(let name) = body.content, body.fileCharset == nil else { return HTTPBody(try data(of: body)) }
        let file = try file(name)
        return HTTPBody(
            .stream(length: try file.size(), isReplayable: true) {
                let reader = SealedReader(file, name: name)
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
    /// Writes an HTTP Archive of it, with pages, browser and creator of the one that it was read from; see `HARWriter`.
    ///
    /// - Returns: what is not in it, or not as it was.
    /// - Throws: `NetworkError` of kind `.file` where the file cannot be written; what was there stays.
    @discardableResult
    public func writeHAR(
        to path: String,
        bodies: HARWriter.Bodies = .embedded
    ) throws(NetworkError) -> [RecordingWarning] {
        let writer = try HARWriter(to: path, bodies: bodies)
        for entry in entries { try writer.write(archived(entry)) }
        try writer.finish(members: writableMembers)
        return writer.warnings
    }
}
