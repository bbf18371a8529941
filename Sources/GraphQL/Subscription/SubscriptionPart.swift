import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A part of a multipart body with results: `{"payload": {…}}`, with errors if they end the stream; for `@defer`, the
/// payload itself.
///
/// Source: https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol
struct SubscriptionPart {
    /// The result.
    let payload: Data?
    /// The errors that end the stream; empty if more results may follow.
    let errors: [GraphQLError]

    /// - Throws: `NetworkError` of kind `.decoding` if the part is not a JSON object.
    init(_ part: Data) throws(NetworkError) {
        let members: TopLevelMembers
        do {
            members = try TopLevelMembers(part)
        } catch {
            throw NetworkError(
                .decoding,
                during: .decode,
                "a part is not valid JSON: \(error.reason) at byte \(error.offset)"
            )
        }
        guard members.isObject else {
            throw NetworkError(.decoding, during: .decode, "a part is JSON, but not an object")
        }
        func text(_ range: Range<Int>) -> Data {
            Data(part[part.startIndex + range.lowerBound..<part.startIndex + range.upperBound])
        }
        guard let wrapped = members["payload"] else {
            (payload, errors) = (part, [])
            return
        }
        payload = wrapped.kind == .null ? nil : text(wrapped.range)
        errors =
            try members["errors"].map { member throws(NetworkError) in
                try JSONValue(parsing: text(member.range)).graphQLErrors
            } ?? []
    }

    /// Delivers the result.
    ///
    /// - Throws: `NetworkError` of kind `.graphQL` if no more results follow.
    func deliver(to attempt: SubscriptionAttempt, _ head: NetworkResponse) throws(NetworkError) {
        if let payload { attempt.receive(.payload(payload)) }
        if !errors.isEmpty { throw NetworkError(errors, of: head) }
    }
}
