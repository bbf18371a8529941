import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// An entry with its number in its recording.
public struct NumberedEntry: Sendable, Hashable {
    /// From 1, by the time at which entries began.
    public let number: Int
    /// The entry.
    public let entry: LogEntry

    /// An entry and its number.
    public init(number: Int, entry: LogEntry) {
        self.number = number
        self.entry = entry
    }
}

extension Recording {
    /// The entries that a filter wants, with their numbers; all where it is nil.
    ///
    /// A body that is in a file is read where the filter looks at bodies; one that cannot be read matches nothing.
    public func entries(matching filter: EntryFilter?) -> [NumberedEntry] {
        entries.enumerated().compactMap { index, entry in
            guard filter?.matches(entry, data: readable) ?? true else { return nil }
            return NumberedEntry(number: index + 1, entry: entry)
        }
    }

    /// The bytes of a body that are there; nil where there are none to be had.
    package func readable(_ body: LoggedBody) -> Data? {
        do throws(NetworkError) {
            return try data(of: body)
        } catch {
            return nil
        }
    }

    /// The entry with its bodies that are in files, and all of it redacted.
    package func redacted(_ entry: LogEntry, by redactor: Redactor) -> LogEntry {
        held(entry).redacted(by: redactor)
    }

    /// The entry as a writer of archives takes it.
    package func archived(_ entry: LogEntry) -> HAREntry { HAREntry(entry, directory: directory, zip: zip) }

    /// Where an entry that claims to be redacted still has secrets, its bodies in files included; a file that cannot be read is
    /// a finding.
    package func findings(in entry: LogEntry, by redactor: Redactor) -> [String] {
        let held = held(entry)
        let bodies = [
            ("request.postData._file", entry.request.body, held.request.body),
            ("response.content._file", entry.response?.body, held.response?.body),
        ]
        // Of what cannot be looked at nobody can say that it has none.
        let unread = bodies.compactMap { place, body, held in
            body?.isInFile == true && held?.heldData == nil ? "\(place):[\(Self.unreadable)]" : nil
        }
        return held.findings(by: redactor) + unread
    }

    /// Why a file that is not there, or cannot be read, is a finding.
    static let unreadable = "unreadable"

    private func held(_ entry: LogEntry) -> LogEntry {
        var entry = entry
        entry.request.body = entry.request.body.map(held)
        if let body = entry.response?.body { entry.response?.body = held(body) }
        return entry
    }

    /// The body with its bytes, where they can be had.
    private func held(_ body: LoggedBody) -> LoggedBody {
        guard case .file = body.content else { return body }
        var body = body
        body.content = readable(body).map { .data($0) } ?? .omitted("its file cannot be read")
        return body
    }

    /// The bytes of a body as they may be shown.
    ///
    /// - Throws: `NetworkError` as `data(of:upTo:)`, and where nobody can tell what is secret in a file.
    package func data(of body: LoggedBody, redactedBy redactor: Redactor?) throws(NetworkError) -> Data {
        let data = try data(of: body)
        // What is no file was redacted with its entry.
        guard let redactor, case .file = body.content else { return data }
        var audit = RedactionAudit()
        let (type, charset) = (body.mediaType, body.fileCharset)
        switch redactor.redact(decoding: data, charset ?? Charset(contentType: type), type, at: "body", noting: &audit)
        {
        case .body(let data): return data
        case .omitted(let reason):
            throw NetworkError(.notStored, during: .file, "its secrets cannot be identified: \(reason.rawValue)")
        }
    }
}

extension LoggedBody {
    fileprivate var isInFile: Bool {
        if case .file = content { return true }
        return false
    }
}
