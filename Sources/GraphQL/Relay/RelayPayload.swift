#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The text of an answer as Relay is given it. What is not changed stays as it came, to the byte.
package struct RelayPayload {
    package let data: Data
    /// Those of the outermost object; none where the text is no JSON object.
    private let members: [(name: String, kind: AnswerMembers.Kind, range: Range<Int>)]

    package init(_ data: Data) {
        self.data = data
        // What is no JSON has no members.
        members = (try? AnswerMembers(data))?.all.map { ($0.name, $0.member.kind, $0.member.range) } ?? []
    }

    /// Whether there is a member of this name that is not null.
    package func has(_ name: String) -> Bool { members.contains { $0.name == name && $0.kind != .null } }

    /// Whether there are errors; a list of none is none.
    package var hasErrors: Bool {
        guard let errors = members.last(where: { $0.name == "errors" }), errors.kind != .null else { return false }
        return !data[from: errors.range.lowerBound, to: errors.range.upperBound].filter { !$0.isSpace }.elementsEqual(
            "[]".utf8
        )
    }

    /// The text without `"data":null`, `"errors":null` and `"extensions":null`, on which Relay.swift would fail where
    /// JavaScript's goes on.
    package var withoutNulls: Data {
        let nullable = ["data", "errors", "extensions"]
        let isKept = members.map { $0.kind != .null || !nullable.contains($0.name) }
        guard isKept.contains(false), let brace = data.firstIndex(of: UInt8(ascii: "{")) else { return data }
        var text = data[...brace]
        let ends = [text.count] + members.map(\.range.upperBound)
        for index in members.indices where isKept[index] {
            let member = data[from: ends[index], to: ends[index + 1]]
            // The comma before it goes where nothing is kept before it.
            let isFirst = !isKept[..<index].contains(true)
            text += isFirst && index > 0 ? member.drop { $0 != UInt8(ascii: ",") }.dropFirst() : member
        }
        return text + data[from: ends[members.count], to: data.count]
    }

    /// The text with `extensions.cacheTimestamp`: when the answer was stored, in milliseconds since 1970.
    package func stamped(at milliseconds: Int64) -> Data { extended("\"cacheTimestamp\":\(milliseconds)") }

    /// The text with `extensions.is_final`: whether it is the last of an operation.
    package func marked(isFinal: Bool) -> Data { extended("\"is_final\":\(isFinal)") }

    /// The text with another member in `extensions`.
    private func extended(_ stamp: String) -> Data {
        if let member = members.last(where: { $0.name == "extensions" && $0.kind == .object }) {
            let inside = member.range.lowerBound + 1
            let isEmpty = data[from: inside, to: member.range.upperBound - 1].allSatisfy(\.isSpace)
            return inserted(stamp + (isEmpty ? "" : ","), at: inside)
        }
        guard let last = members.last else { return data }
        return inserted(",\"extensions\":{\(stamp)}", at: last.range.upperBound)
    }

    private func inserted(_ text: String, at place: Int) -> Data {
        data[from: 0, to: place] + Data(text.utf8) + data[from: place, to: data.count]
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
