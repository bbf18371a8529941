extension GraphQLSelection {
    /// A named selection that documents can share.
    ///
    /// ```swift
    /// let author = GraphQLSelection.Fragment("AuthorParts", on: "User", "{ id name }")
    /// let text: GraphQLText = "query Post($id: ID!) { post(id: $id) { title author { \(author) } } }"
    /// ```
    public struct Fragment: Sendable, Hashable {
        /// The name of the fragment.
        public let name: String
        /// The type whose fields the fragment selects.
        public let type: String
        /// The selection in braces.
        ///
        /// It may use other fragments.
        public let selection: GraphQLText

        /// Creates a fragment.
        ///
        /// - Parameters:
        ///   - name: The name of the fragment, which must be unique in each document that uses it.
        ///   - type: The type whose fields the fragment selects.
        ///   - selection: The selection, including its braces.
        public init(_ name: String, on type: String, _ selection: GraphQLText) {
            self.name = name
            self.type = type
            self.selection = selection
        }

        /// Creates a fragment that selects the fields that a Swift type decodes; see `GraphQLSelection.of`.
        public init(_ name: String, on type: String, selectionOf value: (some Decodable).Type) {
            self.init(name, on: type, "\(selectionOf: value)")
        }

        /// The definition of the fragment, without the fragments it uses.
        var definition: String { "fragment \(name) on \(type) \(selection.body)" }
    }
}
