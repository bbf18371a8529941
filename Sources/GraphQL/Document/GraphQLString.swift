/// Decodes and encodes string values of documents (GraphQL specification, 2.9.4).
enum GraphQLString {
    /// Returns the scalar of an escape `\uXXXX`, of a surrogate pair of two such escapes, or of `\u{X…}`, and the end
    /// of the escape. The scalar is `nil` if the escape is invalid.
    static func scalar(in bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> (Unicode.Scalar?, end: Int) {
        let digits = start + 2
        if digits < bytes.count, bytes[digits] == UInt8(ascii: "{") { return braced(in: bytes, at: digits + 1) }
        guard let high = number(in: bytes, at: digits) else { return (nil, digits) }
        if let scalar = Unicode.Scalar(high) { return (scalar, digits + 4) }
        guard (0xD800..<0xDC00).contains(high), digits + 6 <= bytes.count,
            bytes[digits + 4] == UInt8(ascii: "\\"), bytes[digits + 5] == UInt8(ascii: "u"),
            let low = number(in: bytes, at: digits + 6), (0xDC00..<0xE000).contains(low)
        else { return (nil, digits + 4) }
        return (Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + low - 0xDC00), digits + 10)
    }

    /// Returns the number that four hexadecimal digits represent.
    private static func number(in bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> UInt32? {
        guard start + 4 <= bytes.count else { return nil }
        var number: UInt32 = 0
        for index in start..<(start + 4) {
            guard let digit = bytes[index].hexDigit else { return nil }
            number = number << 4 | digit
        }
        return number
    }

    private static func braced(
        in bytes: UnsafeBufferPointer<UInt8>,
        at start: Int
    ) -> (Unicode.Scalar?, end: Int) {
        var number: UInt32 = 0
        var index = start
        while index < bytes.count, let digit = bytes[index].hexDigit, number <= 0x10FFFF {
            number = number << 4 | digit
            index += 1
        }
        guard index > start, index < bytes.count, bytes[index] == UInt8(ascii: "}") else { return (nil, index) }
        return (Unicode.Scalar(number), index + 1)
    }

    /// Returns the value of a string token, which the lexer has checked.
    static func value(of token: GraphQLToken, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        if token.kind == .blockString {
            return blockValue(of: bytes[(token.start + 3)..<(token.end - 3)])
        }
        var text: [UInt8] = []
        var index = token.start + 1
        while index < token.end - 1 {
            let byte = bytes[index]
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                index += 1
                continue
            }
            let escape = bytes[index + 1]
            if escape == UInt8(ascii: "u") {
                let (scalar, end) = scalar(in: bytes, at: index)
                text.append(contentsOf: String(scalar ?? "\u{FFFD}").utf8)
                index = end
            } else {
                text.append(simpleEscapes[escape] ?? escape)
                index += 2
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let simpleEscapes: [UInt8: UInt8] = [
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D,
        UInt8(ascii: "t"): 0x09,
    ]
}

// MARK: - Block strings

extension GraphQLString {
    /// Returns the value of a block string, as `BlockStringValue()` of the specification: the text between `"""`
    /// without the common indentation of its lines, and without blank lines at the start and end.
    private static func blockValue(of written: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        var lines = lines(of: withoutEscapes(written))
        let indents = lines.dropFirst().compactMap { line in
            line.firstIndex { !$0.isBlank }.map { $0 - line.startIndex }
        }
        if let indent = indents.min() {
            for index in lines.indices.dropFirst() { lines[index] = lines[index].dropFirst(indent) }
        }
        let isBlank = { (line: ArraySlice<UInt8>) in line.allSatisfy(\.isBlank) }
        guard let first = lines.firstIndex(where: { !isBlank($0) }),
            let last = lines.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(decoding: Array(lines[first...last].joined(separator: [0x0A])), as: UTF8.self)
    }

    /// Replaces `\"""` by three quotes.
    private static func withoutEscapes(_ written: Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(written.count)
        var rest = written
        let quotes = [UInt8](repeating: UInt8(ascii: "\""), count: 3)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.starts(with: quotes) {
                text.append(contentsOf: quotes)
                rest = rest.dropFirst(3)
            } else {
                text.append(byte)
            }
        }
        return text
    }

    /// Splits a text into lines, which end with LF, CR or both (2.1.3).
    private static func lines(of text: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        var index = 0
        while index < text.count {
            if text[index] == 0x0A || text[index] == 0x0D {
                lines.append(text[start..<index])
                if text[index] == 0x0D, index + 1 < text.count, text[index + 1] == 0x0A { index += 1 }
                start = index + 1
            }
            index += 1
        }
        return lines + [text[start...]]
    }

    /// Returns a text as a single-line string literal.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{0}"..<"\u{20}", "\u{7F}":
                let digits = String(scalar.value, radix: 16, uppercase: true)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension UInt8 {
    /// Whether the byte is white space within a line (2.1.2).
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }
}
