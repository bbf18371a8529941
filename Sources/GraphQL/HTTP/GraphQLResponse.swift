public import BeagleNet

/// A server's response to an operation: its data, errors and extensions (GraphQL specification, 7.1).
public struct GraphQLResponse<Output> {
    /// The decoded value; `nil` if the server returned null.
    public var data: Output?
    /// The errors of the operation.
    ///
    /// If there is data, they state which parts of it are missing.
    public var errors: [GraphQLError]
    /// Additional information from the server, by scope.
    public var extensions: [String: JSONValue]
    /// The HTTP response.
    public var response: NetworkResponse
    /// The source of the response.
    public var source: NetworkOperation.Result.Source

    /// Creates a response.
    public init(
        data: Output?,
        errors: [GraphQLError] = [],
        extensions: [String: JSONValue] = [:],
        response: NetworkResponse = NetworkResponse(),
        source: NetworkOperation.Result.Source = .network
    ) {
        self.data = data
        self.errors = errors
        self.extensions = extensions
        self.response = response
        self.source = source
    }
}

extension GraphQLResponse: Sendable where Output: Sendable {}

extension GraphQLResponse: CustomStringConvertible, CustomReflectable {
    /// The data and errors, with secrets redacted.
    public var description: String {
        let data = data.map { Redactor.standard.redactedDescription(describing: $0) } ?? "null"
        return errors.isEmpty ? "data: \(data)" : "data: \(data)\nerrors: \(GraphQLErrors(errors: errors))"
    }
    /// A mirror without children, because `dump` would show their secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
