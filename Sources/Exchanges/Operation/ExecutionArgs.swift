public import BeagleNetGraphQL
import BeagleNetHTTP
import Foundation

/// What is sent of an operation.
public struct ExecutionArgs: Sendable, Hashable, Codable {
    /// The document's text.
    public var query: String
    /// Which operation of the document is meant; nil where it has only one.
    public var operationName: String?
    /// The variables; nil where there are none.
    public var variables: [String: AnyCodable]?
    /// What else the server is told; nil where there is nothing.
    public var extensions: [String: AnyCodable]?

    /// Describes what is sent.
    ///
    /// - Parameters:
    ///   - query: the document's text.
    ///   - operationName: which operation of the document is meant.
    ///   - variables: the variables.
    ///   - extensions: what else the server is told.
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
    /// Document and variables, with their secrets replaced.
    public var description: String {
        let redactor = Beagle.dependencies.redactor
        var text = redactor.shown(Data(query.utf8), contentType: "application/graphql")
        if let variables { text += "\nvariables: \(redactor.shown(JSONValue.object(variables)))" }
        if let extensions { text += "\nextensions: \(redactor.shown(JSONValue.object(extensions)))" }
        return text
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
