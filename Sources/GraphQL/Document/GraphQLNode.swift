/// A node of a document's syntax tree. Nodes are stored in source order: the descendants of a node follow it, up to
/// `next`.
package struct GraphQLNode: Sendable {
    package enum Kind: UInt8, Sendable {
        case query, mutation, subscription, fragment
        case variableDefinition, type, directive, argument
        case field, spread, inlineFragment
        case variable, int, float, string, boolean, null, enumValue, list, object, objectField
    }

    /// The range of a piece of source text, in bytes.
    package struct SourceRange: Equatable, Sendable {
        var start: Int32 = 0
        var end: Int32 = 0

        static let none = SourceRange()

        init() {}

        init(_ token: GraphQLToken) {
            start = Int32(truncatingIfNeeded: token.start)
            end = Int32(truncatingIfNeeded: token.end)
        }

        package var isEmpty: Bool { start == end }
        var range: Range<Int> { Int(start)..<Int(end) }
    }

    package let kind: Kind
    /// Whether a type is non-null.
    var isNonNull = false
    /// The range of the whole node.
    package var place = SourceRange()
    /// The name, as declared by the server or the document.
    package var name = SourceRange()
    /// The alias of a field, or the type condition of a fragment.
    package var other = SourceRange()
    /// The index after the node's last descendant.
    package var next: Int32 = 0
    /// The index of the fragment that a spread names.
    package var target: Int32 = -1

    init(kind: Kind, at start: GraphQLToken) {
        self.kind = kind
        place = SourceRange(start)
    }

    /// Sets the end of the node, and the index after its last descendant.
    mutating func close(at end: Int, before next: Int) {
        place.end = Int32(truncatingIfNeeded: end)
        self.next = Int32(truncatingIfNeeded: next)
    }

    /// Whether the node is an operation.
    var isOperation: Bool { kind.rawValue <= Kind.subscription.rawValue }

    /// Whether the node is a member of a selection set.
    package var isSelection: Bool { kind == .field || kind == .spread || kind == .inlineFragment }
}
