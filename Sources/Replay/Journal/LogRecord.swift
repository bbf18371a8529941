import BeagleNetHTTP

/// A line of a log that says something.
enum LogRecord {
    /// An exchange that has begun.
    case start(id: String, JSONNode)
    /// A message of one, and where something was taken out of it, as the rest of a place.
    case message(id: String, JSONNode, redactions: [String])
    /// One that has ended.
    case end(id: String, JSONNode)
    /// There was no room for so much.
    case losses(records: Int64, bodies: Int64)
    /// A session has begun or ended, or somebody noted something.
    case other

    /// - Returns: the record, or what is wrong with the line.
    static func read(_ line: [UInt8]) -> Result<LogRecord, Problem> {
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(line)
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
