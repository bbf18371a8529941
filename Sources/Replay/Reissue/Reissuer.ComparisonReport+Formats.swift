public import BeagleNet
import BeagleNetHTTP

extension Reissuer.ComparisonReport {
    /// The report as a JSON object: `summary`, and `entries` with method, URL, outcome, latency and differences.
    public var json: JSONValue {
        [
            "isSame": .bool(isSame),
            "summary": [
                "same": .integer(Int64(same)), "unchecked": .integer(Int64(unchecked)),
                "different": .integer(Int64(different)),
                "failed": .integer(Int64(failed)), "skipped": .integer(Int64(skipped)),
            ],
            "entries": .array(entries.map(\.json)),
        ]
    }
}

extension Reissuer.Entry {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "entry": .integer(Int64(entry)), "turn": .integer(Int64(repetition)), "method": .string(method),
            "url": .string(url),
        ]
        if !id.isEmpty { members["id"] = .string(id) }
        members["kind"] = kind.map { .string($0) }
        switch outcome {
        case .same(let notes):
            members["outcome"] = "same"
            members["notes"] = notes.json
        case .unchecked(let reason):
            members["outcome"] = "unchecked"
            members["reason"] = .string(reason)
        case .different(let differences):
            members["outcome"] = "different"
            members["differences"] = .array(differences.list.map(\.json))
            members["further"] = differences.omittedCount > 0 ? .integer(Int64(differences.omittedCount)) : nil
            members["notes"] = differences.notes.json
        case .failed(let error):
            members["outcome"] = "failed"
            members["error"] = [
                "code": .string(error.kind.rawValue), "phase": .string(error.phase.rawValue),
                "message": .string(error.message),
            ]
        case .skipped(let reason):
            members["outcome"] = "skipped"
            members["reason"] = .string(reason)
            return .object(members)
        }
        members["latencyMs"] = .number(latency / .milliseconds(1))
        return .object(members)
    }
}

extension ComparisonRules.Difference {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["place": .string(place), "kind": .string(kind.rawValue)]
        members["before"] = before.map { .string($0) }
        members["after"] = after.map { .string($0) }
        return .object(members)
    }
}

extension [String] {
    fileprivate var json: JSONValue? { isEmpty ? nil : .array(map { .string($0) }) }
}

// MARK: - JUnit

extension Reissuer.ComparisonReport {
    /// The report as JUnit XML in the format that Jenkins reads, with a test case for each entry.
    /// Source: https://github.com/jenkinsci/xunit-plugin, junit-10.xsd
    public var junit: String {
        let time = entries.reduce(Duration.zero) { $0 + $1.latency }.secondsText
        let counts = "tests=\"\(entries.count)\" failures=\"\(different)\" errors=\"\(failed)\""
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="replay" \(counts) time="\(time)">
              <testsuite name="replay" \(counts) skipped="\(skipped + unchecked)" time="\(time)">
            \(entries.map(\.junit).joined(separator: "\n"))
              </testsuite>
            </testsuites>

            """
    }
}

extension Reissuer.Entry {
    fileprivate var junit: String {
        let name = "\(entry + 1) \(title)".xml
        let attributes =
            "name=\"\(name)\" classname=\"replay.\((kind ?? "request").xml)\" time=\"\(latency.secondsText)\""
        guard let content = content else { return "    <testcase \(attributes)/>" }
        return "    <testcase \(attributes)>\n      \(content)\n    </testcase>"
    }

    /// The contents of a test case; `nil` if it passed without notes.
    private var content: String? {
        switch outcome {
        case .same(let notes): notes.isEmpty ? nil : "<system-out>\(notes.joined(separator: "\n").xml)</system-out>"
        case .different(let differences):
            """
            <failure message="\(counted(differences.count, "difference"))" type="different">\
            \(differences.lines.joined(separator: "\n").xml)</failure>
            """
        case .failed(let error):
            "<error message=\"\(error.message.xml)\" type=\"\(error.kind.rawValue.xml)\">\(error.sentence.xml)</error>"
        case .skipped(let reason), .unchecked(let reason): "<skipped message=\"\(reason.xml)\"/>"
        }
    }
}

extension Duration {
    /// The duration in seconds, with millisecond precision: `1.234`.
    fileprivate var secondsText: String {
        let milliseconds = Int64((self / .milliseconds(1)).rounded())
        return "\(milliseconds / 1000).\(String(milliseconds % 1000 + 1000).dropFirst())"
    }
}

extension String {
    /// The text with XML escapes for content and attributes. Characters that XML 1.0 (2.2) doesn't allow are replaced.
    package var xml: String {
        unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "\t", "\n", "\r": text += "&#\(scalar.value);"
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
