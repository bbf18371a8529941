/// An incremental tokenizer for JSON text (RFC 8259), which also checks the grammar.
///
/// The input may be split at any byte; only for complete text is `JSONScanner` faster. Tokens contain positions, not
/// values: numbers and text aren't converted, and an unpaired surrogate is accepted. A byte order mark is skipped.
package struct JSONTokenizer: Sendable {
    /// A token and its position in the text.
    package struct Token: Sendable, Hashable {
        package enum Kind: UInt8, Sendable {
            case objectStart, objectEnd, arrayStart, arrayEnd
            /// The name of a member.
            case name
            case string, number, `true`, `false`, null
        }

        package let kind: Kind
        /// The offset of the first byte from the beginning of the text, including the quote of a string.
        package let start: Int
        /// The offset after the last byte.
        package let end: Int
        /// Whether a name or string contains escapes.
        package let hasEscapes: Bool

        package init(_ kind: Kind, _ start: Int, _ end: Int, hasEscapes: Bool = false) {
            self.kind = kind
            self.start = start
            self.end = end
            self.hasEscapes = hasEscapes
        }
    }

    private enum State {
        case value, valueOrArrayEnd, name, nameOrObjectEnd, colon, commaOrEnd, end
        case text, backslash, hexDigits, number, word
    }

    /// The number of bytes read so far.
    package private(set) var offset = 0
    /// Whether the value is complete.
    package private(set) var isAtEnd = false
    private var state = State.value
    private var open = OpenContainers()
    /// The start of the current token, and its state.
    private var start = 0
    private var isName = false
    private var hasEscapes = false
    private var hexDigits = 0
    /// The number of bytes of a byte order mark read so far.
    private var marks = 0
    private var part = JSONGrammar.NumberPart.minus
    private var word: (kind: Token.Kind, text: StaticString) = (.null, "null")

    package init() {}

    /// Whether no part of the value has been read.
    package var isFresh: Bool {
        if case .value = state, open.count == 0 { return true }
        return false
    }

    /// The kind and start of the incomplete string, number or literal, or `nil` between tokens.
    package var openToken: (kind: Token.Kind, start: Int)? {
        switch state {
        case .text, .backslash, .hexDigits: (isName ? .name : .string, start)
        case .number: (.number, start)
        case .word: (word.kind, start)
        default: nil
        }
    }

    /// The number of open containers.
    package var depth: Int { open.count }

    /// Reads the next piece of the text.
    ///
    /// - Parameter emit: A function called with each token that ends in this piece.
    /// - Throws: `JSONFault` if the text violates the grammar, or is nested deeper than `JSONValue.depthLimit`.
    package mutating func feed(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ emit: (Token) -> Void
    ) throws(JSONFault) {
        let base = offset
        var index = 0
        while index < bytes.count {
            if state == .text {
                index = JSONText.endOfPlain(bytes, from: index)
                offset = base + index
                guard index < bytes.count else { return }
                try takeInText(bytes[index], emit)
            } else {
                offset = base + index
                try take(bytes[index], emit)
            }
            index += 1
        }
        offset = base + bytes.count
    }

    /// Ends the text.
    ///
    /// - Throws: `JSONFault` if the text is incomplete.
    package mutating func finish(_ emit: (Token) -> Void) throws(JSONFault) {
        if state == .number, part.isComplete { endScalar(.number, emit) }
        if state == .word { throw expectedValue }
        guard isAtEnd else { throw fault("unexpected end of the text") }
    }

    private func fault(_ reason: String) -> JSONFault {
        JSONFault(offset: offset, reason: reason)
    }

    /// Reads one byte outside of a string's plain text.
    private mutating func take(_ byte: UInt8, _ emit: (Token) -> Void) throws(JSONFault) {
        switch state {
        case .backslash, .hexDigits: try takeEscape(byte)
        case .word: try takeLiteral(byte, emit)
        case .number:
            if let next = part.next(byte) { return part = next }
            guard part.isComplete else { throw fault("expected a digit") }
            endScalar(.number, emit)
            try take(byte, emit)
        default:
            if offset < 3, try takeByteOrderMark(byte) { return }
            if byte.isJSONSpace { return }
            try takeStructure(byte, emit)
        }
    }

    private mutating func takeByteOrderMark(_ byte: UInt8) throws(JSONFault) -> Bool {
        guard offset == marks else { return false }
        let isMark = byte == (offset == 0 ? 0xEF : offset == 1 ? 0xBB : 0xBF)
        guard isMark || marks == 0 else { throw expectedValue }
        if isMark { marks += 1 }
        return isMark
    }

    private mutating func takeStructure(_ byte: UInt8, _ emit: (Token) -> Void) throws(JSONFault) {
        switch (state, byte) {
        case (.value, _): try beginValue(byte, emit)
        case (.valueOrArrayEnd, UInt8(ascii: "]")), (.nameOrObjectEnd, UInt8(ascii: "}")): try close(byte, emit)
        case (.valueOrArrayEnd, _): try beginValue(byte, emit)
        case (.name, UInt8(ascii: "\"")), (.nameOrObjectEnd, UInt8(ascii: "\"")): beginText(isName: true)
        case (.name, _), (.nameOrObjectEnd, _): throw fault("expected a member name in quotes")
        case (.colon, UInt8(ascii: ":")): state = .value
        case (.colon, _): throw fault("expected a colon")
        case (.commaOrEnd, UInt8(ascii: ",")): state = open.isObject ? .name : .value
        case (.commaOrEnd, _): try close(byte, emit)
        default: throw fault("unexpected text after the value")
        }
    }

    private mutating func beginValue(_ byte: UInt8, _ emit: (Token) -> Void) throws(JSONFault) {
        start = offset
        switch byte {
        case UInt8(ascii: "{"): try open(isObject: true, emit)
        case UInt8(ascii: "["): try open(isObject: false, emit)
        case UInt8(ascii: "\""): beginText(isName: false)
        default:
            if let literal = JSONGrammar.literal(byte) {
                word = literal
                state = .word
            } else if let first = JSONGrammar.NumberPart(first: byte) {
                part = first
                state = .number
            } else {
                throw expectedValue
            }
        }
    }

    private var expectedValue: JSONFault { JSONFault(offset: start, reason: "expected a value") }

    private mutating func open(isObject: Bool, _ emit: (Token) -> Void) throws(JSONFault) {
        guard open.count < JSONValue.depthLimit else {
            throw fault("nested more than \(JSONValue.depthLimit) levels deep")
        }
        open.append(isObject: isObject)
        state = isObject ? .nameOrObjectEnd : .valueOrArrayEnd
        emit(Token(isObject ? .objectStart : .arrayStart, offset, offset + 1))
    }

    private mutating func close(_ byte: UInt8, _ emit: (Token) -> Void) throws(JSONFault) {
        let isObject = open.isObject
        guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
            throw fault("expected a comma or the end of the \(isObject ? "object" : "array")")
        }
        open.removeLast()
        endValue()
        emit(Token(isObject ? .objectEnd : .arrayEnd, offset, offset + 1))
    }

    private mutating func endValue() {
        isAtEnd = open.count == 0
        state = isAtEnd ? .end : .commaOrEnd
    }

    /// Ends a token whose end is known only when another byte follows it.
    private mutating func endScalar(_ kind: Token.Kind, _ emit: (Token) -> Void) {
        endValue()
        emit(Token(kind, start, offset))
    }

    private mutating func takeLiteral(_ byte: UInt8, _ emit: (Token) -> Void) throws(JSONFault) {
        let place = offset - start
        guard word.text.withUTF8Buffer({ $0[place] }) == byte else { throw expectedValue }
        guard place + 1 == word.text.utf8CodeUnitCount else { return }
        endValue()
        emit(Token(word.kind, start, offset + 1))
    }
}

// MARK: - Text

extension JSONTokenizer {
    private mutating func beginText(isName: Bool) {
        start = offset
        self.isName = isName
        hasEscapes = false
        state = .text
    }

    private mutating func takeInText(_ byte: UInt8, _ emit: (Token) -> Void) throws(JSONFault) {
        switch byte {
        case UInt8(ascii: "\""):
            if isName { state = .colon } else { endValue() }
            emit(Token(isName ? .name : .string, start, offset + 1, hasEscapes: hasEscapes))
        case UInt8(ascii: "\\"):
            hasEscapes = true
            state = .backslash
        default: throw fault("a control character in a string must be escaped")
        }
    }

    private mutating func takeEscape(_ byte: UInt8) throws(JSONFault) {
        if state == .hexDigits {
            guard byte.hexValue != nil else { throw fault("expected a hexadecimal digit") }
            hexDigits += 1
            if hexDigits == 4 { state = .text }
            return
        }
        if byte == UInt8(ascii: "u") {
            hexDigits = 0
            state = .hexDigits
        } else if JSONGrammar.byte(ofEscape: byte) != nil {
            state = .text
        } else {
            throw fault("unknown escape")
        }
    }
}

/// The position and reason of an error in JSON text.
package struct JSONFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number of bytes before the error.
    package var offset: Int
    /// The path of the value in the text, such as `$.log.entries[3].time`, or an empty string if it is unknown.
    package var path: String
    /// The reason for the error.
    package var reason: String

    package init(offset: Int, path: String = "", reason: String) {
        self.offset = offset
        self.path = path
        self.reason = reason
    }

    package var description: String {
        "invalid JSON at byte \(offset)\(path.isEmpty ? "" : " (\(path))"): \(reason)"
    }
}
