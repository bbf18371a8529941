import BeagleNetHTTP

/// A detector of expressions such as `@{context.items[0].value}` or `@{sum(a, 1)}`, which a screen evaluates before it
/// makes a request.
///
/// Similar text isn't an expression if there is no value in the braces, if the closing brace is missing, or if a
/// backslash precedes the `@`. An even number of backslashes escapes itself.
enum Expression {
    /// Returns whether a text contains an expression.
    static func occurs(in text: String) -> Bool {
        hasMark(text) && occurs(in: Array(text.utf8), backslashesPerEscape: 1)
    }

    /// Returns whether a URL contains an expression, which may be percent-encoded except for its `@`.
    static func occurs(inURL text: String) -> Bool {
        hasMark(text) && occurs(in: decoded(Array(text.utf8)), backslashesPerEscape: 1)
    }

    /// Returns whether a JSON text contains an expression.
    ///
    /// In JSON, a backslash is written as two. Data that isn't UTF-8 contains no expression.
    static func occurs(inJSON text: Data) -> Bool {
        let hasMark = text.withUnsafeBytes { $0.withMemoryRebound(to: UInt8.self, { $0.firstOffset(of: mark) != nil }) }
        return hasMark && occurs(in: Array(text), backslashesPerEscape: 2)
            && String(validating: text, as: UTF8.self) != nil
    }

    private static let mark = UInt8(ascii: "@")

    /// Returns whether a text contains an `@`, with a parallel search of its bytes, because most texts don't.
    private static func hasMark(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.firstOffset(of: mark) != nil } ?? text.utf8.contains(mark)
    }

    private static func occurs(in bytes: [UInt8], backslashesPerEscape: Int) -> Bool {
        var backslashes = 0
        for (index, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "\\") {
                backslashes += 1
                continue
            }
            if byte == mark, isLive(backslashes, backslashesPerEscape) {
                var reader = ExpressionReader(bytes[(index + 1)...])
                if reader.skipExpression() { return true }
            }
            backslashes = 0
        }
        return false
    }

    private static func isLive(_ backslashes: Int, _ perEscape: Int) -> Bool {
        backslashes % perEscape == 0 && (backslashes / perEscape).isMultiple(of: 2)
    }

    /// Returns the bytes without percent-encoding, except for `%40`, because an encoded `@` is literal.
    private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "%")) else { return bytes }
        var decoded: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.first {
            let digits = rest.dropFirst().prefix(2)
            let value = digits.count == 2 ? UInt8(String(decoding: digits, as: UTF8.self), radix: 16) : nil
            if byte == UInt8(ascii: "%"), let value, value != mark {
                decoded.append(value)
                rest = rest.dropFirst(3)
            } else {
                decoded.append(byte)
                rest = rest.dropFirst()
            }
        }
        return decoded
    }
}

/// A parser for the grammar of expressions: literals, bindings and operations, in braces.
private struct ExpressionReader {
    /// The maximum nesting of operations; a text with deeper nesting counts as an expression.
    private static let maxDepth = 64

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// Skips `{value}`.
    mutating func skipExpression() -> Bool {
        skip("{") && skipValue(depth: 0) && skip("}")
    }

    private mutating func skipValue(depth: Int) -> Bool {
        if depth > Self.maxDepth { return true }
        skipSpaces()
        defer { skipSpaces() }
        switch rest.first {
        case UInt8(ascii: "'"): return skipText()
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): return skipNumber()
        case let byte? where Self.isWord(byte): break
        default: return false
        }
        skipWord()
        return rest.first == UInt8(ascii: "(") ? skipArguments(depth: depth) : skipPath()
    }

    private mutating func skipArguments(depth: Int) -> Bool {
        guard skip("(") else { return false }
        skipSpaces()
        if skip(")") { return true }
        repeat {
            guard skipValue(depth: depth + 1) else { return false }
            if depth >= Self.maxDepth { return true }
        } while skip(",")
        return skip(")")
    }

    /// Skips the path after the name of a binding: `.name` and `[0]`, any number of times.
    private mutating func skipPath() -> Bool {
        while true {
            if skip(".") {
                guard rest.first.map(Self.isWord) == true else { return false }
                skipWord()
            } else if skip("[") {
                let digits = rest.prefix(while: Self.isDigit)
                rest = rest.dropFirst(digits.count)
                guard !digits.isEmpty, skip("]") else { return false }
            } else {
                return true
            }
        }
    }

    private mutating func skipNumber() -> Bool {
        _ = skip("-")
        let digits = rest.prefix { Self.isDigit($0) || $0 == UInt8(ascii: ".") }
        rest = rest.dropFirst(digits.count)
        return digits.first.map(Self.isDigit) == true
    }

    /// Skips `'text'`, in which a backslash escapes the next character.
    private mutating func skipText() -> Bool {
        guard skip("'") else { return false }
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "'") { return true }
            guard byte == UInt8(ascii: "\\") else { continue }
            rest = rest.drop { $0 == UInt8(ascii: "\\") }.dropFirst()
        }
        return false
    }

    private mutating func skipWord() {
        rest = rest.drop(while: Self.isWord)
    }

    private mutating func skipSpaces() {
        rest = rest.drop { $0 == UInt8(ascii: " ") }
    }

    private mutating func skip(_ mark: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: mark) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || isDigit(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }
}
