import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The text of a response in the form that Relay expects. Unchanged parts keep their exact bytes.
package struct RelayPayload {
    package let data: Data
    /// The members of the outermost object; empty if the text is not a JSON object.
    private let members: [(name: String, kind: TopLevelMembers.Kind, range: Range<Int>)]

    package init(_ data: Data) {
        self.data = data
        // Invalid JSON has no members.
        members = (try? TopLevelMembers(data))?.all.map { ($0.name, $0.member.kind, $0.member.range) } ?? []
    }

    /// Returns whether there is a member of this name that is not null.
    package func has(_ name: String) -> Bool { members.contains { $0.name == name && $0.kind != .null } }

    /// Whether there are errors. An empty list doesn't count.
    package var hasErrors: Bool {
        guard let errors = members.last(where: { $0.name == "errors" }), errors.kind != .null else { return false }
        let list = data[from: errors.range.lowerBound, to: errors.range.upperBound]
        return !list.filter { !$0.isJSONSpace }.elementsEqual("[]".utf8)
    }

    /// The text without `"data":null`, `"errors":null` and `"extensions":null`, which make Relay.swift fail, unlike the
    /// JavaScript version.
    package var withoutNulls: Data {
        let nullable = ["data", "errors", "extensions"]
        let isKept = members.map { $0.kind != .null || !nullable.contains($0.name) }
        guard isKept.contains(false), let brace = data.firstIndex(of: UInt8(ascii: "{")) else { return data }
        var text = data[...brace]
        let ends = [text.count] + members.map(\.range.upperBound)
        for index in members.indices where isKept[index] {
            let member = data[from: ends[index], to: ends[index + 1]]
            // If no earlier member is kept, the comma before this one is removed.
            let isFirst = !isKept[..<index].contains(true)
            text += isFirst && index > 0 ? member.drop { $0 != UInt8(ascii: ",") }.dropFirst() : member
        }
        return text + data[from: ends[members.count], to: data.count]
    }

    /// Returns the text with `extensions.cacheTimestamp`: the time the response was stored, in milliseconds since 1970.
    package func stamped(at milliseconds: Int64) -> Data { extended("\"cacheTimestamp\":\(milliseconds)") }

    /// Returns the text with `extensions.is_final`: whether it is the last response of an operation.
    package func marked(isFinal: Bool) -> Data { extended("\"is_final\":\(isFinal)") }

    /// Returns the text with another member in `extensions`.
    private func extended(_ stamp: String) -> Data {
        if let member = members.last(where: { $0.name == "extensions" && $0.kind == .object }) {
            let inside = member.range.lowerBound + 1
            let isEmpty = data[from: inside, to: member.range.upperBound - 1].allSatisfy(\.isJSONSpace)
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
    /// The bytes between two offsets.
    fileprivate subscript(from start: Int, to end: Int) -> Data {
        self[startIndex + start..<startIndex + end]
    }
}
