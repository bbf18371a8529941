extension GraphQLSelection {
    /// A result builder for selection sets that are written as in documents.
    ///
    /// A string is a field without arguments.
    @resultBuilder
    public enum Builder {
        /// Returns a field by its name.
        public static func buildExpression(_ name: String) -> GraphQLSelection {
            GraphQLSelection([.field(Field(name))])
        }

        /// Returns a field.
        public static func buildExpression(_ field: Field) -> GraphQLSelection {
            GraphQLSelection([.field(field)])
        }

        /// Returns a fragment spread.
        public static func buildExpression(_ fragment: Fragment) -> GraphQLSelection {
            GraphQLSelection([.fragment(fragment)])
        }

        /// Returns an inline fragment.
        public static func buildExpression(_ fragment: InlineFragment) -> GraphQLSelection {
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
}
