public import BeagleNet

/// A server's answer: what could be read, what went wrong, and what else it says (GraphQL specification, 7.1).
public struct GraphQLResponse<Output> {
    /// What was asked for; nil where the server gave null.
    public var data: Output?
    /// What went wrong. Beside data it says which parts are missing.
    public var errors: [GraphQLError]
    /// What else the server says, by scope.
    public var extensions: [String: JSONValue]
    /// The message that it came in.
    public var response: NetworkResponse
    /// Where it is from.
    public var source: NetworkOperation.Result.Source

    /// An answer.
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
    /// Data and errors, with their secrets replaced.
    public var description: String {
        let data = data.map { Redactor.standard.shown(describing: $0) } ?? "null"
        return errors.isEmpty ? "data: \(data)" : "data: \(data)\nerrors: \(GraphQLErrors(errors: errors))"
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
