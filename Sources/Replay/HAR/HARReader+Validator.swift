import BeagleNetHTTP

extension HARReader {
    /// A validator of HTTP Archives against HAR 1.2, clause by clause, since tools differ in their tolerance.
    ///
    /// Members whose names begin with an underscore are custom members. Source:
    /// http://www.softwareishard.com/blog/har-12-spec/
    public final class Validator {
        /// A summary of an archive's contents.
        public struct Summary: Sendable, Hashable {
            /// The number of elements in `log.entries`.
            public var entries = 0
            /// The number of request and response bodies that are present, in the archive or in files beside it.
            public var bodies = 0
            /// The size of these bodies in bytes, decoded; for bodies in files, the size that the archive states.
            public var bodyBytes: Int64 = 0
            /// The number of violations of HAR 1.2, and of bodies whose files cannot be read.
            public var errors = 0
            /// The number of hints about constructs that are allowed, but not recommended.
            public var hints = 0
        }

        /// The summary of the part that was read so far.
        public private(set) var summary = Summary()
        private let path: String
        private let limits: HARReader.Limits

        /// Creates a validator.
        ///
        /// - Parameters:
        ///   - path: the path of the file, which may be compressed.
        ///   - limits: the limits on the size of the archive.
        public init(contentsOf path: String, limits: HARReader.Limits = HARReader.Limits()) {
            self.path = path
            self.limits = limits
        }

        /// Reads the whole archive, an entry at a time.
        ///
        /// - Parameter report: receives each finding, with its byte offset and JSON path, in the order of the text.
        /// - Throws: the same errors as `HARReader.next()` if the text is broken.
        @discardableResult
        public func validate(_ report: (Recording.Warning) -> Void) throws(NetworkError) -> Summary {
            let file = ArchiveFile(path: path, limits: limits)
            summary = Summary()
            var recording = Recording([], directory: Recording.directory(of: path))
            var seen: Set<String> = []
            var last: String?
            while let part = try file.next() {
                guard let document = try? ParsedJSON(part.bytes) else { continue }
                recording.zip = file.zip
                var findings: [Recording.Warning] = []
                let check = HARCheck(file: path, part: part, files: recording) { findings.append($0) }
                check.encoding()
                switch part.kind {
                case .entry:
                    summary.entries += 1
                    check.entry(document.root, after: &last)
                    summary.count(LogEntry(document.root), in: recording)
                case .logMember(let name):
                    if !seen.insert(name).inserted { check.report("", document.root, "occurs more than once") }
                    check.logMember(name, document.root)
                case .outerMember(let name):
                    check.report(
                        "",
                        document.root,
                        "is not a member of HAR; only log is",
                        name.isCustomMemberName ? .hint : .error
                    )
                }
                for finding in findings {
                    summary.count(finding)
                    report(finding)
                }
            }
            for name in ["version", "creator"] where !seen.contains(name) {
                summary.errors += 1
                report(Recording.Warning(file: path, path: "$.log.\(name)", reason: "is missing"))
            }
            return summary
        }
    }
}

extension HARReader.Validator.Summary {
    mutating func count(_ entry: LogEntry, in recording: Recording) {
        for body in [entry.request.body, entry.response?.body].compactMap(\.self) {
            switch body.content {
            case .data(let data) where !data.isEmpty:
                (bodies, bodyBytes) = (bodies + 1, bodyBytes.adding(Int64(data.count)))
            case .file(let name) where recording.hasFile(name):
                (bodies, bodyBytes) = (bodies + 1, bodyBytes.adding(max(body.size, 0)))
            case .data, .file, .parameters, .omitted: break
            }
        }
    }

    mutating func count(_ finding: Recording.Warning) {
        if finding.severity == .error { errors += 1 } else { hints += 1 }
    }
}

extension String {
    /// Whether the name belongs to a custom member.
    var isCustomMemberName: Bool { utf8.first == UInt8(ascii: "_") }
}
