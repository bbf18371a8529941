extension GraphQLSelection {
    /// A directive, such as `@include(if: $wanted)`.
    public struct Directive: Sendable, Hashable {
        /// The name of the directive, without `@`.
        public var name: String
        /// The arguments of the directive.
        public var arguments: GraphQLValue.Members

        /// Creates a directive.
        public init(_ name: String, arguments: GraphQLValue.Members = [:]) {
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
}
