/// The string literals of a Swift source, without those in comments.
///
/// Literals joined by `+` are one text, white space is one space, and an interpolation is `{name}`, or `{…}` if it is
/// more than a name. Regex literals aren't recognized.
struct SourceTexts {
    struct Text {
        let line: Int
        var content: String
    }

    private(set) var texts: [Text] = []
    private let source: [UInt8]
    private var position = 0
    private var line = 1

    init(_ source: String) {
        self.source = Array(source.utf8)
        readCode()
        for index in texts.indices {
            texts[index].content = texts[index].content.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
    }

    /// Reads code up to the end of the source, or up to the parenthesis that closes an interpolation.
    private mutating func readCode() {
        var depth = 0
        var previous: Int?  // the index of the text that a `+` would continue
        var isContinued = false
        while let byte = next() {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "#"):
                var hashes = byte == UInt8(ascii: "#") ? "#" : ""
                while !hashes.isEmpty, skip("#") { hashes += "#" }
                let isLiteral = hashes.isEmpty || skip("\"")
                previous = isLiteral ? readLiteral(hashes, after: isContinued ? previous : nil) : nil
                isContinued = false
            case UInt8(ascii: "/") where skip("/"): while !isNext("\n"), next() != nil {}
            case UInt8(ascii: "/") where skip("*"): while !skip("*/"), next() != nil {}
            case UInt8(ascii: "+"): isContinued = previous != nil
            case UInt8(ascii: " "), UInt8(ascii: "\n"): break
            case UInt8(ascii: ")") where depth == 0: return
            default:
                if byte == UInt8(ascii: "(") { depth += 1 } else if byte == UInt8(ascii: ")") { depth -= 1 }
                (previous, isContinued) = (nil, false)
            }
        }
    }

    /// Reads a literal after its first quote, and returns the index of its text.
    private mutating func readLiteral(_ hashes: String, after previous: Int?) -> Int {
        let index = previous ?? texts.count
        if previous == nil { texts.append(Text(line: line, content: "")) }
        let end = (skip("\"\"") ? "\"\"\"" : "\"") + hashes
        var content: [UInt8] = []
        while !skip(end) {
            if skip("\\" + hashes) {
                content += readEscape()
            } else if let byte = next() {
                content.append(byte)
            } else {
                break
            }
        }
        texts[index].content += String(decoding: content, as: UTF8.self)
        return index
    }

    /// Reads the rest of an escape, and returns its character.
    private mutating func readEscape() -> [UInt8] {
        let start = position
        switch next() {
        case UInt8(ascii: "("):
            readCode()
            let code = String(decoding: source[start + 1..<position - 1], as: UTF8.self)
            let isName = code.allSatisfy { $0.isLetter || $0.isNumber || $0 == "." }
            return Array("{\(isName ? code : "…")}".utf8)
        case UInt8(ascii: "u"):
            while !skip("}"), next() != nil {}
            let digits = String(decoding: source[start + 2..<position - 1], as: UTF8.self)
            let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init)
            return Array(String(scalar.map(Character.init) ?? "…").utf8)
        case UInt8(ascii: "\""): return [UInt8(ascii: "\"")]
        case UInt8(ascii: "\\"): return [UInt8(ascii: "\\")]
        default: return [UInt8(ascii: " ")]  // \n, \t, or the end of a line that continues
        }
    }

    private mutating func next() -> UInt8? {
        guard position < source.count else { return nil }
        defer { position += 1 }
        if source[position] == UInt8(ascii: "\n") { line += 1 }
        return source[position]
    }

    private func isNext(_ text: String) -> Bool { source[position...].starts(with: text.utf8) }

    private mutating func skip(_ text: String) -> Bool {
        guard isNext(text) else { return false }
        position += text.utf8.count
        return true
    }
}
