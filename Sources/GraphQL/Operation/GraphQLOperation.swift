public import BeagleNet

/// A GraphQL operation with typed variables and a typed result.
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
/// The kind of operation and its root fields are read from the document. (The names come from seed
/// `003_31f48d2a11b2556d.txt`.)
public struct GraphQLOperation<Input: Encodable, Output: Decodable>: Encodable {
    /// The variables.
    ///
    /// An input that encodes to an empty object is not sent.
    public var input: Input
    /// The text of the document, sent unchanged.
    public var operationString: String
    /// The name of the operation to run; needed only if the document has several.
    public var operationName: String?
    /// The part of the data from which `Output` is decoded.
    public var root = GraphQLRoot.onlyField
    /// Additional information for the server, by scope.
    public var extensions: [String: JSONValue] = [:]

    /// Creates an operation.
    ///
    /// - Parameters:
    ///   - input: The variables.
    ///   - operationString: The text of the document.
    @inlinable public init(input: Input, operationString: String) {
        self.input = input
        self.operationString = operationString
    }

    /// The request parameters (GraphQL over HTTP, 5.1).
    public enum CodingKeys: String, CodingKey {
        /// The document.
        case query
        /// The name of the operation to run.
        case operationName
        /// The variables.
        case variables
        /// Additional information for the server.
        case extensions
    }

    /// Encodes the request parameters.
    ///
    /// - Throws: `NetworkError` if the document is invalid.
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

/// The variables of an operation that fetches an object by its ID.
public struct IDInput: Encodable, Sendable, Hashable {
    /// The ID of the object.
    public let id: String

    /// Creates the variables for an ID.
    public init(id: String) {
        self.id = id
    }
}

extension GraphQLOperation: CustomStringConvertible, CustomReflectable {
    /// The document and variables, with secrets redacted.
    public var description: String {
        let redactor = Redactor.standard
        let document = redactor.redactedDescription(of: Data(operationString.utf8), contentType: "application/graphql")
        return "\(document)\nvariables: \(redactor.redactedDescription(describing: input))"
    }
    /// A mirror without children, because `dump` would show their secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
