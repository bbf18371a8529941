public import BeagleNet

/// A GraphQL operation whose variables and whose result have types: all that is needed to perform it.
///
/// ```swift
/// extension GraphQLOperation where Input == IDInput, Output == Post {
///     static func fetchPost(withID id: String) -> Self {
///         GraphQLOperation(
///             input: IDInput(id: id),
///             operationString: "query Post($id: ID!) { post(id: $id) { id title body } }"
///         )
///     }
/// }
/// let post = try await client.perform(.fetchPost(withID: "1"))
/// ```
///
/// (The names are those of seed `003_31f48d2a11b2556d.txt`.) What it does and what its root fields are called is read
/// from the document.
public struct GraphQLOperation<Input: Encodable, Output: Decodable>: Encodable {
    /// The variables; what encodes to an object without members is not sent.
    public var input: Input
    /// The document, sent as it is.
    public var operationString: String
    /// Which operation of the document is meant; needed only where there are several.
    public var operationName: String?
    /// What of the data `Output` is made of.
    public var root = GraphQLRoot.onlyField
    /// What else the server is told, by scope.
    public var extensions: [String: JSONValue] = [:]

    /// An operation.
    ///
    /// - Parameters:
    ///   - input: the variables.
    ///   - operationString: the document.
    @inlinable public init(input: Input, operationString: String) {
        self.input = input
        self.operationString = operationString
    }

    /// What is sent (GraphQL over HTTP, 5.1).
    public enum CodingKeys: String, CodingKey {
        /// The document.
        case query
        /// Which operation of it.
        case operationName
        /// The variables.
        case variables
        /// What else.
        case extensions
    }

    /// Writes what is sent.
    ///
    /// - Throws: `NetworkError` where the document is none.
    public func encode(to encoder: any Encoder) throws {
        let operation = try GraphQLDocument.cached(operationString).operation(named: operationName)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(operationString, forKey: .query)
        try container.encodeIfPresent(operation.name, forKey: .operationName)
        if try !request().variables.isEmpty { try container.encode(input, forKey: .variables) }
        if !extensions.isEmpty { try container.encode(extensions, forKey: .extensions) }
    }
}

extension GraphQLOperation: Sendable where Input: Sendable {}

/// What of a GraphQL answer's data a value is made of.
public enum GraphQLRoot: Sendable, Hashable {
    /// The one root field that the operation has, `__typename` apart.
    case onlyField
    /// The root field of this response key: its alias, where it has one.
    case field(String)
    /// All of the data, with the root fields as members.
    case wholeData
}

/// The variables of an operation that asks for one thing by its id.
public struct IDInput: Encodable, Sendable, Hashable {
    /// Which one.
    public let id: String

    /// The one of this id.
    public init(id: String) {
        self.id = id
    }
}

extension GraphQLOperation: CustomStringConvertible, CustomReflectable {
    /// Document and variables, with their secrets replaced.
    public var description: String {
        let redactor = Redactor.standard
        let document = redactor.shown(Data(operationString.utf8), contentType: "application/graphql")
        return "\(document)\nvariables: \(redactor.shown(describing: input))"
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
