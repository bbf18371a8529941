extension GraphQLSelection {
    /// An inline fragment: parts for objects of one type, such as `... on Video { length }`.
    public struct InlineFragment: Sendable, Hashable {
        /// The type condition, or `nil` for any type.
        public var type: String?
        /// The directives of the fragment.
        public var directives: [Directive]
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
            directives: [Directive] = [],
            @Builder _ selection: () -> GraphQLSelection
        ) {
            self.type = type
            self.directives = directives
            self.selection = selection()
        }
    }
}
