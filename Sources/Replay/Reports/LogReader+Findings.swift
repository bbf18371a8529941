package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension LogReader {
    /// Where a log still has secrets, or what cannot be looked at: in its entries and their bodies' files, in records that are
    /// no entries or were cut off, in `meta.json`, and in files of bodies that no entry names.
    ///
    /// - Throws: `NetworkError` of kind `.file` where the directory cannot be read.
    package func findings(by redactor: Redactor) throws(NetworkError) -> [String] {
        let recording = try recording(includesInFlight: true)
        let said = recording.entries.enumerated().flatMap { index, entry in
            HAREntry(entry, directory: directory.path).findings(by: redactor).map { "$.log.entries[\(index)].\($0)" }
        }
        let open = Set(recording.entries.filter(\.isInterrupted).map(\.id))
        return try said + besideEntries(open, redactor) + metaFindings(redactor) + strayFindings(recording, redactor)
    }

    /// What is in segments beside the entries.
    ///
    /// - Parameter open: ids of those whose first record is all that there is.
    private func besideEntries(_ open: Set<String>, _ redactor: Redactor) throws(NetworkError) -> [String] {
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
        case .unfinished(let bytes): return redactor.findings(inTorn: bytes, at: place)
        case .whole(let bytes):
            switch LogRecord.read(bytes) {
            case .success(.end), .success(.message): return []
            case .success(.start(let id, let node)):
                return open.contains(id) ? [] : LogEntry(node).findings(by: redactor).map { "\(place): \($0)" }
            case .success(.losses), .success(.other):
                let found = redactor.findings(in: Data(bytes), contentType: "application/json", at: place)
                return bytes.namesItsSession ? found.filter { $0 != "\(place):$.session" } : found
            case .failure: return redactor.findings(inTorn: bytes, at: place)
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

    /// Of a body whose record is not there nobody knows the type.
    private func strayFindings(_ recording: Recording, _ redactor: Redactor) throws(NetworkError) -> [String] {
        let bodies = recording.entries.flatMap { [$0.request.body, $0.response?.body] }
        let named = Set(bodies.compactMap { body in if case .file(let name)? = body?.content { name } else { nil } })
        return try strays(besides: named).flatMap { name in
            guard let data = recording.readable(LoggedBody(.file(name))) else {
                return ["\(name):[\(Recording.unreadable)]"]
            }
            return redactor.findings(in: data, contentType: nil, at: name)
        }
    }

    private func strays(besides named: Set<String>) throws(NetworkError) -> [String] {
        var bodies: [String] = []
        for name in try (directory.folder.entries(of: "bodies") ?? []).sorted().map({ "bodies/\($0)" }) {
            // It may be a file itself.
            bodies += try directory.folder.entries(of: name)?.sorted().map { "\(name)/\($0)" } ?? [name]
        }
        return bodies.filter { !named.contains($0) }
    }
}

extension [UInt8] {
    /// Whether the record's session is one of a log, whose name sounds like a secret.
    fileprivate var namesItsSession: Bool {
        do throws(JSONFault) {
            return UUID(uuidString: try JSONDocument(self).root["session"]?.string ?? "") != nil
        } catch {
            return false
        }
    }
}

extension Redactor {
    /// Where secrets are in a record that was cut off: as far as it is JSON as such, and all of it as text.
    fileprivate func findings(inTorn bytes: [UInt8], at place: String) -> [String] {
        var record = BodyRedactor(self, contentType: "application/json", at: place)
        _ = record.feed(Data(bytes))
        _ = record.finish()
        let places = record.audit.places
        let more = findings(inText: String(decoding: bytes, as: UTF8.self), at: place)
        return places + more.filter { !places.contains($0) }
    }
}
