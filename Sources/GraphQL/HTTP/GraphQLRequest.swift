public import BeagleNet

/// One GraphQL operation as it goes over the wire: the parameters of GraphQL over HTTP.
///
/// Variables are JSON already, so that what is sent, hashed and compared is the same to the byte.
public struct GraphQLRequest: Sendable, Hashable {
    /// The document's text, sent as it is; nil where the server knows it by `documentID`.
    public var query: String?
    /// What a server knows the document by, as `sha256:…` (GraphQL over HTTP, appendix A); nil where it does not.
    public var documentID: String?
    /// Which operation of the document is meant. A server needs it where there are several.
    public var operationName: String?
    /// What the operation does.
    public var kind: OperationKind
    /// The variables: the text of a JSON object; empty where there are none.
    public var variables: Data
    /// What else the server is told, by scope.
    public var extensions: [String: JSONValue]
    /// Files that are variables. A mutation or query with files is posted as a form.
    public var files: [File]

    /// An operation.
    ///
    /// - Parameters:
    ///   - query: the document's text.
    ///   - documentID: what a server knows the document by.
    ///   - operationName: which operation of the document is meant.
    ///   - kind: what it does; a query by default.
    ///   - variables: the text of a JSON object; empty, the default, where there are none.
    ///   - extensions: what else the server is told.
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
    /// What it does, its document and variables, with their secrets replaced.
    public var description: String {
        let redactor = Redactor.standard
        let document = query.map { redactor.shown(Data($0.utf8), contentType: "application/graphql") }
        let title = [kind.rawValue, operationName].compactMap(\.self).joined(separator: " ")
        let text = [title, document ?? documentID ?? ""].joined(separator: ": ")
        return variables.isEmpty
            ? text : "\(text)\nvariables: \(redactor.shown(variables, contentType: "application/json"))"
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
