import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Writes an HTTP Archive (HAR 1.2) that browsers' tools, Playwright and mitmproxy read.
///
/// Entries may come in any order and number: they are kept in a file without a name beside the archive until `finish()`,
/// which puts them in the order of their times. Only then the archive is there, all at once, and nobody but its owner may
/// read it. One entry at a time is in memory. An entry of another archive that was not changed keeps its bytes.
public final class HARWriter {
    /// Where bodies are.
    public enum Bodies: Sendable, Hashable {
        /// In the archive: text as it is, the rest as base64.
        case embedded
        /// Those of answers in files named by their SHA-256 in a directory beside the archive, `NAME_files`, as Playwright
        /// has them; those of requests, which other tools look for in the archive alone, in it.
        case attached
    }

    /// How the file is compressed.
    public enum Compression: Sendable, Hashable {
        /// Not at all.
        case none
        /// By gzip, as HAR 1.2 has it.
        case gzip
        /// By zlib, as mitmproxy has it.
        case zlib

        /// By the ending of a name: `.gz` is gzip, and `.zhar` is zlib, as mitmproxy writes it.
        public init(path: String) {
            let name = path.lowercased()
            self = name.hasSuffix(".gz") ? .gzip : name.hasSuffix(".zhar") ? .zlib : .none
        }
    }

    /// What is not in the archive, or not as it was: bodies whose files cannot be read.
    public private(set) var warnings: [RecordingWarning] = []

    private let path: String
    private let bodies: Bodies
    private let compression: Compression
    /// The entries as they came.
    private let spool: OpenFile
    private var spooled: [Spooled] = []
    private var position: Int64 = 0

    private struct Spooled {
        /// Microseconds since 1970.
        let started: Int64
        let offset: Int64
        let count: Int
    }

    /// Nothing is at `path` before `finish()`.
    ///
    /// - Parameters:
    ///   - path: where the archive goes; what is there is replaced by `finish()`.
    ///   - bodies: where bodies go; into the archive by default.
    ///   - compression: where nil, `path` tells by its ending.
    /// - Throws: `NetworkError` of kind `.file` where nothing can be written in that directory.
    public init(to path: String, bodies: Bodies = .embedded, compression: Compression? = nil) throws(NetworkError) {
        self.path = path
        self.bodies = bodies
        self.compression = compression ?? Compression(path: path)
        // Beside a device or a pipe there may be no room.
        let isFile = FileSink.isReplaceable(path)
        let directory = isFile ? Recording.directory(of: path) : FileManager.default.temporaryDirectory.path
        spool = try OpenFile(scratchIn: directory)
    }

    /// Adds an entry.
    ///
    /// - Throws: `NetworkError` of kind `.file` where it cannot be written. A body whose file cannot be read is a warning.
    public func write(_ entry: HAREntry) throws(NetworkError) {
        let text = try text(of: entry)
        try text.withRawBytes { bytes throws(NetworkError) in try spool.write(bytes) }
        let micros = (entry.entry.started.timeIntervalSince1970 * 1e6).rounded()
        let started = Int64(exactly: micros) ?? (micros < 0 ? .min : .max)
        spooled.append(Spooled(started: started, offset: position, count: text.count))
        position += Int64(text.count)
    }

    /// Writes the archive.
    ///
    /// - Parameter members: those of `log` beside the entries, as `HARReader` gives them; version and creator are ours
    ///   where they are missing.
    /// - Throws: `NetworkError` of kind `.file` where it cannot be written; what was at its place stays.
    public func finish(members: [HARReader.Member] = []) throws(NetworkError) {
        let output = try ArchiveOutput(path: path, compression)
        try output.write(Self.head(members))
        // In their order where moments are the same.
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

    /// What stands before the entries.
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

    private func text(of entry: HAREntry) throws(NetworkError) -> [UInt8] {
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

    /// The text of an entry in which the body of a message is at another place; all else keeps its bytes.
    private func moved(
        _ place: [String],
        of text: [UInt8],
        _ entry: HAREntry,
        encodingName: StaticString,
        _ home: (_ body: Data, _ mediaType: String) throws(NetworkError) -> BodyHome
    ) throws(NetworkError) -> [UInt8] {
        guard let document = try? JSONDocument(text), let node = document.root[place[0]]?[place[1]] else { return text }
        let body = place[0] == "request" ? entry.entry.request.body : entry.entry.response?.body
        guard let body else { return text }
        let data: Data
        do throws(NetworkError) {
            data = try entry.files.data(of: body)
        } catch {
            let path = "\(place.joined(separator: "."))._file"
            warnings.append(RecordingWarning(file: self.path, path: path, reason: error.message))
            // Other tools fail on a request's body without text.
            guard place[0] == "request" else { return text }
            data = Data()
        }
        let home = try home(data, body.mediaType)
        let charset = place[0] == "request" ? entry.entry.request.charset : entry.entry.response?.charset
        return text[..<node.range.lowerBound] + home.text(of: node, charset, encodingName: encodingName)
            + text[node.range.upperBound...]
    }

    /// Puts a body into a file of its own.
    ///
    /// - Returns: its path, from the archive.
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

/// Where the body of a message is to be.
private enum BodyHome {
    case text(Data)
    case file(String)

    /// The object that has it, its other members as they are.
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

extension HAREntry {
    /// Its text, without line feeds where it is ours.
    fileprivate var text: [UInt8] {
        if let json { return json }
        var output = JSONOutput()
        entry.write(to: &output)
        return output.bytes
    }
}

extension MediaType {
    /// The ending by which people's programs know a file.
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
