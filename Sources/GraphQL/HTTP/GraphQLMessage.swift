import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The request parameters of an operation in the specification's order, as JSON or as a URL query (GraphQL over HTTP,
/// 5.1 and 6).
struct GraphQLMessage {
    /// The parameter that identifies the document: its name and value.
    private var document: (name: String, text: String)?
    private let operationName: String?
    /// The document of that text, if it is already parsed.
    private var parsedDocument: GraphQLDocument?
    /// JSON text; empty if the parameter is left out.
    private let variables, extensions: Data
    private(set) var pathSuffix: String?

    /// Creates the parameters of an operation.
    ///
    /// - Parameters:
    ///   - style: The form in which the document is sent.
    ///   - document: The parsed document of the request's text, if available.
    /// - Throws: `NetworkError` if the operation has neither a document nor a document ID.
    init(
        _ request: GraphQLRequest,
        _ style: GraphQLEndpoint.DocumentStyle,
        _ document: GraphQLDocument? = nil
    ) throws(NetworkError) {
        operationName = request.operationName
        // An object of two bytes is empty.
        variables = request.variables.count > 2 ? request.variables : Data()
        var allExtensions = request.extensions
        switch style {
        case .text:
            if let query = request.query {
                self.document = ("query", query)
                parsedDocument = document
            } else {
                self.document = ("documentId", try request.documentIDOrHash())
            }
        case .automatic:
            if let query = request.query {
                // With files, the first message already registers the document, so that the files are sent only once.
                if !request.files.isEmpty { self.document = ("query", query) }
                allExtensions["persistedQuery"] = try Self.persistedQuery(of: query)
            } else {
                self.document = ("documentId", try request.documentIDOrHash())
            }
        case .documentID: self.document = ("documentId", try request.documentIDOrHash())
        case .parameter(let name): self.document = (name, try request.unprefixedID())
        case .path: pathSuffix = try request.unprefixedID()
        }
        extensions = allExtensions.isEmpty ? Data() : try JSONValue.object(allExtensions).data()
    }

    /// Returns the `persistedQuery` extension, with which a server registers a document.
    static func persistedQuery(of query: String) throws(NetworkError) -> JSONValue {
        .object(["version": 1, "sha256Hash": .string(try hash(of: query))])
    }

    /// Returns the SHA-256 of the exact text in lower-case hexadecimal.
    fileprivate static func hash(of query: String) throws(NetworkError) -> String {
        try GraphQLDocument.cached(query).hash
    }

    /// The parameters as a JSON object.
    var json: Data {
        let start = parsedDocument?.storage.messageStart(operationName) ?? jsonStart
        let size = start.count + variables.count + extensions.count + 64
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { buffer in
            var count = 0
            func add(_ bytes: UnsafeRawBufferPointer) {
                UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
                count += bytes.count
            }
            func add(_ name: StaticString, _ json: Data) {
                if json.isEmpty { return }
                // The first member has no comma in front of it.
                let name = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
                add(count > 1 ? name : UnsafeRawBufferPointer(rebasing: name.dropFirst()))
                json.withUnsafeBytes { add($0) }
            }
            start.withUnsafeBytes { add($0) }
            add(#","variables":"#, variables)
            add(#","extensions":"#, extensions)
            buffer[count] = UInt8(ascii: "}")
            return Data(UnsafeRawBufferPointer(rebasing: buffer[...count]))
        }
    }

    /// The document and operation name, as the start of the JSON object.
    private var jsonStart: [UInt8] {
        var output = JSONOutput()
        output.object { output in
            if let document {
                output.name(escaping: document.name)
                output.string(document.text)
            }
            if let operationName { output.member("operationName", operationName) }
        }
        return output.bytes.dropLast()
    }

    /// The parameters as query items: strings unchanged, objects as JSON (6.1).
    var queryItems: [URLQueryItem] {
        var items = document.map { [URLQueryItem(name: $0.name, value: $0.text)] } ?? []
        if let operationName { items.append(URLQueryItem(name: "operationName", value: operationName)) }
        for (name, json) in [("variables", variables), ("extensions", extensions)] where !json.isEmpty {
            items.append(URLQueryItem(name: name, value: String(decoding: json, as: UTF8.self)))
        }
        return items
    }
}

extension GraphQLRequest {
    /// Returns the ID by which a server knows the document.
    fileprivate func documentIDOrHash() throws(NetworkError) -> String {
        if let documentID { return documentID }
        return "sha256:" + (try unprefixedID())
    }

    /// Returns the same ID without `sha256:`, for servers with IDs of their own.
    fileprivate func unprefixedID() throws(NetworkError) -> String {
        if let documentID { return documentID.hasPrefix("sha256:") ? String(documentID.dropFirst(7)) : documentID }
        guard let query else {
            throw NetworkError(.badRequest, during: .build, "the operation has neither a document nor a document ID")
        }
        return try GraphQLMessage.hash(of: query)
    }
}
