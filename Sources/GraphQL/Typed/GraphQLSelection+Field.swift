extension GraphQLSelection {
    /// A field of a selection set.
    public struct Field: Sendable, Hashable {
        /// The name of the field.
        public var name: String
        /// The alias, or `nil` if the response key is the name.
        public var alias: String?
        /// The arguments of the field.
        public var arguments: GraphQLValue.Members
        /// The directives of the field.
        public var directives: [Directive]
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
            arguments: GraphQLValue.Members = [:],
            directives: [Directive] = [],
            @Builder _ selection: () -> GraphQLSelection = { GraphQLSelection() }
        ) {
            self.name = name
            self.alias = alias
            self.arguments = arguments
            self.directives = directives
            self.selection = selection()
        }
    }
}
