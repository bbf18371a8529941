import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One part of a body over which an operation's results come: `{"payload": {…}}`, with errors that end it all where there
/// are some; of an answer to `@defer` the payload itself. Source:
/// https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol
struct SubscriptionPart {
    /// The result in it.
    let payload: Data?
    /// Why no more come; empty where more may.
    let errors: [GraphQLError]

    /// - Throws: `NetworkError` of kind `.decoding` where it is no JSON object.
    init(_ part: Data) throws(NetworkError) {
        let members: AnswerMembers
        do {
            members = try AnswerMembers(part)
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

    /// Gives the result.
    ///
    /// - Throws: `NetworkError` of kind `.graphQL` where no more come.
    func give(to attempt: SubscriptionAttempt, _ head: NetworkResponse) throws(NetworkError) {
        if let payload { attempt.receive(.payload(payload)) }
        if !errors.isEmpty { throw NetworkError(errors, of: head) }
    }
}
