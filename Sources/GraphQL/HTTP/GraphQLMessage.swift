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
    fileprivate enum Value {
        case text(String)
        case json(Data)
    }

    private var parameters: [(name: String, value: Value)] = []
    private(set) var pathSuffix: String?
    /// Bytes of all parameters, and of the longest text: it is escaped where there is room for the worst.
    private var (sum, longest) = (2, 0)

    /// - Parameter style: what is sent of the document.
    /// - Throws: `NetworkError` where the operation has neither text nor name.
    init(_ request: GraphQLRequest, _ style: GraphQLEndpoint.DocumentStyle) throws(NetworkError) {
        parameters.reserveCapacity(4)
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
        if request.variables.count > 2 { add("variables", json: request.variables) }
        if !extensions.isEmpty { add("extensions", json: try JSONValue.object(extensions).data()) }
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
        add(name, .text(text), text.utf8.count)
        longest = max(longest, min(text.utf8.count, 1_024))
    }

    private mutating func add(_ name: String, json: Data) { add(name, .json(json), json.count) }

    private mutating func add(_ name: String, _ value: Value, _ count: Int) {
        parameters.append((name, value))
        sum += name.utf8.count + count + 4
    }

    /// The parameters as one JSON object.
    var json: Data {
        var output = JSONOutput(capacity: sum + 6 * longest + 12)
        output.object { output in
            for parameter in parameters {
                output.name(parameter.name)
                switch parameter.value {
                case .text(let text): output.string(text)
                case .json(let json): output.raw(json)
                }
            }
        }
        return output.withBytes { Data($0) }
    }

    /// The parameters as items of a query: text as it is, objects as JSON (6.1).
    var queryItems: [URLQueryItem] {
        parameters.map { URLQueryItem(name: $0.name, value: $0.value.text) }
    }
}

extension GraphQLMessage.Value {
    fileprivate var text: String {
        switch self {
        case .text(let text): text
        case .json(let json): String(decoding: json, as: UTF8.self)
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
