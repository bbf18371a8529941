import BeagleNetHTTP

/// A record in a log.
enum LogRecord {
    /// The start of an exchange.
    case start(id: String, JSONNode)
    /// A message of an exchange, with the places in it from which secrets were removed.
    case message(id: String, JSONNode, redactions: [String])
    /// The end of an exchange.
    case end(id: String, JSONNode)
    /// The numbers of records and bodies that were dropped.
    case losses(records: Int64, bodies: Int64)
    /// The start or end of a session, or a note.
    case other

    /// Parses a line.
    ///
    /// - Returns: the record, or the problem with the line.
    static func read(_ line: [UInt8]) -> Result<LogRecord, Problem> {
        let document: ParsedJSON
        do throws(JSONFault) {
            document = try ParsedJSON(line)
        } catch {
            return .failure(
                Problem(reason: line.contains(0) ? "zeros instead of a record" : "a truncated record")
            )
        }
        let root = document.root
        switch root["k"]?.string {
        case "start", "end":
            guard let entry = root["entry"], let id = entry["_beagle"]?["id"]?.string else {
                return .failure(Problem(reason: "a record without an entry"))
            }
            return .success(root["k"]?.string == "end" ? .end(id: id, entry) : .start(id: id, entry))
        case "message":
            guard let id = root["id"]?.string, let message = root["message"] else {
                return .failure(Problem(reason: "a record without a message"))
            }
            let redactions = root["redactions"]?.elements.compactMap(\.string) ?? []
            return .success(.message(id: id, message, redactions: redactions))
        case "open":
            guard let format = root["v"]?.integer, format > LogDirectory.format else { return .success(.other) }
            return .failure(Problem(reason: "a session in the newer format \(format)"))
        case "note": return .success(note(root))
        case "close": return .success(.other)
        case let kind?: return .failure(Problem(reason: "a record of unknown kind \(kind.prefix(40))"))
        case nil: return .failure(Problem(reason: "not a record"))
        }
    }

    private static func note(_ root: JSONNode) -> LogRecord {
        let (records, bodies) = (root["lostRecords"]?.integer ?? 0, root["lostBodies"]?.integer ?? 0)
        return records > 0 || bodies > 0 ? .losses(records: records, bodies: bodies) : .other
    }

    struct Problem: Error {
        let reason: String
    }
}
