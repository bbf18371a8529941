public import BeagleNet

/// The request parameters of one GraphQL operation (GraphQL over HTTP).
///
/// The variables are already JSON, so that the same bytes are sent, hashed and compared.
public struct GraphQLRequest: Sendable, Hashable {
    /// The document's text, sent unchanged; `nil` if the server knows the document by `documentID`.
    public var query: String?
    /// The ID by which a server knows the document, such as `sha256:…` (GraphQL over HTTP, appendix A); `nil` if it has
    /// no ID.
    public var documentID: String?
    /// The name of the operation to run, which is required if the document has several.
    public var operationName: String?
    /// The kind of operation.
    public var kind: OperationKind
    /// The variables as the text of a JSON object; empty if the operation has no variables.
    public var variables: Data
    /// Additional information for the server, by scope.
    public var extensions: [String: JSONValue]
    /// Files that are values of variables.
    ///
    /// A mutation or query with files is sent as a multipart form.
    public var files: [File]

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - query: The document's text.
    ///   - documentID: The ID by which a server knows the document.
    ///   - operationName: The name of the operation to run.
    ///   - kind: The kind of operation; a query by default.
    ///   - variables: The text of a JSON object; empty, the default, if the operation has no variables.
    ///   - extensions: Additional information for the server.
    public init(
        query: String? = nil,
        documentID: String? = nil,
        operationName: String? = nil,
        kind: OperationKind = .query,
        variables: Data = Data(),
        extensions: [String: JSONValue] = [:]
    ) {
        self.init(
            query: query,
            documentID: documentID,
            operationName: operationName,
            kind: kind,
            variables: variables,
            extensions: extensions,
            files: []
        )
    }

    init(
        query: String?,
        documentID: String? = nil,
        operationName: String?,
        kind: OperationKind,
        variables: Data,
        extensions: [String: JSONValue],
        files: [File]
    ) {
        self.query = query
        self.documentID = documentID
        self.operationName = operationName
        self.kind = kind
        self.variables = variables
        self.extensions = extensions
        self.files = files
    }
}

extension GraphQLRequest: CustomStringConvertible, CustomReflectable {
    /// The kind, document and variables, with secrets redacted.
    public var description: String {
        let redactor = Redactor.standard
        let document = query.map { redactor.redactedDescription(of: Data($0.utf8), contentType: "application/graphql") }
        let title = [kind.rawValue, operationName].compactMap(\.self).joined(separator: " ")
        let text = [title, document ?? documentID ?? ""].joined(separator: ": ")
        return variables.isEmpty
            ? text
            : "\(text)\nvariables: \(redactor.redactedDescription(of: variables, contentType: "application/json"))"
    }
    /// A mirror without children, because `dump` would show their secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
