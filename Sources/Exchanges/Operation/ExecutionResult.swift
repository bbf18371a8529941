public import BeagleNetGraphQL
import BeagleNetHTTP

/// The response of a server to a GraphQL operation (GraphQL specification, 7.1).
public struct ExecutionResult: Sendable, Hashable {
    /// The response's data, or `.null` if there isn't any.
    public var data: AnyCodable
    /// The response's errors, or `nil` if there aren't any.
    public var errors: [GraphQLError]?
    /// Whether more results follow, or `nil` if the server doesn't say.
    public var hasNext: Bool?
    /// Additional data from the server, or `nil` if there isn't any.
    public var extensions: [String: AnyCodable]?

    /// Creates a response.
    public init(
        data: AnyCodable,
        errors: [GraphQLError]? = nil,
        hasNext: Bool? = nil,
        extensions: [String: AnyCodable]? = nil
    ) {
        self.data = data
        self.errors = errors
        self.hasNext = hasNext
        self.extensions = extensions
    }

    /// Reads the body of a response.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` if the body isn't a GraphQL response.
    public init(_ answer: AnyCodable) throws(NetworkError) {
        guard let members = answer.object, members["data"] != nil || members["errors"] != nil else {
            throw NetworkError(
                .decoding,
                during: .decode,
                "the response has neither data nor errors",
                advice: "check the URL of the endpoint"
            )
        }
        data = members["data"] ?? .null
        errors = members["errors"].flatMap { errors in
            switch errors {
            case .null: nil
            case .array(let entries): entries.isEmpty ? nil : entries.map { GraphQLError($0) }
            default: [GraphQLError(errors)]
            }
        }
        hasNext = members["hasNext"]?.bool
        extensions = members["extensions"]?.object
    }
}

extension ExecutionResult: CustomStringConvertible, CustomReflectable {
    /// The data and errors, with secrets redacted.
    public var description: String {
        let text = "data: \(Beagle.dependencies.redactor.redactedDescription(of: data))"
        return errors.map { "\(text)\nerrors: \($0.map(\.description).joined(separator: "; "))" } ?? text
    }
    /// A mirror without children, because `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
