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
