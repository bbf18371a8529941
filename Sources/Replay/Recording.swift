/// A list of recorded exchanges, which can be listed, replayed, served, sent again and compared.
///
/// It was recorded by a `RequestLog`, or by another tool as an HTTP Archive.
public struct Recording: Sendable {
    /// The entries, sorted by the time at which they began.
    public let entries: [LogEntry]
    /// The problems found in the recording, and parts that could not be read.
    public let warnings: [Warning]
    /// The directory to which the file names of bodies are relative, if any.
    let directory: String?
    /// The zip archive that contains the files instead, if any.
    package var zip: ZipArchive?
    /// The members that an archive has beside its entries, such as `pages`.
    package var members: [HARReader.Member] = []
    /// The error that stopped the reading of an archive; `nil` if all of it was read.
    package var breakage: NetworkError?

    /// Creates a recording from entries.
    ///
    /// - Parameters:
    ///   - entries: the entries, in any order.
    ///   - directory: the directory to which the file names of bodies are relative.
    ///   - warnings: the problems found so far.
    public init(_ entries: [LogEntry], directory: String? = nil, warnings: [Warning] = []) {
        // Entries with the same time keep their order.
        self.entries = entries.enumerated()
            .sorted { ($0.element.started, $0.offset) < ($1.element.started, $1.offset) }
            .map(\.element)
        self.directory = directory
        self.warnings = warnings
    }
}

extension Recording {
    /// A problem in a recording.
    public struct Warning: Error, Sendable, Hashable, CustomStringConvertible {
        /// The severity of a problem.
        public enum Severity: String, Sendable, Hashable {
            /// Other tools may be unable to read the recording, or data is lost.
            case error
            /// The recording is valid, but could be better.
            case hint
        }

        /// The path of the file.
        public var file: String
        /// The byte offset of the problem; `nil` if unknown.
        public var offset: Int?
        /// The path in the JSON text, such as `$.log.entries[3].request.url`; empty if unknown.
        public var path: String
        /// A description of the problem.
        public var reason: String
        /// The severity of the problem.
        public var severity: Severity

        /// Creates a warning.
        public init(file: String, offset: Int? = nil, path: String = "", reason: String, severity: Severity = .error) {
            self.file = file
            self.offset = offset
            self.path = path
            self.reason = reason
            self.severity = severity
        }

        /// The file, the place and the reason.
        public var description: String {
            let place = [offset.map { "byte \($0)" }, path.isEmpty ? nil : path].compactMap(\.self)
            return ([file] + place).joined(separator: ", ") + ": " + reason
        }
    }
}
