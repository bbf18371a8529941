public import BeagleNet

/// An operation that is built at run time, for documents that nobody can know before.
///
/// ```swift
/// let query = GraphQLQuery("Post", variables: ["id": "ID!"]) {
///     GraphQLField("post", arguments: ["id": .variable("id")]) {
///         "id"
///         "title"
///         if wantsAuthor { GraphQLField("author") { "name" } }
///     }
/// }
/// query.text.description  // query Post($id: ID!) { post(id: $id) { id title author { name } } }
/// ```
/// Names are checked, and text among the arguments is escaped. Yet what a user wrote is better sent as a variable: the
/// document then stays the same, and servers and caches know it again.
public struct GraphQLQuery: Sendable, Hashable {
    /// A variable of the operation.
    public struct Variable: Sendable, Hashable {
        /// Its name, without `$`.
        public var name: String
        /// Its type, as `[ID!]!`.
        public var type: String
        /// What it is where none is sent.
        public var defaultValue: GraphQLValue?

        /// A variable.
        public init(_ name: String, _ type: String, default defaultValue: GraphQLValue? = nil) {
            self.name = name
            self.type = type
            self.defaultValue = defaultValue
        }
    }

    /// Its name, if it has one.
    public var name: String?
    /// What it does.
    public var kind: OperationKind
    /// What it wants to be told.
    public var variables: [Variable]
    /// Its directives.
    public var directives: [GraphQLDirective]
    /// What it selects.
    public var selection: GraphQLSelection

    /// An operation.
    ///
    /// - Parameters:
    ///   - name: its name; none by default.
    ///   - kind: what it does; a query by default.
    ///   - variables: the types of its variables by their names.
    ///   - directives: its directives.
    ///   - selection: what it selects.
    public init(
        _ name: String? = nil,
        kind: OperationKind = .query,
        variables: KeyValuePairs<String, String> = [:],
        directives: [GraphQLDirective] = [],
        @GraphQLSelectionBuilder _ selection: () -> GraphQLSelection
    ) {
        self.name = name
        self.kind = kind
        self.variables = variables.map { Variable($0, $1) }
        self.directives = directives
        self.selection = selection()
    }

    /// The document, with the definitions of the fragments it uses.
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

    /// The document, read.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` where it selects nothing, or a name in it is none.
    public func document() throws(NetworkError) -> GraphQLDocument {
        try text.document()
    }
}
