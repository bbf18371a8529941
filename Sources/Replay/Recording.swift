/// Exchanges that were recorded, by a `RequestLog` or by another tool in an HTTP Archive: what is listed, replayed,
/// served, sent again and compared.
public struct Recording: Sendable {
    /// The exchanges by the time at which they began.
    public let entries: [LogEntry]
    /// What was not as it should be, and what could not be read.
    public let warnings: [RecordingWarning]
    /// Where the files are that bodies name; nil where there is no such place.
    let directory: String?
    /// The zip archive in which those files are instead; `nil` if there is none.
    package var zip: ZipArchive?
    /// What an archive has beside its entries, as `pages`.
    package var members: [HARReader.Member] = []
    /// Why an archive was not read to its end; nil where it was.
    package var breakage: NetworkError?

    /// Exchanges from anywhere.
    ///
    /// - Parameters:
    ///   - entries: in any order.
    ///   - directory: where the files are that bodies name.
    ///   - warnings: what was not as it should be.
    public init(_ entries: [LogEntry], directory: String? = nil, warnings: [RecordingWarning] = []) {
        // Sorted by place where moments are the same: what was asked first stays first.
        self.entries = entries.enumerated()
            .sorted { ($0.element.started, $0.offset) < ($1.element.started, $1.offset) }
            .map(\.element)
        self.directory = directory
        self.warnings = warnings
    }
}

/// Something in a recording that is not as it should be.
public struct RecordingWarning: Error, Sendable, Hashable, CustomStringConvertible {
    /// How much it matters.
    public enum Severity: String, Sendable, Hashable {
        /// Other tools may not read it, or something is lost.
        case error
        /// It might be better.
        case hint
    }

    /// The file.
    public var file: String
    /// Bytes before the place; nil where that is not known.
    public var offset: Int?
    /// The place in the document, as `$.log.entries[3].request.url`; empty where that is not known.
    public var path: String
    /// What is wrong.
    public var reason: String
    /// How much it matters.
    public var severity: Severity

    /// Describes what is wrong.
    public init(file: String, offset: Int? = nil, path: String = "", reason: String, severity: Severity = .error) {
        self.file = file
        self.offset = offset
        self.path = path
        self.reason = reason
        self.severity = severity
    }

    /// File, place and reason.
    public var description: String {
        let place = [offset.map { "byte \($0)" }, path.isEmpty ? nil : path].compactMap(\.self)
        return ([file] + place).joined(separator: ", ") + ": " + reason
    }
}
