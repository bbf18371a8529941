package import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The parts of a server's GraphQL response, located in its body. It is a class because copying all of it at each call
/// would be expensive.
package final class ParsedGraphQLResponse {
    package let response: NetworkResponse
    /// The source of the response.
    let source: NetworkOperation.Result.Source
    let members: TopLevelMembers
    /// The data; `nil` if it is missing or null.
    let dataMember: TopLevelMembers.Member?
    package let errors: [GraphQLError]
    package let extensions: [String: JSONValue]

    /// The range of the data in the body.
    package var data: Range<Int>? { dataMember?.range }

    /// Parses the body of a message that is known to be a GraphQL response.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` if it is not.
    init(
        reading response: NetworkResponse,
        from source: NetworkOperation.Result.Source = .network
    ) throws(NetworkError) {
        self.response = response
        self.source = source
        guard !response.data.isEmpty else {
            throw .malformed("the response has no body", response, advice: "check the URL of the endpoint")
        }
        do {
            members = try TopLevelMembers(response.data, willDecode: true)
        } catch {
            throw .malformed("the response is not valid JSON: \(error.reason) at byte \(error.offset)", response)
        }
        guard members.isObject else { throw .malformed("the response is JSON, but not an object", response) }
        let (errors, data, extensions) = members.responseMembers
        self.errors = try response.value(errors)?.graphQLErrors ?? []
        dataMember = data?.kind == .object ? data : nil
        if let data, data.kind == .other, self.errors.isEmpty {
            throw .malformed("data is neither an object nor null", response)
        }
        self.extensions = try response.value(extensions)?.object ?? [:]
        if dataMember == nil, self.errors.isEmpty {
            throw .malformed(
                "the response has neither data nor errors",
                response,
                advice: "check the URL of the endpoint"
            )
        }
    }

    /// Returns the bytes of a part, sharing the body's storage.
    package subscript(range: Range<Int>) -> Data { response.data(in: range) }
}

extension NetworkResponse {
    fileprivate func data(in range: Range<Int>) -> Data {
        data[data.startIndex + range.lowerBound..<data.startIndex + range.upperBound]
    }

    fileprivate func value(_ member: TopLevelMembers.Member?) throws(NetworkError) -> JSONValue? {
        guard let member else { return nil }
        return try JSONValue(parsing: data(in: member.range))
    }
}

extension JSONValue {
    /// The entries of `errors`. A value that is not a list counts as a single error.
    var graphQLErrors: [GraphQLError] {
        switch self {
        case .array(let entries): entries.map { GraphQLError($0) }
        case .null: []
        default: [GraphQLError(self)]
        }
    }
}
