extension Redactor {
    /// Returns the replacements in a GraphQL document: values of arguments with secret names, and secrets in the rest
    /// of the text.
    func documentEdits(_ bytes: [UInt8], in range: Range<Int>, depth: Int) -> [RedactionEdit] {
        var scan = GraphQLScan(self, bytes, range)
        var edits: [RedactionEdit] = []
        var place = range.lowerBound
        for edit in scan.run() {
            edits += textEdits(bytes, in: place..<edit.range.lowerBound, rules: .values, depth: depth)
            edits.append(edit)
            place = edit.range.upperBound
        }
        return edits + textEdits(bytes, in: place..<range.upperBound, rules: .values, depth: depth)
    }
}

/// A scan for values of arguments and input fields with secret names
/// (https://spec.graphql.org/October2021/#sec-Language).
///
/// A name followed by a colon is an argument only between parentheses. Elsewhere it is the alias of a field.
private struct GraphQLScan {
    private let redactor: Redactor
    private let bytes: [UInt8]
    private let end: Int
    private var place: Int
    private var parentheses = 0
    private var edits: [RedactionEdit] = []

    init(_ redactor: Redactor, _ bytes: [UInt8], _ range: Range<Int>) {
        self.redactor = redactor
        self.bytes = bytes
        place = range.lowerBound
        end = range.upperBound
    }

    mutating func run() -> [RedactionEdit] {
        while place < end {
            switch bytes[place] {
            case UInt8(ascii: "("): parentheses += 1
            case UInt8(ascii: ")"): parentheses = max(0, parentheses - 1)
            case UInt8(ascii: "\""), UInt8(ascii: "#"):
                skipToken()
                continue
            case let byte where byte.isWord:
                takeName()
                continue
            default: break
            }
            place += 1
        }
        return edits
    }

    private mutating func takeName() {
        let start = place
        while place < end, bytes[place].isWord { place += 1 }
        let name = bytes[start..<place]
        guard parentheses > 0 else { return }
        skipSpace()
        guard place < end, bytes[place] == UInt8(ascii: ":") else { return }
        let meaning = redactor.meaning(of: name)
        guard meaning.isSecret || meaning.contains(.key) else { return }
        place += 1
        skipSpace()
        if start > 0, bytes[start - 1] == UInt8(ascii: "$") {
            // The type of a variable, which a default value may follow.
            while place < end, bytes[place].isWord || "[]!".utf8.contains(bytes[place]) { place += 1 }
            skipSpace()
            guard place < end, bytes[place] == UInt8(ascii: "=") else { return }
            place += 1
            skipSpace()
        }
        redactValue(of: name, meaning)
    }

    private mutating func redactValue(of name: ArraySlice<UInt8>, _ meaning: SecretNames.Value) {
        guard place < end, bytes[place] != UInt8(ascii: "$") else { return }
        let start = place
        skipValue()
        let isQuoted = bytes[start] == UInt8(ascii: "\"")
        let secret = isQuoted ? bytes[start..<place].trimmed(of: UInt8(ascii: "\"")) : bytes[start..<place]
        guard !secret.isEmpty, meaning.isSecret || secret.count >= Redactor.minKeyLength,
            let text = redactor.replacement(for: secret)
        else { return }
        edits.append(RedactionEdit(start..<place, "\"\(text)\"", "(\(String(decoding: name, as: UTF8.self)))"))
    }

    /// Skips a value. An unterminated value extends to the end of the document.
    private mutating func skipValue() {
        var depth = 0
        repeat {
            switch bytes[place] {
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                place += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                place += 1
            case UInt8(ascii: "\""), UInt8(ascii: "#"): skipToken()
            case let byte where byte.isWord || byte == UInt8(ascii: "-"):
                while place < end, bytes[place].isWord || "+-.".utf8.contains(bytes[place]) { place += 1 }
            default:
                if depth == 0 { return }
                place += 1
            }
            if depth > 0 { skipSpace() }
        } while depth > 0 && place < end
    }

    /// Skips a comment, a block string, or a string, which ends at the end of its line at the latest.
    private mutating func skipToken() {
        if bytes[place] == UInt8(ascii: "#") {
            while place < end, bytes[place] != 0x0A, bytes[place] != 0x0D { place += 1 }
            return
        }
        let isBlock = bytes[place..<end].starts(with: [0x22, 0x22, 0x22])
        place += isBlock ? 3 : 1
        while place < end {
            if !isBlock, bytes[place] == 0x0A || bytes[place] == 0x0D { return }
            if bytes[place] == UInt8(ascii: "\\") {
                let isEscapedBlock = bytes[place..<end].dropFirst().starts(with: [0x22, 0x22, 0x22])
                place = min(end, place + (isBlock ? (isEscapedBlock ? 4 : 1) : 2))
            } else if isBlock ? bytes[place..<end].starts(with: [0x22, 0x22, 0x22]) : bytes[place] == 0x22 {
                place += isBlock ? 3 : 1
                return
            } else {
                place += 1
            }
        }
    }

    private mutating func skipSpace() {
        while place < end {
            if bytes[place] == UInt8(ascii: "#") {
                skipToken()
            } else if bytes[place].isSpace || bytes[place] == UInt8(ascii: ",") {
                place += 1
            } else {
                return
            }
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate func trimmed(of byte: UInt8) -> ArraySlice<UInt8> {
        var rest = drop { $0 == byte }
        while rest.last == byte { rest.removeLast() }
        return rest
    }
}

/// A GraphQL document, which is scanned as a whole.
struct DocumentBody: BodyScan {
    let redactor: Redactor

    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled {
        guard window.bytes.count <= TextScan.window else { throw Unredactable(.tooLong, at: 0) }
        guard isFinal else { return Settled(0) }
        return Settled(window.bytes.count, redactor.documentEdits(window.bytes, in: 0..<window.bytes.count, depth: 0))
    }
}
