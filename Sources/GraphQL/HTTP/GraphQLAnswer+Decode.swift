package import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension GraphQLAnswer {
    private static let name: StaticString = "application/graphql-response+json"
    static let mediaType = name.description

    /// Reads what a server answered, whatever its status.
    ///
    /// GraphQL's own media type says that the body is an answer. Any other body is trusted only with a status of success,
    /// as something on the way might have written it (GraphQL over HTTP, 7.2).
    ///
    /// - Parameters:
    ///   - refusal: the error of a status outside 200...299.
    ///   - source: where it is from.
    package convenience init(
        _ response: NetworkResponse,
        refusal: NetworkError?,
        from source: NetworkOperation.Result.Source = .network
    ) throws(NetworkError) {
        // As servers mostly write it, so that it need not be taken apart.
        let isPlain =
            response.hasContentType(Self.name)
            || refusal == nil && response.hasContentType("application/json")
        let field = isPlain ? nil : response.contentType
        let type = field.flatMap(MediaType.init)
        if isPlain || type?.essence == Self.mediaType {
            try self.init(reading: response, from: source)
        } else if refusal == nil, GraphQLPayloadReader.isStream(field) {
            try self.init(reading: response.joiningPieces(), from: source)
        } else if let refusal {
            throw refusal.telling(errorsOf: response, type)
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

    /// Makes the answer of an operation.
    ///
    /// - Parameters:
    ///   - key: the response key of what to decode; nil for all of the data.
    ///   - isUnfinished: whether more is to come, and a field that is missing may be in it.
    func decode<Output: Decodable>(
        _ type: Output.Type,
        at key: String?,
        _ policy: GraphQLEndpoint.ErrorPolicy,
        with decoder: any BodyDecoder,
        isUnfinished: Bool = false
    ) throws(NetworkError) -> GraphQLResponse<Output> {
        let isAwaited = isUnfinished && lacksField(key)
        if isAwaited, policy == .strict, !errors.isEmpty { throw NetworkError(errors, of: response) }
        return GraphQLResponse(
            data: isAwaited ? nil : try value(type, at: key, policy, with: decoder),
            errors: policy == .ignore ? [] : errors,
            extensions: extensions,
            response: response,
            source: source
        )
    }

    /// Makes the value of the answer of an operation. Inlined, as is what it calls: each function would look its types up.
    ///
    /// - Parameter key: the response key of what to decode; nil for all of the data.
    @inline(__always) func value<Output: Decodable>(
        _ type: Output.Type,
        at key: String?,
        _ policy: GraphQLEndpoint.ErrorPolicy,
        with decoder: any BodyDecoder
    ) throws(NetworkError) -> Output? {
        if errors.isEmpty { return try output(type, at: key, with: decoder) }
        if policy == .strict { throw NetworkError(errors, of: response) }
        let output = try output(type, at: key, with: decoder)
        if output == nil, dataMember == nil || Output.null == nil { throw NetworkError(errors, of: response) }
        return output
    }

    /// Whether there is data, and nothing in it under this key.
    private func lacksField(_ key: String?) -> Bool {
        guard let key, let dataMember else { return false }
        return members.member(key, of: dataMember.index) == nil
    }

    /// The value that was asked for; nil where the server gave null, or left out what `Output` need not have, as `@skip` and
    /// `@include` may say.
    @inline(__always) private func output<Output: Decodable>(
        _ type: Output.Type,
        at key: String?,
        with decoder: any BodyDecoder
    ) throws(NetworkError) -> Output? {
        guard var part = dataMember else { return nil }
        if let key {
            guard let field = members.member(key, of: part.index) else {
                if !errors.isEmpty || Output.null != nil { return nil }
                throw .malformed("the data has no field \(key)", response)
            }
            if field.kind == .null { return nil }
            part = field
        }
        do {
            // It would read the same once more.
            if members.tape.isWhole, decoder is JSONBodyDecoder {
                return try TapeDecoder.decode(type, from: members.tape, at: part.index)
            }
            return try decoder.decode(type, from: self[part.range])
        } catch {
            // What is missing was told in errors: they explain more than the missing value does.
            if !errors.isEmpty { throw NetworkError(errors, of: response) }
            throw NetworkError(decoding: type, failedWith: error).holding(response)
        }
    }
}

extension MediaType {
    var isJSON: Bool { essence == "application/json" || essence.hasSuffix("+json") }
}

extension NetworkError {
    /// A refusal with what its body says, where that is of GraphQL.
    func telling(errorsOf response: NetworkResponse, _ type: MediaType?) -> NetworkError {
        guard type?.isJSON == true, let answer = try? GraphQLAnswer(reading: response), !answer.errors.isEmpty else {
            return self
        }
        var error = self
        error.underlying = GraphQLErrors(errors: answer.errors)
        return error
    }
}
