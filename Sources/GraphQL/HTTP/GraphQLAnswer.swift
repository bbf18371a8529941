package import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The parts of a server's answer, found where they are in its body.
package struct GraphQLAnswer {
    package let response: NetworkResponse
    /// Where the data is; nil where there is none, or null.
    package private(set) var data: Range<Int>?
    /// The members of the data.
    private(set) var fields: [AnswerMembers.Member] = []
    package private(set) var errors: [GraphQLError] = []
    package private(set) var extensions: [String: JSONValue] = [:]

    /// Reads the body of a message that is known to be of GraphQL.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` where it is none.
    init(reading response: NetworkResponse) throws(NetworkError) {
        self.response = response
        guard !response.data.isEmpty else {
            throw .malformed("the answer has no body", response, advice: "check the URL of the endpoint")
        }
        let members: AnswerMembers
        do {
            members = try AnswerMembers(response.data)
        } catch {
            throw .malformed("the answer is no JSON: \(error.reason) at byte \(error.offset)", response)
        }
        guard members.isObject else { throw .malformed("the answer is JSON, but no object", response) }
        errors = (try value(members["errors"]) ?? .null).graphQLErrors
        if let data = members["data"], data.kind == .object {
            self.data = data.range
            fields = members.ofData
        } else if let data = members["data"], data.kind != .null, errors.isEmpty {
            throw .malformed("data is neither an object nor null", response)
        }
        extensions = try value(members["extensions"])?.object ?? [:]
        if data == nil, errors.isEmpty {
            throw .malformed(
                "the answer has neither data nor errors",
                response,
                advice: "check the URL of the endpoint"
            )
        }
    }

    /// The bytes of a part, shared with the body.
    package subscript(range: Range<Int>) -> Data {
        response.data[response.data.startIndex + range.lowerBound..<response.data.startIndex + range.upperBound]
    }

    private func value(_ member: AnswerMembers.Member?) throws(NetworkError) -> JSONValue? {
        guard let member else { return nil }
        return try JSONValue(parsing: self[member.range])
    }
}

extension JSONValue {
    /// The entries of `errors`. What is no list is one error.
    var graphQLErrors: [GraphQLError] {
        switch self {
        case .array(let entries): entries.map { GraphQLError($0) }
        case .null: []
        default: [GraphQLError(self)]
        }
    }
}
