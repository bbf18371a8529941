public import BeagleNet

/// An operation that is built at run time, for documents that aren't known in advance.
///
/// ```swift
/// let query = GraphQLQuery("Post", variables: ["id": "ID!"]) {
///     GraphQLSelection.Field("post", arguments: ["id": .variable("id")]) {
///         "id"
///         "title"
///         if wantsAuthor { GraphQLSelection.Field("author") { "name" } }
///     }
/// }
/// query.text.description  // query Post($id: ID!) { post(id: $id) { id title author { name } } }
/// ```
/// Names are validated, and strings in arguments are escaped. Still, send user input as a variable: the document then
/// stays the same, and servers and caches can recognize it.
public struct GraphQLQuery: Sendable, Hashable {
    /// A variable of the operation.
    public struct Variable: Sendable, Hashable {
        /// The name of the variable, without `$`.
        public var name: String
        /// The type of the variable, such as `[ID!]!`.
        public var type: String
        /// The default value.
        public var defaultValue: GraphQLValue?

        /// Creates a variable.
        public init(_ name: String, _ type: String, default defaultValue: GraphQLValue? = nil) {
            self.name = name
            self.type = type
            self.defaultValue = defaultValue
        }
    }

    /// The name of the operation, if it has one.
    public var name: String?
    /// The kind of operation.
    public var kind: OperationKind
    /// The declared variables.
    public var variables: [Variable]
    /// The directives of the operation.
    public var directives: [GraphQLSelection.Directive]
    /// The selection set.
    public var selection: GraphQLSelection

    /// Creates an operation.
    ///
    /// - Parameters:
    ///   - name: The name of the operation; `nil` by default.
    ///   - kind: The kind of operation; a query by default.
    ///   - variables: The types of the variables by name.
    ///   - directives: The directives of the operation.
    ///   - selection: The selection set.
    public init(
        _ name: String? = nil,
        kind: OperationKind = .query,
        variables: KeyValuePairs<String, String> = [:],
        directives: [GraphQLSelection.Directive] = [],
        @GraphQLSelection.Builder _ selection: () -> GraphQLSelection
    ) {
        self.name = name
        self.kind = kind
        self.variables = variables.map { Variable($0, $1) }
        self.directives = directives
        self.selection = selection()
    }

    /// The text of the document, including the definitions of the fragments it uses.
    public var text: GraphQLText {
        var writer = GraphQLWriter()
        writer.write(verbatim: kind == .query ? "query" : kind == .mutation ? "mutation" : "subscription")
        if let name {
            writer.write(verbatim: " ")
            writer.write(name: name)
        }
        write(variables, with: &writer)
        writer.write(directives)
        writer.write(verbatim: " ")
        writer.write(selection)
        return GraphQLText(body: writer.text, fragments: writer.fragments, problem: writer.problem)
    }

    private func write(_ variables: [Variable], with writer: inout GraphQLWriter) {
        guard !variables.isEmpty else { return }
        for (index, variable) in variables.enumerated() {
            writer.write(verbatim: index == 0 ? "($" : ", $")
            writer.write(name: variable.name)
            writer.write(verbatim: ": ")
            writer.write(type: variable.type)
            if let value = variable.defaultValue {
                writer.write(verbatim: " = ")
                writer.write(value)
            }
        }
        writer.write(verbatim: ")")
    }

    /// Returns the parsed document.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` if the selection set is empty or a name is invalid.
    public func document() throws(NetworkError) -> GraphQLDocument {
        try text.document()
    }
}
