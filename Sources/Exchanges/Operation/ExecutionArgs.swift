public import BeagleNetGraphQL
import BeagleNetHTTP
import Foundation

/// The parameters of a GraphQL request: document, operation name, variables and extensions.
public struct ExecutionArgs: Sendable, Hashable, Codable {
    /// The text of the document.
    public var query: String
    /// The name of the operation to execute, or `nil` if the document has only one.
    public var operationName: String?
    /// The variables, or `nil` if there aren't any.
    public var variables: [String: AnyCodable]?
    /// Additional data for the server, or `nil` if there isn't any.
    public var extensions: [String: AnyCodable]?

    /// Creates the parameters of a request.
    ///
    /// - Parameters:
    ///   - query: The text of the document.
    ///   - operationName: The name of the operation to execute.
    ///   - variables: The variables.
    ///   - extensions: Additional data for the server.
    public init(
        query: String,
        operationName: String? = nil,
        variables: [String: AnyCodable]? = nil,
        extensions: [String: AnyCodable]? = nil
    ) {
        self.query = query
        self.operationName = operationName
        self.variables = variables
        self.extensions = extensions
    }
}

extension ExecutionArgs: CustomStringConvertible, CustomReflectable {
    /// The document, the variables and the extensions, with secrets redacted.
    public var description: String {
        let redactor = Beagle.dependencies.redactor
        var text = redactor.redactedDescription(of: Data(query.utf8), contentType: "application/graphql")
        if let variables { text += "\nvariables: \(redactor.redactedDescription(of: JSONValue.object(variables)))" }
        if let extensions { text += "\nextensions: \(redactor.redactedDescription(of: JSONValue.object(extensions)))" }
        return text
    }
    /// A mirror without children, because `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
