package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RequestLog.Reader {
    /// Returns the places of remaining secrets in a log, and of parts that cannot be checked.
    ///
    /// Entries and their body files, other and incomplete records, `meta.json`, and body files without references are
    /// checked.
    ///
    /// - Throws: `NetworkError` of kind `.file` if the directory cannot be read.
    package func findings(by redactor: Redactor) throws(NetworkError) -> [String] {
        let recording = try recording(includesInFlight: true)
        let said = recording.entries.enumerated().flatMap { index, entry in
            HARWriter.Entry(entry, directory: directory.path).findings(by: redactor).map {
                "$.log.entries[\(index)].\($0)"
            }
        }
        let open = Set(recording.entries.filter(\.isInterrupted).map(\.id))
        return try said + recordFindings(open, redactor) + metaFindings(redactor) + orphanFindings(recording, redactor)
    }

    /// Returns the findings in segments outside of entries.
    ///
    /// - Parameter open: the ids of entries that have only their first record.
    private func recordFindings(_ open: Set<String>, _ redactor: Redactor) throws(NetworkError) -> [String] {
        var places: [String] = []
        for segment in try directory.segments() {
            let path = directory.segment(segment)
            var lines = LogLines(path: path)
            while let line = try lines.next() {
                let place = "\(path.split(separator: "/").last ?? ""), byte \(line.offset)"
                places += findings(in: line.content, open, at: place, redactor)
            }
        }
        return places
    }

    private func findings(
        in line: LogLines.Line.Content,
        _ open: Set<String>,
        at place: String,
        _ redactor: Redactor
    ) -> [String] {
        switch line {
        case .tooLong: return ["\(place):[too long]"]
        case .unfinished(let bytes): return redactor.findings(inIncompleteRecord: bytes, at: place)
        case .whole(let bytes):
            switch LogRecord.read(bytes) {
            case .success(.end), .success(.message): return []
            case .success(.start(let id, let node)):
                return open.contains(id) ? [] : LogEntry(node).findings(by: redactor).map { "\(place): \($0)" }
            case .success(.losses), .success(.other):
                let found = redactor.findings(in: Data(bytes), contentType: "application/json", at: place)
                return bytes.namesItsSession ? found.filter { $0 != "\(place):$.session" } : found
            case .failure: return redactor.findings(inIncompleteRecord: bytes, at: place)
            }
        }
    }

    private func metaFindings(_ redactor: Redactor) -> [String] {
        let meta = directory.meta
        guard meta.exists else { return [] }
        do throws(NetworkError) {
            return redactor.findings(
                in: Data(try meta.read().utf8),
                contentType: "application/json",
                at: "meta.json"
            )
        } catch {
            return ["meta.json:[\(Recording.unreadable)]"]
        }
    }

    /// Returns the findings in body files without references, whose media type is unknown.
    private func orphanFindings(_ recording: Recording, _ redactor: Redactor) throws(NetworkError) -> [String] {
        let bodies = recording.entries.flatMap { [$0.request.body, $0.response?.body] }
        let named = Set(bodies.compactMap { body in if case .file(let name)? = body?.content { name } else { nil } })
        return try orphanedBodies(except: named).flatMap { name in
            guard let data = recording.readable(LogEntry.Body(.file(name))) else {
                return ["\(name):[\(Recording.unreadable)]"]
            }
            return redactor.findings(in: data, contentType: nil, at: name)
        }
    }

    private func orphanedBodies(except named: Set<String>) throws(NetworkError) -> [String] {
        var bodies: [String] = []
        for name in try (directory.folder.entries(of: "bodies") ?? []).sorted().map({ "bodies/\($0)" }) {
            // The name may be that of a file.
            bodies += try directory.folder.entries(of: name)?.sorted().map { "\(name)/\($0)" } ?? [name]
        }
        return bodies.filter { !named.contains($0) }
    }
}

extension [UInt8] {
    /// Whether the record contains a log's session identifier, whose name looks like that of a secret.
    fileprivate var namesItsSession: Bool {
        do throws(JSONFault) {
            return UUID(uuidString: try ParsedJSON(self).root["session"]?.string ?? "") != nil
        } catch {
            return false
        }
    }
}

extension Redactor {
    /// Returns the findings in an incomplete record, checked both as JSON and as text.
    fileprivate func findings(inIncompleteRecord bytes: [UInt8], at place: String) -> [String] {
        var record = BodyRedactor(self, contentType: "application/json", at: place)
        _ = record.feed(Data(bytes))
        _ = record.finish()
        let places = record.audit.places
        let more = findings(inText: String(decoding: bytes, as: UTF8.self), at: place)
        return places + more.filter { !places.contains($0) }
    }
}
