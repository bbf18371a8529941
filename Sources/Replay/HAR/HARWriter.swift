import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A writer of HTTP Archives (HAR 1.2) that browser tools, Playwright and mitmproxy can read.
///
/// Entries may be added in any order and number. They are stored in an unnamed temporary file beside the archive until
/// `finish()` sorts them by time. The archive appears only then, complete, and only its owner can read it. One entry at
/// a time is in memory. An unchanged entry of another archive keeps its bytes.
public final class HARWriter {
    /// The location of bodies.
    public enum Bodies: Sendable, Hashable {
        /// In the archive: text unchanged, other data as base64.
        case embedded
        /// In files, as Playwright does.
        ///
        /// Response bodies are files named by their SHA-256 in a directory `NAME_files` beside the archive. Request
        /// bodies remain in the archive, because other tools don't look for them elsewhere.
        case attached
    }

    /// The compression of the file.
    public enum Compression: Sendable, Hashable {
        /// No compression.
        case none
        /// Compression with gzip, as in HAR 1.2.
        case gzip
        /// Compression with zlib, as in mitmproxy.
        case zlib

        /// Selects the compression by the extension of a path: `.gz` for gzip, and `.zhar` for zlib, as mitmproxy
        /// writes it.
        public init(path: String) {
            let name = path.lowercased()
            self = name.hasSuffix(".gz") ? .gzip : name.hasSuffix(".zhar") ? .zlib : .none
        }
    }

    /// The data that is missing from the archive or changed, such as bodies whose files cannot be read.
    public private(set) var warnings: [Recording.Warning] = []

    private let path: String
    private let bodies: Bodies
    private let compression: Compression
    /// The temporary file with the entries in the order of their arrival.
    private let spool: OpenFile
    private var spooled: [Spooled] = []
    private var position: Int64 = 0

    private struct Spooled {
        /// The start time in microseconds since 1970.
        let started: Int64
        let offset: Int64
        let count: Int
    }

    /// Creates a writer.
    ///
    /// The archive appears at `path` only after `finish()`.
    ///
    /// - Parameters:
    ///   - path: the path of the archive; `finish()` replaces an existing file.
    ///   - bodies: the location of bodies; in the archive by default.
    ///   - compression: the compression; if `nil`, it is selected by the extension of `path`.
    /// - Throws: `NetworkError` of kind `.file` if the directory is not writable.
    public init(to path: String, bodies: Bodies = .embedded, compression: Compression? = nil) throws(NetworkError) {
        self.path = path
        self.bodies = bodies
        self.compression = compression ?? Compression(path: path)
        // The directory of a device or a pipe may not be writable.
        let isFile = FileSink.isReplaceable(path)
        let directory = isFile ? Recording.directory(of: path) : FileManager.default.temporaryDirectory.path
        spool = try OpenFile(temporaryIn: directory)
    }

    /// Adds an entry.
    ///
    /// - Throws: `NetworkError` of kind `.file` if the entry cannot be written. A body whose file cannot be read
    ///   results in a warning.
    public func write(_ entry: Entry) throws(NetworkError) {
        let text = try text(of: entry)
        try text.withRawBytes { bytes throws(NetworkError) in try spool.write(bytes) }
        let micros = (entry.entry.started.timeIntervalSince1970 * 1e6).rounded()
        let started = Int64(exactly: micros) ?? (micros < 0 ? .min : .max)
        spooled.append(Spooled(started: started, offset: position, count: text.count))
        position += Int64(text.count)
    }

    /// Writes the archive.
    ///
    /// - Parameter members: the members of `log` beside the entries, as `HARReader` returns them; version and creator
    ///   have defaults.
    /// - Throws: `NetworkError` of kind `.file` if the archive cannot be written; an existing file then remains
    ///   unchanged.
    public func finish(members: [HARReader.Member] = []) throws(NetworkError) {
        let output = try ArchiveOutput(path: path, compression)
        try output.write(Self.head(members))
        // Entries with the same time keep their order.
        let order = spooled.enumerated().sorted { ($0.element.started, $0.offset) < ($1.element.started, $1.offset) }
        for (index, entry) in order.lazy.map(\.element).enumerated() {
            try output.write(Array((index == 0 ? "\n" : ",\n").utf8))
            try copy(entry, to: output)
        }
        try output.write(Array("\n]}}\n".utf8))
        try output.finish()
    }

    private func copy(_ entry: Spooled, to output: ArchiveOutput) throws(NetworkError) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: min(entry.count, 1 << 20), alignment: 1)
        defer { room.deallocate() }
        var done = 0
        while done < entry.count {
            let wanted = UnsafeMutableRawBufferPointer(rebasing: room.prefix(entry.count - done))
            let count = try spool.read(into: wanted, at: entry.offset + Int64(done))
            guard count > 0 else {
                throw NetworkError(.file, during: .file, "the temporary file for \(path) is truncated")
            }
            try output.write(UnsafeRawBufferPointer(rebasing: wanted[..<count]))
            done += count
        }
    }

    /// Returns the text before the entries.
    private static func head(_ members: [HARReader.Member]) -> [UInt8] {
        var output = JSONOutput()
        output.object { output in
            let names = Set(members.map(\.name))
            if !names.contains("version") { output.member("version", "1.2") }
            if !names.contains("creator") {
                output.name("creator")
                output.object { output in
                    output.member("name", "BeagleNet")
                    output.member("version", beagleNetVersion)
                }
            }
            for member in members where member.name != "entries" {
                output.name(escaping: member.name)
                output.raw(member.json)
            }
            output.name("entries")
            output.array { _ in }
        }
        return Array("{\"log\":".utf8) + output.bytes.dropLast(2)
    }

    // MARK: - Bodies

    private func text(of entry: Entry) throws(NetworkError) -> [UInt8] {
        var text = entry.text
        let (request, response) = (entry.entry.request.body, entry.entry.response?.body)
        if case .file = request?.content {
            text = try moved(["request", "postData"], of: text, entry, encodingName: "_encoding") { body, _ in
                .text(body)
            }
        }
        switch (response?.content, bodies) {
        case (.file, .embedded):
            text = try moved(["response", "content"], of: text, entry, encodingName: "encoding") { body, _ in
                .text(body)
            }
        case (.file, .attached), (.data, .attached):
            if response?.content == .data(Data()) { break }
            text = try moved(["response", "content"], of: text, entry, encodingName: "encoding") {
                body,
                type throws(NetworkError) in
                .file(try self.attach(body, type))
            }
        default: break
        }
        return text
    }

    /// Moves a message's body to another location in an entry's text. All other bytes remain unchanged.
    private func moved(
        _ place: [String],
        of text: [UInt8],
        _ entry: Entry,
        encodingName: StaticString,
        _ location: (_ body: Data, _ mediaType: String) throws(NetworkError) -> BodyLocation
    ) throws(NetworkError) -> [UInt8] {
        guard let document = try? ParsedJSON(text), let node = document.root[place[0]]?[place[1]] else { return text }
        let body = place[0] == "request" ? entry.entry.request.body : entry.entry.response?.body
        guard let body else { return text }
        let data: Data
        do throws(NetworkError) {
            data = try entry.files.data(of: body)
        } catch {
            let path = "\(place.joined(separator: "."))._file"
            warnings.append(Recording.Warning(file: self.path, path: path, reason: error.message))
            // Other tools fail if a request's body has no text.
            guard place[0] == "request" else { return text }
            data = Data()
        }
        let location = try location(data, body.mediaType)
        let charset = place[0] == "request" ? entry.entry.request.charset : entry.entry.response?.charset
        return text[..<node.range.lowerBound] + location.text(of: node, charset, encodingName: encodingName)
            + text[node.range.upperBound...]
    }

    /// Writes a body to a file of its own.
    ///
    /// - Returns: the file's path relative to the archive.
    private func attach(_ body: Data, _ mediaType: String) throws(NetworkError) -> String {
        let archive = path.split(separator: "/").last.map(String.init) ?? path
        let folder = "\(archive.split(separator: ".", maxSplits: 1).first.map(String.init) ?? archive)_files"
        let parent = ConfinedFolder(path: Recording.directory(of: path))
        let name = "\(try SHA256Digest.hex(of: body))\(MediaType(mediaType)?.fileEnding ?? "")"
        try parent.makeFolder(folder)
        let sink = try FileSink(name, in: parent.folder(folder))
        try sink.write(body)
        try sink.commit()
        return "\(folder)/\(name)"
    }
}

/// The new location of a message's body.
private enum BodyLocation {
    case text(Data)
    case file(String)

    /// Returns the object that contains the body, with its other members unchanged.
    func text(of node: JSONNode, _ charset: Charset?, encodingName: StaticString) -> [UInt8] {
        var output = JSONOutput()
        output.object { output in
            for (name, value) in node.members where !["text", "encoding", "_encoding", "_file"].contains(name) {
                output.name(escaping: name)
                output.raw(value.raw)
            }
            switch self {
            case .text(let data): output.text(of: data, charset, encodingName: encodingName)
            case .file(let path): output.member("_file", path)
            }
        }
        return output.bytes
    }
}

extension HARWriter.Entry {
    /// The JSON text of the entry; without line feeds unless it was read from an archive.
    fileprivate var text: [UInt8] {
        if let json { return json }
        var output = JSONOutput()
        entry.write(to: &output)
        return output.bytes
    }
}

extension MediaType {
    /// The file extension for the media type.
    fileprivate var fileEnding: String? {
        switch essence {
        case "text/html": ".html"
        case "text/plain": ".txt"
        case "text/css": ".css"
        case "text/javascript", "application/javascript": ".js"
        case "image/png": ".png"
        case "image/jpeg": ".jpg"
        case "image/gif": ".gif"
        case "image/webp": ".webp"
        case "image/svg+xml": ".svg"
        case let type where type.hasSuffix("/json") || type.hasSuffix("+json"): ".json"
        default: nil
        }
    }
}
