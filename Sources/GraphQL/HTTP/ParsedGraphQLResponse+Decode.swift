package import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ParsedGraphQLResponse {
    private static let name: StaticString = "application/graphql-response+json"
    static let mediaType = name.description

    /// Parses a server's response, whatever its status.
    ///
    /// A body with GraphQL's own media type is always a GraphQL response. Any other body is trusted only if the status
    /// is successful, because an intermediary may have written it (GraphQL over HTTP, 7.2).
    ///
    /// - Parameters:
    ///   - refusal: The error for a status outside 200...299.
    ///   - source: The source of the response.
    package convenience init(
        _ response: NetworkResponse,
        refusal: NetworkError?,
        from source: NetworkOperation.Result.Source = .network
    ) throws(NetworkError) {
        // Servers usually send one of these types exactly, which need no parsing.
        let isPlain =
            response.hasContentType(Self.name)
            || refusal == nil && response.hasContentType("application/json")
        let field = isPlain ? nil : response.contentType
        let type = field.flatMap(MediaType.init)
        if isPlain || type?.essence == Self.mediaType {
            try self.init(reading: response, from: source)
        } else if refusal == nil, GraphQLPayloadReader.isStream(field) {
            try self.init(reading: response.mergingIncrementalParts(), from: source)
        } else if let refusal {
            throw refusal.adding(errorsOf: response, type)
        } else if field == nil || type?.isJSON == true {
            try self.init(reading: response, from: source)
        } else {
            throw .malformed(
                "the response is \(type?.essence ?? ""), not JSON",
                response,
                advice: "check the URL of the endpoint"
            )
        }
    }

    /// Decodes the response of an operation.
    ///
    /// - Parameters:
    ///   - key: The response key of the value to decode, or `nil` to decode all of `data`.
    ///   - hasNext: Whether more of the result will follow, which may contain a field that is missing now.
    func decode<Output: Decodable>(
        _ type: Output.Type,
        at key: String?,
        _ policy: GraphQLEndpoint.ErrorPolicy,
        with decoder: any BodyDecoder,
        hasNext: Bool = false
    ) throws(NetworkError) -> GraphQLResponse<Output> {
        let mayArriveLater = hasNext && isMissingField(key)
        if mayArriveLater, policy == .strict, !errors.isEmpty { throw NetworkError(errors, of: response) }
        return GraphQLResponse(
            data: mayArriveLater ? nil : try value(type, at: key, policy, with: decoder),
            errors: policy == .ignore ? [] : errors,
            extensions: extensions,
            response: response,
            source: source
        )
    }

    /// Decodes the value of a response.
    ///
    /// It is inlined together with the functions it calls, because each of them would otherwise look up its generic
    /// types.
    ///
    /// - Parameter key: The response key of the value to decode, or `nil` to decode all of `data`.
    @inline(__always) func value<Output: Decodable>(
        _ type: Output.Type,
        at key: String?,
        _ policy: GraphQLEndpoint.ErrorPolicy,
        with decoder: any BodyDecoder
    ) throws(NetworkError) -> Output? {
        if errors.isEmpty { return try output(type, at: key, with: decoder) }
        if policy == .strict { throw NetworkError(errors, of: response) }
        let output = try output(type, at: key, with: decoder)
        if output == nil, dataMember == nil || Output.nilValue == nil { throw NetworkError(errors, of: response) }
        return output
    }

    /// Returns whether the response has data without this key.
    private func isMissingField(_ key: String?) -> Bool {
        guard let key, let dataMember else { return false }
        return members.member(key, of: dataMember.index) == nil
    }

    /// Returns the requested value. `nil` if the server returned null, or left out a field that `Output` doesn't
    /// require, for example because of `@skip` or `@include`.
    @inline(__always) private func output<Output: Decodable>(
        _ type: Output.Type,
        at key: String?,
        with decoder: any BodyDecoder
    ) throws(NetworkError) -> Output? {
        guard var part = dataMember else { return nil }
        if let key {
            guard let field = members.member(key, of: part.index) else {
                if !errors.isEmpty || Output.nilValue != nil { return nil }
                throw .malformed("the data has no field \(key)", response)
            }
            if field.kind == .null { return nil }
            part = field
        }
        do {
            // The body decoder would read the same values from the text again.
            if members.tape.isComplete, decoder is JSONBodyDecoder {
                return try TapeDecoder.decode(type, from: members.tape, at: part.index)
            }
            return try decoder.decode(type, from: self[part.range])
        } catch {
            // The server's errors explain a missing value better than a decoding error does.
            if !errors.isEmpty { throw NetworkError(errors, of: response) }
            throw NetworkError(decoding: type, failedWith: error).attaching(response)
        }
    }
}

extension MediaType {
    var isJSON: Bool { essence == "application/json" || essence.hasSuffix("+json") }
}

extension NetworkError {
    /// Returns the error with the GraphQL errors of its response body, if the body contains any.
    func adding(errorsOf response: NetworkResponse, _ type: MediaType?) -> NetworkError {
        guard type?.isJSON == true, let parsed = try? ParsedGraphQLResponse(reading: response), !parsed.errors.isEmpty
        else {
            return self
        }
        var error = self
        error.underlying = GraphQLErrors(errors: parsed.errors)
        return error
    }
}
