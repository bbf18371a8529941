/// A part of a document's tree. Nodes lie one behind the other as they are written: what is in a node follows it, up
/// to `next`.
package struct GraphQLNode: Sendable {
    package enum Kind: UInt8, Sendable {
        case query, mutation, subscription, fragment
        case variableDefinition, type, directive, argument
        case field, spread, inlineFragment
        case variable, int, float, string, boolean, null, enumValue, list, object, objectField
    }

    /// Where something stands in the text, in bytes.
    package struct Place: Equatable, Sendable {
        var start: Int32 = 0
        var end: Int32 = 0

        static let none = Place()

        init() {}

        init(_ token: GraphQLToken) {
            start = Int32(truncatingIfNeeded: token.start)
            end = Int32(truncatingIfNeeded: token.end)
        }

        package var isEmpty: Bool { start == end }
        var range: Range<Int> { Int(start)..<Int(end) }
    }

    package let kind: Kind
    /// Whether a type is without null.
    var isNonNull = false
    /// All of it.
    package var place = Place()
    /// Its name, as it is declared by the server or the document.
    package var name = Place()
    /// A field's alias or a fragment's type condition.
    package var other = Place()
    /// Behind the last node that is in it.
    package var next: Int32 = 0
    /// The node of the fragment that a spread names.
    package var target: Int32 = -1

    init(kind: Kind, at start: GraphQLToken) {
        self.kind = kind
        place = Place(start)
    }

    /// Says where it ends, and which node comes behind all that is in it.
    mutating func close(at end: Int, before next: Int) {
        place.end = Int32(truncatingIfNeeded: end)
        self.next = Int32(truncatingIfNeeded: next)
    }

    /// Whether it is an operation.
    var isOperation: Bool { kind.rawValue <= Kind.subscription.rawValue }

    /// Whether it is a member of a selection set.
    package var isSelection: Bool { kind == .field || kind == .spread || kind == .inlineFragment }
}
