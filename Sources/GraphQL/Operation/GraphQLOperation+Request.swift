public import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension GraphQLOperation {
    /// Returns the operation's request parameters.
    ///
    /// - Parameter encoder: The encoder of the variables. The default writes JSON with sorted keys, so that equal
    ///   variables have equal bytes, on which hashes, URLs and recordings rely.
    /// - Throws: `NetworkError` of kind `.badRequest` if the document is invalid, or if the variables can't be encoded
    ///   as a JSON object.
    public func request(encoder: (any BodyEncoder)? = nil) throws(NetworkError) -> GraphQLRequest {
        try request(of: definition(), encoder: encoder)
    }

    /// Returns the operation's definition in its document.
    func definition() throws(NetworkError) -> GraphQLDocument.Operation {
        try GraphQLDocument.cached(operationString).operation(named: operationName)
    }

    /// Returns the operation's request parameters.
    ///
    /// - Parameter operation: The operation's definition in its document.
    func request(
        of operation: GraphQLDocument.Operation,
        encoder: (any BodyEncoder)?
    ) throws(NetworkError) -> GraphQLRequest {
        let placeholders = UploadPlaceholders()
        let written = try GraphQLRequest.variables(of: input, encoder: encoder, placeholders)
        let (variables, files) = try placeholders.resolve(written)
        return GraphQLRequest(
            query: operationString,
            operationName: operation.name,
            kind: operation.kind,
            variables: variables,
            extensions: extensions,
            files: files
        )
    }

    /// Returns the response key from which `Output` is decoded, or `nil` for all of the data.
    ///
    /// - Parameter operation: The operation's definition in its document.
    /// - Throws: `NetworkError` if the field doesn't exist, or if there isn't exactly one.
    func rootKey(of operation: GraphQLDocument.Operation) throws(NetworkError) -> String? {
        if root == .wholeData { return nil }
        let keys = operation.responseKeys
        switch root {
        case .field(let key) where keys.contains(key): return key
        case .onlyField where keys.count == 1: return keys[0]
        default:
            throw NetworkError(
                .badRequest,
                during: .build,
                "cannot decode \(Output.self) from \(root.words): the operation selects "
                    + (keys.isEmpty ? "no root field" : keys.joined(separator: ", ")),
                advice: "choose one with root: .field(…), or all of them with .wholeData"
            )
        }
    }
}

extension GraphQLRoot {
    fileprivate var words: String {
        switch self {
        case .onlyField: "the only root field"
        case .field(let key): "the root field \(key)"
        case .wholeData: "all data"
        }
    }
}

extension GraphQLRequest {
    /// Encodes variables as JSON.
    fileprivate static func variables(
        of input: some Encodable,
        encoder: (any BodyEncoder)?,
        _ placeholders: UploadPlaceholders
    ) throws(NetworkError) -> Data {
        let data: Data
        do {
            data = try placeholders.writing(input, encoder)
        } catch {
            throw NetworkError(
                .badRequest,
                during: .build,
                "the variables cannot be encoded as JSON",
                advice: "see the underlying error",
                underlying: error
            )
        }
        if data.count == 4, data.first == UInt8(ascii: "n") { return Data() }
        guard data.first == UInt8(ascii: "{") else {
            throw NetworkError(
                .badRequest,
                during: .build,
                "the variables are not a JSON object",
                advice: "use a struct or a dictionary whose members are named like the variables"
            )
        }
        // An object of two bytes is empty.
        return data.count == 2 ? Data() : data
    }
}
