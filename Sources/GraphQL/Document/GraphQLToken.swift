/// The smallest part of a document's text that means something (GraphQL specification, 2.1.6), by its place.
struct GraphQLToken {
    enum Kind: UInt8 {
        case end
        case name, int, float, string, blockString
        case bang, dollar, ampersand, parenLeft, parenRight, spread, colon, equals, at
        case bracketLeft, bracketRight, braceLeft, pipe, braceRight

        /// Whether it is a name or a number, two of which need something between them.
        var isWord: Bool { self == .name || self == .int || self == .float }

        /// Whether it is text in quotes.
        var isText: Bool { self == .string || self == .blockString }
    }

    var kind: Kind
    /// Where it begins, in bytes; with its quotes.
    var start: Int
    /// Where it ends.
    var end: Int
}

/// What is wrong with a document's text, and where.
struct GraphQLFault: Error {
    /// In bytes from the beginning.
    var offset: Int
    /// What is wrong, as a sentence without capital and full stop.
    var reason: String
    /// What to try.
    var advice: String?

    init(_ offset: Int, _ reason: String, advice: String? = nil) {
        self.offset = offset
        self.reason = reason
        self.advice = advice
    }
}
