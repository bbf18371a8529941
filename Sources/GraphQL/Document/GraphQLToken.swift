/// A token of a document's text (GraphQL specification, 2.1.6), by its range.
struct GraphQLToken {
    enum Kind: UInt8 {
        case end
        case name, int, float, string, blockString
        case bang, dollar, ampersand, parenLeft, parenRight, spread, colon, equals, at
        case bracketLeft, bracketRight, braceLeft, pipe, braceRight

        /// Whether the token is a name or a number. Two of them need a separator.
        var isWord: Bool { self == .name || self == .int || self == .float }

        /// Whether the token is a string.
        var isText: Bool { self == .string || self == .blockString }
    }

    var kind: Kind
    /// The offset of the first byte, including quotes.
    var start: Int
    /// The offset after the last byte.
    var end: Int
}

extension GraphQLToken.Kind {
    /// Creates the kind of a single-byte punctuator, or `nil` if the byte isn't one (2.1.8).
    init?(punctuator byte: UInt8) {
        switch byte {
        case UInt8(ascii: "{"): self = .braceLeft
        case UInt8(ascii: "}"): self = .braceRight
        case UInt8(ascii: "("): self = .parenLeft
        case UInt8(ascii: ")"): self = .parenRight
        case UInt8(ascii: ":"): self = .colon
        case UInt8(ascii: "$"): self = .dollar
        case UInt8(ascii: "!"): self = .bang
        case UInt8(ascii: "["): self = .bracketLeft
        case UInt8(ascii: "]"): self = .bracketRight
        case UInt8(ascii: "@"): self = .at
        case UInt8(ascii: "="): self = .equals
        case UInt8(ascii: "|"): self = .pipe
        case UInt8(ascii: "&"): self = .ampersand
        default: return nil
        }
    }
}

/// A syntax or validation error of a document, with its position.
struct GraphQLSyntaxError: Error {
    /// The offset of the error, in bytes.
    var offset: Int
    /// The description of the error, without a capital and a full stop.
    var reason: String
    /// A suggestion to fix the error.
    var advice: String?

    init(_ offset: Int, _ reason: String, advice: String? = nil) {
        self.offset = offset
        self.reason = reason
        self.advice = advice
    }
}
