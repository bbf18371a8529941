/// A selection set: the fields and fragments selected from an object, in order (GraphQL specification, 2.4).
public struct GraphQLSelection: Sendable, Hashable {
    /// A part of a selection set.
    public indirect enum Part: Sendable, Hashable {
        /// A field.
        case field(GraphQLField)
        /// A fragment spread.
        case fragment(GraphQLFragment)
        /// An inline fragment: parts for objects of one type, or of any type if `nil`.
        case inline(on: String?, [GraphQLDirective], GraphQLSelection)
    }

    /// The parts in order; empty for a leaf.
    public var parts: [Part]

    /// Creates a selection set from parts.
    public init(_ parts: [Part] = []) {
        self.parts = parts
    }

    /// Creates a selection set with a result builder.
    public init(@GraphQLSelectionBuilder _ selection: () -> GraphQLSelection) {
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

/// A field of a selection set.
public struct GraphQLField: Sendable, Hashable {
    /// The name of the field.
    public var name: String
    /// The alias, or `nil` if the response key is the name.
    public var alias: String?
    /// The arguments of the field.
    public var arguments: GraphQLMembers
    /// The directives of the field.
    public var directives: [GraphQLDirective]
    /// The selection set of the field; empty for a leaf.
    public var selection: GraphQLSelection

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - alias: The response key; the name by default.
    ///   - arguments: The arguments, in order.
    ///   - directives: The directives of the field.
    ///   - selection: The selection set of the field.
    public init(
        _ name: String,
        alias: String? = nil,
        arguments: GraphQLMembers = [:],
        directives: [GraphQLDirective] = [],
        @GraphQLSelectionBuilder _ selection: () -> GraphQLSelection = { GraphQLSelection() }
    ) {
        self.name = name
        self.alias = alias
        self.arguments = arguments
        self.directives = directives
        self.selection = selection()
    }
}

/// A directive, such as `@include(if: $wanted)`.
public struct GraphQLDirective: Sendable, Hashable {
    /// The name of the directive, without `@`.
    public var name: String
    /// The arguments of the directive.
    public var arguments: GraphQLMembers

    /// Creates a directive.
    public init(_ name: String, arguments: GraphQLMembers = [:]) {
        self.name = name
        self.arguments = arguments
    }

    /// Returns a directive that includes the field only if a variable or Boolean is true.
    public static func include(if condition: GraphQLValue) -> Self {
        Self("include", arguments: ["if": condition])
    }

    /// Returns a directive that skips the field if a variable or Boolean is true.
    public static func skip(if condition: GraphQLValue) -> Self {
        Self("skip", arguments: ["if": condition])
    }
}

/// An inline fragment: parts for objects of one type, such as `... on Video { length }`.
public struct GraphQLInlineFragment: Sendable, Hashable {
    /// The type condition, or `nil` for any type.
    public var type: String?
    /// The directives of the fragment.
    public var directives: [GraphQLDirective]
    /// The selection set of the fragment.
    public var selection: GraphQLSelection

    /// Creates an inline fragment.
    ///
    /// - Parameters:
    ///   - type: The type condition; any type by default.
    ///   - directives: The directives of the fragment.
    ///   - selection: The selection set of the fragment.
    public init(
        on type: String? = nil,
        directives: [GraphQLDirective] = [],
        @GraphQLSelectionBuilder _ selection: () -> GraphQLSelection
    ) {
        self.type = type
        self.directives = directives
        self.selection = selection()
    }
}

/// A result builder for selection sets that are written as in documents.
///
/// A string is a field without arguments.
@resultBuilder
public enum GraphQLSelectionBuilder {
    /// Returns a field by its name.
    public static func buildExpression(_ name: String) -> GraphQLSelection {
        GraphQLSelection([.field(GraphQLField(name))])
    }

    /// Returns a field.
    public static func buildExpression(_ field: GraphQLField) -> GraphQLSelection {
        GraphQLSelection([.field(field)])
    }

    /// Returns a fragment spread.
    public static func buildExpression(_ fragment: GraphQLFragment) -> GraphQLSelection {
        GraphQLSelection([.fragment(fragment)])
    }

    /// Returns an inline fragment.
    public static func buildExpression(_ fragment: GraphQLInlineFragment) -> GraphQLSelection {
        GraphQLSelection([.inline(on: fragment.type, fragment.directives, fragment.selection)])
    }

    /// Returns all parts of another selection set.
    public static func buildExpression(_ selection: GraphQLSelection) -> GraphQLSelection { selection }

    /// Concatenates selection sets.
    public static func buildBlock(_ selections: GraphQLSelection...) -> GraphQLSelection { buildArray(selections) }

    /// Concatenates selection sets.
    public static func buildArray(_ selections: [GraphQLSelection]) -> GraphQLSelection {
        GraphQLSelection(selections.flatMap(\.parts))
    }

    /// Returns an empty selection set if a condition is not met.
    public static func buildOptional(_ selection: GraphQLSelection?) -> GraphQLSelection {
        selection ?? GraphQLSelection()
    }

    /// Returns the first branch of a condition.
    public static func buildEither(first selection: GraphQLSelection) -> GraphQLSelection { selection }

    /// Returns the second branch of a condition.
    public static func buildEither(second selection: GraphQLSelection) -> GraphQLSelection { selection }
}
