import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension Recording {
    /// An entry with its number in a recording.
    public struct NumberedEntry: Sendable, Hashable {
        /// The number, starting at 1, in the order of start times.
        public let number: Int
        /// The entry.
        public let entry: LogEntry

        /// Creates a numbered entry.
        public init(number: Int, entry: LogEntry) {
            self.number = number
            self.entry = entry
        }
    }
}

extension Recording {
    /// Returns the entries that match a filter, with their numbers; all entries if the filter is `nil`.
    ///
    /// A body in a file is read if the filter uses bodies. A body that cannot be read matches nothing.
    public func entries(matching filter: Filter?) -> [NumberedEntry] {
        entries.enumerated().compactMap { index, entry in
            guard filter?.matches(entry, data: readable) ?? true else { return nil }
            return NumberedEntry(number: index + 1, entry: entry)
        }
    }

    /// Returns the bytes of a body; `nil` if they cannot be read.
    package func readable(_ body: LogEntry.Body) -> Data? {
        do throws(NetworkError) {
            return try data(of: body)
        } catch {
            return nil
        }
    }

    /// Returns the entry with its bodies read from files, and redacted.
    package func redacted(_ entry: LogEntry, by redactor: Redactor) -> LogEntry {
        withInlineBodies(entry).redacted(by: redactor)
    }

    /// Returns the entry in the form that `HARWriter` takes.
    package func archived(_ entry: LogEntry) -> HARWriter.Entry {
        HARWriter.Entry(entry, directory: directory, zip: zip)
    }

    /// Returns the places of remaining secrets in an entry that should be redacted, including bodies in files.
    ///
    /// A file that cannot be read is also a finding.
    package func findings(in entry: LogEntry, by redactor: Redactor) -> [String] {
        let held = withInlineBodies(entry)
        let bodies = [
            ("request.postData._file", entry.request.body, held.request.body),
            ("response.content._file", entry.response?.body, held.response?.body),
        ]
        // A body that cannot be read cannot be checked for secrets.
        let unread = bodies.compactMap { place, body, held in
            body?.isInFile == true && held?.inlineData == nil ? "\(place):[\(Self.unreadable)]" : nil
        }
        return held.findings(by: redactor) + unread
    }

    /// The reason for a finding about a file that is missing or cannot be read.
    static let unreadable = "unreadable"

    private func withInlineBodies(_ entry: LogEntry) -> LogEntry {
        var entry = entry
        entry.request.body = entry.request.body.map(withInlineBodies)
        if let body = entry.response?.body { entry.response?.body = withInlineBodies(body) }
        return entry
    }

    /// Returns the body with its bytes read from a file, if possible.
    private func withInlineBodies(_ body: LogEntry.Body) -> LogEntry.Body {
        guard case .file = body.content else { return body }
        var body = body
        body.content = readable(body).map { .data($0) } ?? .omitted("its file cannot be read")
        return body
    }

    /// Returns the bytes of a body without secrets.
    ///
    /// - Throws: the errors of `data(of:upTo:)`, and `NetworkError` if a file cannot be checked for secrets.
    package func data(of body: LogEntry.Body, redactedBy redactor: Redactor?) throws(NetworkError) -> Data {
        let data = try data(of: body)
        // Other bodies were redacted together with their entries.
        guard let redactor, case .file = body.content else { return data }
        var audit = Redactor.Audit()
        let (type, charset) = (body.mediaType, body.fileCharset)
        switch redactor.redact(
            decoding: data,
            charset ?? Charset(contentType: type),
            type,
            at: "body",
            recordingTo: &audit
        )
        {
        case .body(let data): return data
        case .omitted(let reason):
            throw NetworkError(.notStored, during: .file, "its secrets cannot be identified: \(reason.rawValue)")
        }
    }
}

extension LogEntry.Body {
    fileprivate var isInFile: Bool {
        if case .file = content { return true }
        return false
    }
}
