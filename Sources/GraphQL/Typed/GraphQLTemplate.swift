public import BeagleNet

/// A document template: calling it with the values of its variables returns the operation.
///
/// ```swift
/// enum Blog {
///     static let post = GraphQLTemplate(
///         "query Post($id: ID!) { post(id: $id) { id title } }",
///         returning: Post.self,
///         variables: GraphQLVariable("id", String.self)
///     )
/// }
/// let post = try await client.perform(Blog.post("1"))
/// ```
///
/// The template checks itself against its document on the first call, because there is no code generator: its variables
/// must match those that the document declares. A test that calls `check()` on all templates finds errors before users
/// do.
///
/// These types match: `String` for `String`; `String` or `Int` for `ID`; integers for `Int`; any number for `Float`;
/// `Bool` for `Boolean`; an array or set of a matching type for a list. Any other Swift type matches all of these, and
/// every type matches the server's own scalars, enums and inputs. A nullable variable takes an `Optional`, whose `nil`
/// is sent as null, or a `GraphQLNullable`, whose `.none` is left out. A `GraphQLNullable` also matches a variable with
/// a default.
public struct GraphQLTemplate<Output: Decodable, each Value: Encodable & Sendable>: Sendable {
    /// The text of the document.
    public let text: GraphQLText
    /// The name of the operation to run, or `nil` if the document has only one.
    public let operationName: String?
    /// The part of the data from which `Output` is decoded.
    public let root: GraphQLRoot
    private let variables: [TemplateVariable]
    private let checked = Lock<Result<Void, NetworkError>?>(nil)

    /// Creates a template without checking it.
    ///
    /// - Parameters:
    ///   - text: The document as a literal; use `GraphQLText(verbatim:)` for other strings.
    ///   - output: The type of the result.
    ///   - variables: The variables, in the order in which callers pass their values. Nullable variables and those with
    ///     a default may be omitted.
    ///   - operationName: The name of the operation to run, if the document has several.
    ///   - root: The part of the data from which the result is decoded; the only root field by default.
    public init(
        _ text: GraphQLText,
        returning output: Output.Type,
        variables: repeat GraphQLVariable<each Value>,
        operationName: String? = nil,
        root: GraphQLRoot = .onlyField
    ) {
        self.text = text
        self.operationName = operationName
        self.root = root
        var known: [TemplateVariable] = []
        repeat known.append(TemplateVariable(name: (each variables).name, shape: ValueShape((each Value).self)))
        self.variables = known
    }

    /// Returns the operation with these values.
    ///
    /// - Throws: The errors of `check`, which is performed once.
    public func callAsFunction(
        _ values: repeat each Value
    ) throws(NetworkError) -> GraphQLOperation<GraphQLSelection.Arguments, Output> {
        try checkOnce()
        var given: [any Encodable & Sendable] = []
        repeat given.append(each values)
        var operation = GraphQLOperation<GraphQLSelection.Arguments, Output>(
            input: GraphQLSelection.Arguments(Array(zip(variables.map(\.name), given))),
            operationString: text.description
        )
        operation.operationName = operationName
        operation.root = root
        return operation
    }

    /// Checks the template against its document.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` that lists all problems: an invalid document, or variables that
    ///   are undeclared, missing, of a mismatched type, or nullable where the document requires a value.
    public func check() throws(NetworkError) {
        let operation = try text.document().operation(named: operationName)
        var problems: [String] = []
        for (index, variable) in variables.enumerated() {
            if variables[..<index].contains(where: { $0.name == variable.name }) {
                problems.append("$\(variable.name) is given twice")
            }
            let declared = operation.variables.first { $0.name == variable.name }
            if let problem = variable.problem(with: declared) { problems.append(problem) }
        }
        for declared in operation.variables where !declared.isOptional {
            guard !variables.contains(where: { $0.name == declared.name }) else { continue }
            problems.append("$\(declared.name) of type \(declared.type) is declared, but the template does not give it")
        }
        guard !problems.isEmpty else { return }
        throw NetworkError(
            .badRequest,
            during: .build,
            "the template\(operation.name.map { " of \($0)" } ?? "") does not match its document: "
                + problems.joined(separator: "; "),
            advice: "compare the template's variables with those declared in the document"
        )
    }

    private func checkOnce() throws(NetworkError) {
        if let result = checked.withLock({ $0 }) { return try result.get() }
        let result = Result { () throws(NetworkError) in try check() }
        checked.withLock { $0 = result }
        try result.get()
    }
}
