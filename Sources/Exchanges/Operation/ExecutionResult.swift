public import BeagleNetGraphQL
import BeagleNetHTTP

/// What a server says of an operation (GraphQL specification, 7.1).
public struct ExecutionResult: Sendable, Hashable {
    /// What was asked for; `.null` where there is none.
    public var data: AnyCodable
    /// What went wrong; nil where nothing did.
    public var errors: [GraphQLError]?
    /// Whether more is to come; nil where the server does not say.
    public var hasNext: Bool?
    /// What else the server says; nil where there is nothing.
    public var extensions: [String: AnyCodable]?

    /// Describes what a server says.
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

    /// Reads an answer, a message's whole body.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` where it is not GraphQL's.
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
    /// Data and errors, with their secrets replaced.
    public var description: String {
        let text = "data: \(Beagle.dependencies.redactor.shown(data))"
        return errors.map { "\(text)\nerrors: \($0.map(\.description).joined(separator: "; "))" } ?? text
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
