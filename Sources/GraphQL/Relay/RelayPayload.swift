import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The text of an answer as Relay is given it. What is not changed stays as it came, to the byte.
package struct RelayPayload {
    private struct Member {
        let name: String
        /// Where its name begins and its value ends.
        var range: Range<Int>
        var value: JSONTokenizer.Token
    }

    package let data: Data
    /// Those of the outermost object; none where the text is no JSON object.
    private var members: [Member] = []

    package init(_ data: Data) {
        self.data = data
        var scan = Scan()
        let isWhole = data.withUnsafeBytes { bytes in
            let text = bytes.bindMemory(to: UInt8.self)
            var tokenizer = JSONTokenizer()
            do throws(JSONFault) {
                try tokenizer.feed(text) { scan.take($0, in: text) }
                try tokenizer.finish { scan.take($0, in: text) }
                return true
            } catch {
                return false
            }
        }
        if isWhole { members = scan.members }
    }

    /// Whether there is a member of this name that is not null.
    package func has(_ name: String) -> Bool { members.contains { $0.name == name && $0.value.kind != .null } }

    /// The text without `"data":null`, `"errors":null` and `"extensions":null`, on which Relay.swift would fail where
    /// JavaScript's goes on.
    package var withoutNulls: Data {
        let nullable = ["data", "errors", "extensions"]
        let isKept = members.map { $0.value.kind != .null || !nullable.contains($0.name) }
        guard isKept.contains(false), let first = members.first, let last = members.last else { return data }
        var text = data[from: 0, to: first.range.lowerBound]
        for (index, member) in members.enumerated() where isKept[index] {
            // With the comma before it, unless it has become the first.
            let isFirst = !isKept[..<index].contains(true)
            let start = isFirst ? member.range.lowerBound : members[index - 1].range.upperBound
            text += data[from: start, to: member.range.upperBound]
        }
        return text + data[from: last.range.upperBound, to: data.count]
    }

    /// The text with `extensions.cacheTimestamp`: when the answer was stored, in milliseconds since 1970.
    package func stamped(at milliseconds: Int64) -> Data {
        let stamp = "\"cacheTimestamp\":\(milliseconds)"
        if let member = members.last(where: { $0.name == "extensions" && $0.value.kind == .objectStart }) {
            let inside = member.value.end
            let isEmpty = data[from: inside, to: member.range.upperBound].dropLast().allSatisfy(\.isSpace)
            return inserted(stamp + (isEmpty ? "" : ","), at: inside)
        }
        guard let last = members.last else { return data }
        return inserted(",\"extensions\":{\(stamp)}", at: last.range.upperBound)
    }

    private func inserted(_ text: String, at place: Int) -> Data {
        data[from: 0, to: place] + Data(text.utf8) + data[from: place, to: data.count]
    }

    /// Finds the members while tokens come.
    private struct Scan {
        var members: [Member] = []
        private var depth = 0
        private var name = JSONTokenizer.Token(.null, 0, 0)

        mutating func take(_ token: JSONTokenizer.Token, in text: UnsafeBufferPointer<UInt8>) {
            switch token.kind {
            case .name: if depth == 1 { name = token }
            case .objectStart, .arrayStart:
                if depth == 1 { begin(token, in: text) }
                depth += 1
            case .objectEnd, .arrayEnd:
                depth -= 1
                if depth == 1 { close(at: token.end) }
            default:
                if depth == 1 { begin(token, in: text) }
            }
        }

        private mutating func begin(_ value: JSONTokenizer.Token, in text: UnsafeBufferPointer<UInt8>) {
            // What begins inside of an array has no name.
            guard name.end > 0 else { return }
            let written = Array(text[(name.start + 1)..<(name.end - 1)])[...]
            members.append(
                Member(name: JSONText.unescaped(written), range: name.start..<value.end, value: value)
            )
        }

        private mutating func close(at end: Int) {
            guard let last = members.last else { return }
            members[members.count - 1].range = last.range.lowerBound..<end
        }
    }
}

extension Data {
    /// The bytes between two places, counted from the first.
    fileprivate subscript(from start: Int, to end: Int) -> Data {
        self[startIndex + start..<startIndex + end]
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}
