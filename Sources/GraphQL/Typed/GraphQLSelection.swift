/// A selection set: the fields and fragments selected from an object, in order (GraphQL specification, 2.4).
public struct GraphQLSelection: Sendable, Hashable {
    /// A part of a selection set.
    public indirect enum Part: Sendable, Hashable {
        /// A field.
        case field(Field)
        /// A fragment spread.
        case fragment(Fragment)
        /// An inline fragment: parts for objects of one type, or of any type if `nil`.
        case inline(on: String?, [Directive], GraphQLSelection)
    }

    /// The parts in order; empty for a leaf.
    public var parts: [Part]

    /// Creates a selection set from parts.
    public init(_ parts: [Part] = []) {
        self.parts = parts
    }

    /// Creates a selection set with a result builder.
    public init(@Builder _ selection: () -> GraphQLSelection) {
        self = selection()
    }
}

extension GraphQLSelection: CustomStringConvertible {
    /// The selection set in GraphQL syntax, with braces; empty if there are no parts.
    public var description: String {
        var writer = GraphQLWriter()
        writer.write(self)
        return writer.text
    }
}
