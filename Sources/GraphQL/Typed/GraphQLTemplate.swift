public import BeagleNet

/// A variable of a `GraphQLTemplate`: its name in the document, and the type that callers give.
public struct GraphQLVariable<Value: Encodable & Sendable>: Sendable {
    /// The name, without `$`.
    public let name: String

    /// A variable.
    ///
    /// - Parameters:
    ///   - name: its name in the document, without `$`.
    ///   - type: the type of its values.
    public init(_ name: String, _ type: Value.Type) {
        self.name = name
    }
}

/// A document to be filled in: called with its variables' values, it gives the operation.
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
/// No generator looks at the document, so the template does when it is first called: its variables must be those the
/// document declares. One test that calls `check()` of all templates tells before any user does.
///
/// What types fit: `String` for `String`; `String` or `Int` for `ID`; integers for `Int`; any number for `Float`; `Bool`
/// for `Boolean`; an array or a set of what fits for a list; any type that is none of these for each of them, and any
/// type at all for the server's own scalars, enums and inputs. What may be null takes an `Optional`, whose nil is sent
/// as null, or a `GraphQLNullable`, whose `.none` is not sent; the latter also stands for what has a default.
public struct GraphQLTemplate<Output: Decodable, each Value: Encodable & Sendable>: Sendable {
    /// The document.
    public let text: GraphQLText
    /// Which operation of the document is meant; nil where there is only one.
    public let operationName: String?
    /// What of the data `Output` is made of.
    public let root: GraphQLRoot
    private let variables: [TemplateVariable]
    private let checked = Lock<Result<Void, NetworkError>?>(nil)

    /// A template. Nothing is checked yet.
    ///
    /// - Parameters:
    ///   - text: the document, as a literal; other text is `GraphQLText(verbatim:)`.
    ///   - output: the type of the result.
    ///   - variables: what callers give, in the order in which they do. Variables of the document that may be null or have
    ///     a default can be missing.
    ///   - operationName: which operation of the document is meant, where it has several.
    ///   - root: what of the data the result is made of; the only root field by default.
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

    /// The operation with these values.
    ///
    /// - Throws: as `check`, which is done once.
    public func callAsFunction(
        _ values: repeat each Value
    ) throws(NetworkError) -> GraphQLOperation<GraphQLArguments, Output> {
        try checkOnce()
        var given: [any Encodable & Sendable] = []
        repeat given.append(each values)
        var operation = GraphQLOperation<GraphQLArguments, Output>(
            input: GraphQLArguments(Array(zip(variables.map(\.name), given))),
            operationString: text.description
        )
        operation.operationName = operationName
        operation.root = root
        return operation
    }

    /// Compares the template with its document.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest`, which tells all that is wrong: the document is none, a variable is
    ///   not declared or is declared and missing, cannot be null, or is of another kind.
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

/// The values of variables by their names, as a template was called with them.
public struct GraphQLArguments: Encodable, Sendable {
    private let values: [(name: String, value: any Encodable & Sendable)]

    init(_ values: [(String, any Encodable & Sendable)]) {
        self.values = values
    }

    /// Writes an object, without what is `.none`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in values where (value as? any LeavingOut)?.isLeftOut != true {
            try container.encode(value, forKey: Name(stringValue: name))
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }
}

/// What may be left out, as it knows itself.
private protocol LeavingOut {
    var isLeftOut: Bool { get }
}

extension GraphQLNullable: LeavingOut {
    fileprivate var isLeftOut: Bool {
        if case .none = self { return true }
        return false
    }
}
