/// What is selected of an object (GraphQL specification, 2.4): fields and fragments, in order.
public struct GraphQLSelection: Sendable, Hashable {
    /// A part of a selection.
    public indirect enum Part: Sendable, Hashable {
        /// A field.
        case field(GraphQLField)
        /// A fragment, by its name.
        case fragment(GraphQLFragment)
        /// Parts for objects of one type; of any where it is nil.
        case inline(on: String?, [GraphQLDirective], GraphQLSelection)
    }

    /// The parts, in order; none for what has no fields.
    public var parts: [Part]

    /// These parts.
    public init(_ parts: [Part] = []) {
        self.parts = parts
    }

    /// These parts.
    public init(@GraphQLSelectionBuilder _ selection: () -> GraphQLSelection) {
        self = selection()
    }
}

extension GraphQLSelection: CustomStringConvertible {
    /// In braces, as documents write it; empty where there are no parts.
    public var description: String {
        var writer = GraphQLWriter()
        writer.write(self)
        return writer.text
    }
}

/// A field of a selection.
public struct GraphQLField: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// Under what the answer has it; nil for its name.
    public var alias: String?
    /// Its arguments.
    public var arguments: GraphQLMembers
    /// Its directives.
    public var directives: [GraphQLDirective]
    /// What is selected of it; nothing for a leaf.
    public var selection: GraphQLSelection

    /// A field.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - alias: under what the answer has it; its name by default.
    ///   - arguments: its arguments, in their order.
    ///   - directives: its directives.
    ///   - selection: what is selected of it.
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

/// A directive, as `@include(if: $wanted)`.
public struct GraphQLDirective: Sendable, Hashable {
    /// Its name, without `@`.
    public var name: String
    /// Its arguments.
    public var arguments: GraphQLMembers

    /// A directive.
    public init(_ name: String, arguments: GraphQLMembers = [:]) {
        self.name = name
        self.arguments = arguments
    }

    /// Selects only where this is true: a variable or a truth value.
    public static func include(if condition: GraphQLValue) -> Self {
        Self("include", arguments: ["if": condition])
    }

    /// Selects only where this is false: a variable or a truth value.
    public static func skip(if condition: GraphQLValue) -> Self {
        Self("skip", arguments: ["if": condition])
    }
}

/// Parts for objects of one type, as `... on Video { length }`.
public struct GraphQLInlineFragment: Sendable, Hashable {
    /// The type; nil for any.
    public var type: String?
    /// Its directives.
    public var directives: [GraphQLDirective]
    /// What is selected.
    public var selection: GraphQLSelection

    /// Parts for objects of one type.
    ///
    /// - Parameters:
    ///   - type: the type; any by default.
    ///   - directives: its directives.
    ///   - selection: what is selected.
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

/// Lets selections be written as they are in documents: a name is a field without arguments.
@resultBuilder
public enum GraphQLSelectionBuilder {
    /// A field by its name.
    public static func buildExpression(_ name: String) -> GraphQLSelection {
        GraphQLSelection([.field(GraphQLField(name))])
    }

    /// A field.
    public static func buildExpression(_ field: GraphQLField) -> GraphQLSelection {
        GraphQLSelection([.field(field)])
    }

    /// A fragment, by its name.
    public static func buildExpression(_ fragment: GraphQLFragment) -> GraphQLSelection {
        GraphQLSelection([.fragment(fragment)])
    }

    /// Parts for objects of one type.
    public static func buildExpression(_ fragment: GraphQLInlineFragment) -> GraphQLSelection {
        GraphQLSelection([.inline(on: fragment.type, fragment.directives, fragment.selection)])
    }

    /// All parts of another selection.
    public static func buildExpression(_ selection: GraphQLSelection) -> GraphQLSelection { selection }

    /// One behind the other.
    public static func buildBlock(_ selections: GraphQLSelection...) -> GraphQLSelection { buildArray(selections) }

    /// One behind the other.
    public static func buildArray(_ selections: [GraphQLSelection]) -> GraphQLSelection {
        GraphQLSelection(selections.flatMap(\.parts))
    }

    /// Nothing where a condition is not met.
    public static func buildOptional(_ selection: GraphQLSelection?) -> GraphQLSelection {
        selection ?? GraphQLSelection()
    }

    /// One of two.
    public static func buildEither(first selection: GraphQLSelection) -> GraphQLSelection { selection }

    /// The other.
    public static func buildEither(second selection: GraphQLSelection) -> GraphQLSelection { selection }
}
