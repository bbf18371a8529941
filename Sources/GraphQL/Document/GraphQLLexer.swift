/// Splits a document's text into tokens (GraphQL specification, 2.1, October 2021 and the 2025 draft).
///
/// It reads the UTF-8 in place and copies nothing. The buffer must outlive the lexer.
struct GraphQLLexer {
    let bytes: UnsafeBufferPointer<UInt8>
    /// The offset at which the search for the next token starts.
    private(set) var offset: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        let hasMark = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
        offset = hasMark ? 3 : 0
    }

    /// Returns the next token, or `.end` for this and every later call at the end of the text.
    mutating func next() throws(GraphQLSyntaxError) -> GraphQLToken {
        let bytes = bytes
        // White space, line ends and commas are ignored (2.1.2, 2.1.3, 2.1.5).
        var start = offset
        while start < bytes.count, bytes[start].isIgnored { start &+= 1 }
        if start < bytes.count, bytes[start] == UInt8(ascii: "#") || bytes[start] == 0xEF {
            offset = start
            skipCommentsAndMarks()
            start = offset
        }
        guard start < bytes.count else { return end(.end, start, start) }
        let byte = bytes[start]
        if byte.isNameStart {
            var end = start &+ 1
            while end < bytes.count, bytes[end].isNamePart { end &+= 1 }
            return self.end(.name, start, end)
        }
        if let kind = GraphQLToken.Kind(punctuator: byte) { return end(kind, start, start &+ 1) }
        offset = start
        switch byte {
        case UInt8(ascii: "."): return try spread()
        case UInt8(ascii: "\""): return try isBlockQuote(at: offset) ? blockString() : string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default:
            throw GraphQLSyntaxError(
                offset,
                "\(currentCharacterText) is not allowed here",
                advice: Self.quoteAdvice(byte)
            )
        }
    }

    private mutating func end(_ kind: GraphQLToken.Kind, _ start: Int, _ end: Int) -> GraphQLToken {
        offset = end
        return GraphQLToken(kind: kind, start: start, end: end)
    }

    /// Skips comments (2.1.4), byte order marks (2025 draft, 2.1.2) and ignored characters between them.
    private mutating func skipCommentsAndMarks() {
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "#"): skipComment()
            case let byte where byte.isIgnored: offset += 1
            case 0xEF where byte(at: offset + 1) == 0xBB && byte(at: offset + 2) == 0xBF: offset += 3
            default: return
            }
        }
    }

    private mutating func skipComment() {
        while offset < bytes.count, bytes[offset] != 0x0A, bytes[offset] != 0x0D { offset += 1 }
    }

    /// Returns the byte at an index, or 0 past the end.
    private func byte(at index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

    private mutating func take(_ kind: GraphQLToken.Kind, _ count: Int) -> GraphQLToken {
        end(kind, offset, offset + count)
    }

    private mutating func spread() throws(GraphQLSyntaxError) -> GraphQLToken {
        guard byte(at: offset + 1) == UInt8(ascii: "."), byte(at: offset + 2) == UInt8(ascii: ".") else {
            throw GraphQLSyntaxError(offset, "\".\" is not allowed here, only \"...\" is")
        }
        return take(.spread, 3)
    }

    /// The character at the offset, for error messages.
    private var currentCharacterText: String {
        let rest = String(decoding: bytes[offset..<min(offset + 4, bytes.count)], as: UTF8.self)
        guard let scalar = rest.unicodeScalars.first, scalar.value >= 0x20, scalar.value != 0x7F else {
            return "a control character"
        }
        return "\"\(scalar)\""
    }

    private static func quoteAdvice(_ byte: UInt8) -> String? {
        byte == UInt8(ascii: "'") ? "put strings in double quotes" : nil
    }
}

// MARK: - Numbers

extension GraphQLLexer {
    /// Reads an integer, or a number with a fraction or exponent (2.9.1, 2.9.2).
    private mutating func number() throws(GraphQLSyntaxError) -> GraphQLToken {
        var end = offset + (bytes[offset] == UInt8(ascii: "-") ? 1 : 0)
        var kind = GraphQLToken.Kind.int
        if byte(at: end) == UInt8(ascii: "0") {
            end += 1
            guard !byte(at: end).isDigit else {
                throw GraphQLSyntaxError(end, "a number must not have leading zeros")
            }
        } else {
            end = try digits(from: end)
        }
        if byte(at: end) == UInt8(ascii: ".") {
            kind = .float
            end = try digits(from: end + 1)
        }
        if byte(at: end) | 0x20 == UInt8(ascii: "e") {
            kind = .float
            end += 1
            if byte(at: end) == UInt8(ascii: "+") || byte(at: end) == UInt8(ascii: "-") { end += 1 }
            end = try digits(from: end)
        }
        guard !byte(at: end).isNameStart, byte(at: end) != UInt8(ascii: ".") else {
            throw GraphQLSyntaxError(end, "unexpected character after a number")
        }
        return take(kind, end - offset)
    }

    private func digits(from start: Int) throws(GraphQLSyntaxError) -> Int {
        guard byte(at: start).isDigit else { throw GraphQLSyntaxError(start, "expected a digit") }
        var end = start + 1
        while byte(at: end).isDigit { end += 1 }
        return end
    }
}

// MARK: - Text

extension GraphQLLexer {
    private func isBlockQuote(at index: Int) -> Bool {
        byte(at: index) == UInt8(ascii: "\"") && byte(at: index + 1) == UInt8(ascii: "\"")
            && byte(at: index + 2) == UInt8(ascii: "\"")
    }

    private mutating func string() throws(GraphQLSyntaxError) -> GraphQLToken {
        var end = offset + 1
        while end < bytes.count {
            switch bytes[end] {
            case UInt8(ascii: "\""): return take(.string, end + 1 - offset)
            case UInt8(ascii: "\\"): end = try escape(at: end)
            case 0x0A, 0x0D:
                throw GraphQLSyntaxError(
                    end,
                    "the string is not closed before the end of the line",
                    advice: "close it with \", or put text of several lines between \"\"\""
                )
            default: end += 1
            }
        }
        throw GraphQLSyntaxError(offset, "the string that begins here is not closed")
    }

    private mutating func blockString() throws(GraphQLSyntaxError) -> GraphQLToken {
        var end = offset + 3
        while end < bytes.count {
            if isBlockQuote(at: end) { return take(.blockString, end + 3 - offset) }
            end += bytes[end] == UInt8(ascii: "\\") && isBlockQuote(at: end + 1) ? 4 : 1
        }
        throw GraphQLSyntaxError(offset, "the string that begins here is not closed")
    }

    /// Returns the end of the escape sequence at an offset.
    private func escape(at start: Int) throws(GraphQLSyntaxError) -> Int {
        switch byte(at: start + 1) {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return start + 2
        case UInt8(ascii: "u"):
            let (scalar, end) = GraphQLString.scalar(in: bytes, at: start)
            guard scalar != nil else {
                throw GraphQLSyntaxError(start, "\"\\u\" must be followed by a character code, as in \\u00E9")
            }
            return end
        default:
            throw GraphQLSyntaxError(start, "unknown escape sequence", advice: "write a backslash as \\\\")
        }
    }
}
