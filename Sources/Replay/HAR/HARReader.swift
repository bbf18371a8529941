import BeagleNetHTTP

/// Reads an HTTP Archive (HAR 1.2) entry by entry, as browsers, proxies and other tools write it.
///
/// The file is read in pieces, so that no more than one entry is in memory. It may be compressed by gzip or zlib, or be in a
/// zip archive with the files of its bodies, as Playwright writes it; its first bytes tell. What is missing in an entry, or
/// is of another type, is taken for what it most likely means, and the entry's `warnings` say so.
/// Source: http://www.softwareishard.com/blog/har-12-spec/
public final class HARReader {
    /// The largest archives that are read.
    public struct Limits: Sendable, Hashable {
        /// Bytes of one entry's text; 128 MiB by default.
        public var entryBytes: Int
        /// Bytes of the whole text of a file that is compressed, since a small one may hold any number; 4 GiB by default. In a
        /// zip archive each file of a body is read up to 256 MiB.
        public var textBytes: Int

        /// Limits; those by default where not said.
        public init(entryBytes: Int = 128 << 20, textBytes: Int = 4 << 30) {
            self.entryBytes = entryBytes
            self.textBytes = textBytes
        }
    }

    /// A member of an archive beside its entries, as `creator` or `pages`.
    public struct Member: Sendable, Hashable {
        /// Its name.
        public let name: String
        /// Its value as JSON text.
        public let json: [UInt8]

        /// A member.
        public init(name: String, json: [UInt8]) {
            self.name = name
            self.json = json
        }
    }

    /// The file.
    public let path: String
    /// The members of `log` that were read so far: some tools write them behind the entries.
    public private(set) var members: [Member] = []
    /// Elements of `log.entries` that are none, the first thousand of them.
    public private(set) var warnings: [RecordingWarning] = []
    private let file: ArchiveFile
    /// The zip archive that the file is; `nil` if it is none, or if it was not read yet.
    package var zip: ZipArchive? { file.zip }

    /// Opens nothing yet: a file that is not there is an error of `next()`.
    public init(contentsOf path: String, limits: Limits = Limits()) {
        self.path = path
        file = ArchiveFile(path: path, limits: limits)
    }

    /// The next entry; nil at the end.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` where the file is broken, with what is wrong, byte offset and JSON path
    ///   in its message, and as a `RecordingWarning` in `underlying`; `.encoding` or `.tooLarge` likewise; `.file` where it
    ///   cannot be read. What comes before that place has been given.
    public func next() throws(NetworkError) -> HAREntry? {
        while let part = try file.next() {
            switch part.kind {
            case .entry:
                if let entry = try HAREntry(part, of: path, file.zip) { return entry }
                guard warnings.count < 1_000 else { continue }
                let reason = "is not an entry: it has no request"
                warnings.append(RecordingWarning(file: path, offset: part.offset, path: part.path, reason: reason))
            case .logMember(let name): members.append(Member(name: name, json: part.bytes))
            case .outerMember: break
            }
        }
        return nil
    }
}

/// An entry of an archive, and how it is written there.
public struct HAREntry: Sendable {
    /// What it says.
    public var entry: LogEntry {
        didSet { if entry != oldValue { json = nil } }
    }
    /// It as it is written, by which `HARWriter` keeps what nobody here knows; nil once `entry` has changed.
    public private(set) var json: [UInt8]?
    /// Bytes of the archive's text before it.
    public let offset: Int
    /// Where the files are that its bodies name; nil where there is no such place.
    public let directory: String?
    /// What is not as HAR 1.2 has it, or was guessed.
    public private(set) var warnings: [RecordingWarning]
    private let zip: ZipArchive?

    /// An entry that comes of no archive.
    ///
    /// - Parameters:
    ///   - entry: the exchange.
    ///   - directory: where the files are that its bodies name.
    public init(_ entry: LogEntry, directory: String? = nil) {
        self.init(entry, directory: directory, zip: nil)
    }

    init(_ entry: LogEntry, directory: String?, zip: ZipArchive?) {
        self.entry = entry
        self.directory = directory
        self.zip = zip
        offset = 0
        warnings = []
    }

    /// nil where it has no request.
    init?(_ part: ArchivePart, of file: String, _ zip: ZipArchive?) throws(NetworkError) {
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(part.bytes)
        } catch {
            // The scanner has let it pass already.
            throw NetworkError(.decoding, during: .file, "\(file), \(part.path): \(error.reason)")
        }
        guard document.root["request"]?.kind == .object else { return nil }
        var warnings: [RecordingWarning] = []
        entry = LogEntry(document.root) { path, reason in
            warnings.append(
                RecordingWarning(file: file, offset: part.offset, path: "\(part.path).\(path)", reason: reason)
            )
        }
        json = part.bytes
        offset = part.offset
        directory = Recording.directory(of: file)
        self.zip = zip
        self.warnings = warnings
        readMessages { reason in
            let path = "\(part.path).response.content._file"
            return RecordingWarning(file: file, offset: part.offset, path: path, reason: reason)
        }
    }
}

extension HAREntry {
    /// A recording without entries that reads the files which the entry's bodies name.
    package var files: Recording {
        var files = Recording([], directory: directory)
        files.zip = zip
        return files
    }

    /// The largest file of messages, in bytes.
    private static let messageLimit = 64 << 20

    /// Reads the messages of a WebSocket, which Playwright attaches as a file of JSON lines in the place of a body.
    private mutating func readMessages(_ warning: (_ reason: String) -> RecordingWarning) {
        guard entry.messages.isEmpty, let response = entry.response, response.status == 101,
            case .file(let name) = response.body.content, name.hasSuffix(".jsonl")
        else { return }
        var read = entry
        read.response?.body = LoggedBody(mediaType: response.body.mediaType)
        do throws(NetworkError) {
            let lines = Array(try files.data(of: response.body, upTo: Self.messageLimit))
            for (index, line) in lines.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).enumerated() {
                do throws(JSONFault) {
                    read.messages.append(LoggedMessage(try JSONDocument(Array(line)).root))
                } catch {
                    warnings.append(warning("names a file in which message \(index + 1) is damaged: \(error.reason)"))
                }
            }
        } catch {
            warnings.append(warning("names a file of messages that cannot be read: \(error.message)"))
            read.error = read.error ?? "the messages of the WebSocket are missing"
        }
        // The entry isn't as it is written any more: its messages are part of it.
        entry = read
    }
}
