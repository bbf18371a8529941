import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What is sent of an operation: its parameters in the order of the specification, as JSON or in a query (GraphQL over
/// HTTP, 5.1 and 6).
struct GraphQLMessage {
    /// Names and values, which are JSON.
    private(set) var parameters: [(name: String, json: [UInt8])] = []
    private(set) var pathSuffix: String?
    let request: GraphQLRequest

    /// - Parameter style: what is sent of the document.
    /// - Throws: `NetworkError` where the operation has neither text nor name.
    init(_ request: GraphQLRequest, _ style: GraphQLEndpoint.DocumentStyle) throws(NetworkError) {
        self.request = request
        var extensions = request.extensions
        switch style {
        case .text:
            if let query = request.query {
                add("query", text: query)
            } else {
                add("documentId", text: try request.knownID())
            }
        case .automatic:
            if let query = request.query {
                // What registers it goes with files at once: they are not sent twice.
                if !request.files.isEmpty { add("query", text: query) }
                extensions["persistedQuery"] = try Self.persistedQuery(of: query)
            } else {
                add("documentId", text: try request.knownID())
            }
        case .documentID: add("documentId", text: try request.knownID())
        case .parameter(let name): add(name, text: try request.bareID())
        case .path: pathSuffix = try request.bareID()
        }
        if let name = request.operationName { add("operationName", text: name) }
        // An object of two bytes is an empty one.
        if request.variables.count > 2 {
            parameters.append(("variables", Array(request.variables)))
        }
        if !extensions.isEmpty {
            parameters.append(("extensions", Array(try JSONValue.object(extensions).data())))
        }
    }

    /// What a server is told of a text, to know it by the next time.
    static func persistedQuery(of query: String) throws(NetworkError) -> JSONValue {
        .object(["version": 1, "sha256Hash": .string(try hash(of: query))])
    }

    /// SHA-256 of the exact text, in lower hexadecimal digits.
    fileprivate static func hash(of query: String) throws(NetworkError) -> String {
        try GraphQLDocument.cached(query).hash
    }

    private mutating func add(_ name: String, text: String) {
        var output = JSONOutput(capacity: text.utf8.count + 2)
        output.string(text)
        parameters.append((name, output.bytes))
    }

    /// The parameters as one JSON object.
    var json: Data {
        var output = JSONOutput(capacity: parameters.reduce(2) { $0 + $1.name.utf8.count + $1.json.count + 4 })
        output.object { output in
            for parameter in parameters {
                output.name(parameter.name)
                output.raw(parameter.json)
            }
        }
        return Data(output.bytes)
    }

    /// The parameters as items of a query: text as it is, objects as JSON (6.1).
    func queryItems() throws(NetworkError) -> [URLQueryItem] {
        try parameters.map { parameter throws(NetworkError) in
            let isObject = parameter.name == "variables" || parameter.name == "extensions"
            let value = String(decoding: parameter.json, as: UTF8.self)
            return URLQueryItem(name: parameter.name, value: isObject ? value : try JSONValue(parsing: value).string)
        }
    }
}

extension GraphQLRequest {
    /// What a server knows the document by.
    fileprivate func knownID() throws(NetworkError) -> String {
        if let documentID { return documentID }
        return "sha256:" + (try bareID())
    }

    /// The same as a server with names of its own has it.
    fileprivate func bareID() throws(NetworkError) -> String {
        if let documentID { return documentID.hasPrefix("sha256:") ? String(documentID.dropFirst(7)) : documentID }
        guard let query else {
            throw NetworkError(.badRequest, during: .build, "the operation has neither a document nor the id of one")
        }
        return try GraphQLMessage.hash(of: query)
    }
}
