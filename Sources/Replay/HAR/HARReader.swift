import BeagleNetHTTP

/// A reader of HTTP Archives (HAR 1.2) that were written by browsers, proxies and other tools.
///
/// The file is read in pieces, so only one entry is in memory at a time. It may be compressed with gzip or zlib, or be
/// in a zip archive together with the files of its bodies, as Playwright writes it; the format is detected from its
/// first bytes. Members that are missing or of a wrong type get their most likely value, and the entry's `warnings`
/// report them.
/// Source: http://www.softwareishard.com/blog/har-12-spec/
public final class HARReader {
    /// The limits on the size of archives.
    public struct Limits: Sendable, Hashable {
        /// The maximum size of an entry's text in bytes, 128 MiB by default.
        public var entryBytes: Int
        /// The maximum size of the decompressed text in bytes, 4 GiB by default.
        ///
        /// It protects against small files that expand to huge ones. In a zip archive, each file of a body is limited
        /// to 256 MiB.
        public var textBytes: Int

        /// Creates limits.
        public init(entryBytes: Int = 128 << 20, textBytes: Int = 4 << 30) {
            self.entryBytes = entryBytes
            self.textBytes = textBytes
        }
    }

    /// A member of an archive beside its entries, such as `creator` or `pages`.
    public struct Member: Sendable, Hashable {
        /// The member's name.
        public let name: String
        /// The member's value as JSON text.
        public let json: [UInt8]

        /// Creates a member.
        public init(name: String, json: [UInt8]) {
            self.name = name
            self.json = json
        }
    }

    /// The path of the file.
    public let path: String
    /// The members of `log` that were read so far.
    ///
    /// Some tools write them after the entries.
    public private(set) var members: [Member] = []
    /// Warnings about the first thousand elements of `log.entries` that are not valid entries.
    public private(set) var warnings: [Recording.Warning] = []
    private let file: ArchiveFile
    /// The zip archive, if the file is one; `nil` otherwise, or if nothing has been read yet.
    package var zip: ZipArchive? { file.zip }

    /// Creates a reader.
    ///
    /// The file is opened by the first call of `next()`, which throws if it doesn't exist.
    public init(contentsOf path: String, limits: Limits = Limits()) {
        self.path = path
        file = ArchiveFile(path: path, limits: limits)
    }

    /// Returns the next entry; `nil` at the end.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` if the file is broken; its message contains the reason, byte offset
    ///   and JSON path, and `underlying` is a `Recording.Warning`. Likewise `.encoding` or `.tooLarge`. `.file` if the
    ///   file cannot be read. All entries before the broken place have been returned.
    public func next() throws(NetworkError) -> HARWriter.Entry? {
        while let part = try file.next() {
            switch part.kind {
            case .entry:
                if let entry = try HARWriter.Entry(part, of: path, file.zip) { return entry }
                guard warnings.count < 1_000 else { continue }
                let reason = "is not an entry: it has no request"
                warnings.append(Recording.Warning(file: path, offset: part.offset, path: part.path, reason: reason))
            case .logMember(let name): members.append(Member(name: name, json: part.bytes))
            case .outerMember: break
            }
        }
        return nil
    }
}

extension HARWriter {
    /// An entry of an archive, with its original JSON text.
    public struct Entry: Sendable {
        /// The parsed entry.
        public var entry: LogEntry {
            didSet { if entry != oldValue { json = nil } }
        }
        /// The original JSON text, from which `HARWriter` preserves unknown members; `nil` after `entry` has changed.
        public private(set) var json: [UInt8]?
        /// The byte offset of the entry in the archive's text.
        public let offset: Int
        /// The directory to which the file names of bodies are relative, if any.
        public let directory: String?
        /// The deviations from HAR 1.2, and values that were guessed.
        public private(set) var warnings: [Recording.Warning]
        private let zip: ZipArchive?

        /// Creates an entry that doesn't come from an archive.
        ///
        /// - Parameters:
        ///   - entry: the exchange.
        ///   - directory: the directory to which the file names of bodies are relative.
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

        /// Parses a part of an archive; returns `nil` if it has no request.
        init?(_ part: ArchivePart, of file: String, _ zip: ZipArchive?) throws(NetworkError) {
            let document: ParsedJSON
            do throws(JSONFault) {
                document = try ParsedJSON(part.bytes)
            } catch {
                // Unreachable, because the scanner has already parsed the part.
                throw NetworkError(.decoding, during: .file, "\(file), \(part.path): \(error.reason)")
            }
            guard document.root["request"]?.kind == .object else { return nil }
            var warnings: [Recording.Warning] = []
            entry = LogEntry(document.root) { path, reason in
                warnings.append(
                    Recording.Warning(file: file, offset: part.offset, path: "\(part.path).\(path)", reason: reason)
                )
            }
            json = part.bytes
            offset = part.offset
            directory = Recording.directory(of: file)
            self.zip = zip
            self.warnings = warnings
            readMessages { reason in
                let path = "\(part.path).response.content._file"
                return Recording.Warning(file: file, offset: part.offset, path: path, reason: reason)
            }
        }
    }
}

extension HARWriter.Entry {
    /// A recording without entries that reads the files of the entry's bodies.
    package var files: Recording {
        var files = Recording([], directory: directory)
        files.zip = zip
        return files
    }

    /// The maximum size of a file with messages, in bytes.
    private static let messageLimit = 64 << 20

    /// Reads the messages of a WebSocket, which Playwright stores as a file of JSON lines in place of a body.
    private mutating func readMessages(_ warning: (_ reason: String) -> Recording.Warning) {
        guard entry.messages.isEmpty, let response = entry.response, response.status == 101,
            case .file(let name) = response.body.content, name.hasSuffix(".jsonl")
        else { return }
        var read = entry
        read.response?.body = LogEntry.Body(mediaType: response.body.mediaType)
        do throws(NetworkError) {
            let lines = Array(try files.data(of: response.body, upTo: Self.messageLimit))
            for (index, line) in lines.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).enumerated() {
                do throws(JSONFault) {
                    read.messages.append(LogEntry.Message(try ParsedJSON(Array(line)).root))
                } catch {
                    warnings.append(warning("names a file in which message \(index + 1) is damaged: \(error.reason)"))
                }
            }
        } catch {
            warnings.append(warning("names a file of messages that cannot be read: \(error.message)"))
            read.error = read.error ?? "the messages of the WebSocket are missing"
        }
        // This also clears the original JSON text, because the messages are now part of the entry.
        entry = read
    }
}
