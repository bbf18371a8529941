import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Finds the members of an answer and of its data in one pass, and sees to it that all is JSON.
struct AnswerMembers {
    enum Kind { case object, null, other }

    struct Member {
        let name: String
        let kind: Kind
        /// Where the value is, from the first byte of the body.
        let range: Range<Int>
    }

    private(set) var isObject = false
    private(set) var members: [Member] = []
    /// The members of `data`.
    private(set) var ofData: [Member] = []

    private let skipped: Int
    private var depth = 0
    /// The names on the way and where their values begin, of the outermost two objects.
    private var names = ["", ""]
    private var starts = [0, 0]

    /// The last of this name, as decoders take it.
    subscript(name: String) -> Member? { members.last { $0.name == name } }

    /// - Throws: `JSONFault` where it is no JSON.
    init(_ data: Data) throws(JSONFault) {
        skipped = data.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var fault: JSONFault?
        data.withUnsafeBytes { bytes in
            let text = UnsafeBufferPointer(rebasing: bytes.bindMemory(to: UInt8.self)[skipped...])
            var tokenizer = JSONTokenizer()
            do throws(JSONFault) {
                try tokenizer.feed(text) { take($0, in: text) }
                try tokenizer.finish { take($0, in: text) }
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
    }

    private mutating func take(_ token: JSONTokenizer.Token, in text: UnsafeBufferPointer<UInt8>) {
        switch token.kind {
        case .name:
            if depth == 1 || depth == 2 && names[0] == "data" { names[depth - 1] = token.name(in: text) }
        case .objectStart, .arrayStart: begin(token)
        case .objectEnd, .arrayEnd:
            depth -= 1
            if depth == 1 || depth == 2 {
                end(from: starts[depth - 1], to: token.end, token.kind == .objectEnd ? .object : .other)
            }
        default: end(from: token.start, to: token.end, token.kind == .null ? .null : .other)
        }
    }

    private mutating func begin(_ token: JSONTokenizer.Token) {
        if depth == 0 { isObject = token.kind == .objectStart }
        if depth == 1 || depth == 2 { starts[depth - 1] = token.start }
        if depth == 1, names[0] == "data" { ofData = [] }
        depth += 1
    }

    /// A value has ended.
    private mutating func end(from start: Int, to end: Int, _ kind: Kind) {
        let range = start + skipped..<end + skipped
        if depth == 1 {
            members.append(Member(name: names[0], kind: kind, range: range))
        } else if depth == 2, names[0] == "data" {
            ofData.append(Member(name: names[1], kind: kind, range: range))
        }
    }
}

extension JSONTokenizer.Token {
    /// The text of a name.
    fileprivate func name(in text: UnsafeBufferPointer<UInt8>) -> String {
        let written = UnsafeBufferPointer(rebasing: text[start..<end])
        let text = written.dropFirst().dropLast()
        return hasEscapes ? JSONText.unescaped(Array(text)[...]) : String(decoding: text, as: UTF8.self)
    }
}
