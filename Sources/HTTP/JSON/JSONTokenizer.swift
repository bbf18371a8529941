/// Splits JSON text (RFC 8259) that comes in pieces of any size into tokens, and checks its grammar.
///
/// It says where tokens are, not what they mean: numbers and text stay as they are written, and half of a surrogate
/// pair passes. A byte order mark is passed over.
package struct JSONTokenizer: Sendable {
    /// A part of a text, by its place.
    package struct Token: Sendable, Hashable {
        package enum Kind: UInt8, Sendable {
            case objectStart, objectEnd, arrayStart, arrayEnd
            /// A member's name.
            case name
            case string, number, `true`, `false`, null
        }

        package let kind: Kind
        /// Where it begins, in bytes from the beginning of the text; with its quotes.
        package let start: Int
        /// Where it ends.
        package let end: Int
        /// Whether a name or string has escapes.
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

    fileprivate enum NumberPart {
        case minus, zero, whole, point, fraction, exponent, exponentSign, exponentDigits

        /// Whether a number may end here.
        var isComplete: Bool {
            switch self {
            case .zero, .whole, .fraction, .exponentDigits: true
            default: false
            }
        }
    }

    /// Bytes taken so far.
    package private(set) var offset = 0
    /// Whether the whole value has come.
    package private(set) var isAtEnd = false
    private var state = State.value
    /// Which of the open containers are objects, outermost first.
    private var open: [Bool] = []
    /// Where the token begins that is being read, and what is known of it.
    private var start = 0
    private var isName = false
    private var hasEscapes = false
    private var hexDigits = 0
    /// How many bytes of a byte order mark have come.
    private var marks = 0
    private var part = NumberPart.minus
    private var word: (kind: Token.Kind, text: StaticString) = (.null, "null")

    package init() {}

    /// Whether nothing of a value has come.
    package var isFresh: Bool {
        if case .value = state, open.isEmpty { return true }
        return false
    }

    /// The text, number or word whose end has not come, and where it begins.
    package var openToken: (kind: Token.Kind, start: Int)? {
        switch state {
        case .text, .backslash, .hexDigits: (isName ? .name : .string, start)
        case .number: (.number, start)
        case .word: (word.kind, start)
        default: nil
        }
    }

    /// How many containers are open.
    package var depth: Int { open.count }

    /// Takes the next piece of the text.
    ///
    /// - Parameter emit: takes each token that ends in it.
    /// - Throws: `JSONFault` where the text breaks the grammar, or is nested deeper than `JSONValue.depthLimit`.
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

    /// Says that the text has come to its end.
    ///
    /// - Throws: `JSONFault` where something is missing.
    package mutating func finish(_ emit: (Token) -> Void) throws(JSONFault) {
        if state == .number, part.isComplete { endScalar(.number, emit) }
        if state == .word { throw noWord }
        guard isAtEnd else { throw fault("unexpected end of the text") }
    }

    private func fault(_ reason: String) -> JSONFault {
        JSONFault(offset: offset, reason: reason)
    }

    /// One byte outside of a string's plain text.
    private mutating func take(_ byte: UInt8, _ emit: (Token) -> Void) throws(JSONFault) {
        switch state {
        case .backslash, .hexDigits: try takeEscape(byte)
        case .word: try takeWord(byte, emit)
        case .number:
            if let next = part.next(byte) { return part = next }
            guard part.isComplete else { throw fault("expected a digit") }
            endScalar(.number, emit)
            try take(byte, emit)
        default:
            if offset < 3, try takeByteOrderMark(byte) { return }
            if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { return }
            try takeStructure(byte, emit)
        }
    }

    private mutating func takeByteOrderMark(_ byte: UInt8) throws(JSONFault) -> Bool {
        guard offset == marks else { return false }
        let isMark = byte == (offset == 0 ? 0xEF : offset == 1 ? 0xBB : 0xBF)
        guard isMark || marks == 0 else { throw noWord }
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
        case (.commaOrEnd, UInt8(ascii: ",")): state = open.last == true ? .name : .value
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
        case UInt8(ascii: "t"): begin(.true, "true")
        case UInt8(ascii: "f"): begin(.false, "false")
        case UInt8(ascii: "n"): begin(.null, "null")
        case UInt8(ascii: "-"): begin(.minus)
        case UInt8(ascii: "0"): begin(.zero)
        case UInt8(ascii: "1")...UInt8(ascii: "9"): begin(.whole)
        default: throw noWord
        }
    }

    private mutating func begin(_ part: NumberPart) {
        self.part = part
        state = .number
    }

    private mutating func begin(_ kind: Token.Kind, _ text: StaticString) {
        word = (kind, text)
        state = .word
    }

    private var noWord: JSONFault { JSONFault(offset: start, reason: "expected a value") }

    private mutating func open(isObject: Bool, _ emit: (Token) -> Void) throws(JSONFault) {
        guard open.count < JSONValue.depthLimit else {
            throw fault("nested more than \(JSONValue.depthLimit) levels deep")
        }
        open.append(isObject)
        state = isObject ? .nameOrObjectEnd : .valueOrArrayEnd
        emit(Token(isObject ? .objectStart : .arrayStart, offset, offset + 1))
    }

    private mutating func close(_ byte: UInt8, _ emit: (Token) -> Void) throws(JSONFault) {
        let isObject = open.last == true
        guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
            throw fault("expected a comma or the end of the \(isObject ? "object" : "array")")
        }
        open.removeLast()
        endValue()
        emit(Token(isObject ? .objectEnd : .arrayEnd, offset, offset + 1))
    }

    private mutating func endValue() {
        isAtEnd = open.isEmpty
        state = isAtEnd ? .end : .commaOrEnd
    }

    /// Ends what is known to be over only when something else comes.
    private mutating func endScalar(_ kind: Token.Kind, _ emit: (Token) -> Void) {
        endValue()
        emit(Token(kind, start, offset))
    }

    private mutating func takeWord(_ byte: UInt8, _ emit: (Token) -> Void) throws(JSONFault) {
        let place = offset - start
        guard word.text.withUTF8Buffer({ $0[place] }) == byte else { throw noWord }
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
        switch byte {
        case UInt8(ascii: "u"):
            hexDigits = 0
            state = .hexDigits
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            state = .text
        default: throw fault("unknown escape")
        }
    }
}

extension JSONTokenizer.NumberPart {
    /// What part a byte belongs to that goes on with the number; nil where the number is over.
    fileprivate func next(_ byte: UInt8) -> Self? {
        let isDigit = byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
        switch self {
        case .minus where isDigit: return byte == UInt8(ascii: "0") ? .zero : .whole
        case .whole where isDigit: return .whole
        case .point where isDigit, .fraction where isDigit: return .fraction
        case .exponent where isDigit, .exponentSign where isDigit, .exponentDigits where isDigit:
            return .exponentDigits
        case .zero where byte == UInt8(ascii: "."), .whole where byte == UInt8(ascii: "."): return .point
        case .zero where byte | 0x20 == UInt8(ascii: "e"), .whole where byte | 0x20 == UInt8(ascii: "e"),
            .fraction where byte | 0x20 == UInt8(ascii: "e"):
            return .exponent
        case .exponent where byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"): return .exponentSign
        default: return nil
        }
    }
}

/// Where a JSON text breaks the grammar, and how.
package struct JSONFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// Bytes before the place.
    package var offset: Int
    /// The place in the value (`$.log.entries[3].time`), where known.
    package var path: String
    /// What is wrong.
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
