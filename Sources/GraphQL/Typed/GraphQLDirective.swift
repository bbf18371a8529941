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
