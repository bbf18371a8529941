import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a server answers when it is asked for results over time: a stream, one result, or why there is neither.
struct StreamAnswer: Sendable {
    let response: StreamingResponse
    private let request: HTTPRequest

    init(_ response: TransferResponse, to request: HTTPRequest) {
        self.response = StreamingResponse(response)
        self.request = request
    }

    var status: HTTPResponse.Status { response.response.status }
    /// The answer without its body.
    var head: NetworkResponse { NetworkResponse(response: response.response, url: response.url) }
    /// Whether payloads come in it one after another.
    var isStream: Bool { status.kind == .successful && GraphQLPayloadReader.isStream(contentType) }
    /// Whether they are parts.
    var isOfParts: Bool { mediaType?.essence == "multipart/mixed" }
    /// Whether it is of server-sent events.
    var isOfEvents: Bool { status.kind == .successful && mediaType?.essence == MediaType.eventStream }

    private var contentType: String? { response.response.headerFields[single: .contentType] }
    private var mediaType: MediaType? { contentType.flatMap(MediaType.init) }

    /// Returns the one result of a query or mutation that a server answered without a stream.
    ///
    /// For a subscription such an answer is never a result: the server refuses the operation, or ran it once as if it were a
    /// query, which shows that it has no stream of results here.
    ///
    /// - Parameters:
    ///   - attempt: The attempt that was answered.
    ///   - way: How the server was asked, for messages.
    /// - Throws: `NetworkError`: `.unsupported` if the server does not know this way, `.graphQL` or `.status` if it refuses
    ///   the operation, `.tooLarge` if the result is too large.
    func whole(of attempt: SubscriptionAttempt, over way: String) async throws(NetworkError) -> Data {
        guard status.kind == .successful else { throw await refusal(over: way) }
        guard isJSON else { throw unsupported(over: way, head) }
        let whole = try await collected(upTo: attempt.endpoint.maxMessageBytes)
        let answer: GraphQLAnswer
        do throws(NetworkError) {
            answer = try GraphQLAnswer(reading: whole)
        } catch {
            throw unsupported(over: way, whole, error)
        }
        guard attempt.request.kind == .subscription else { return whole.data }
        if answer.isOfExecution { throw unsupported(over: way, whole) }
        throw NetworkError(answer.errors, of: whole)
    }

    private func collected(upTo limit: Int) async throws(NetworkError) -> NetworkResponse {
        do throws(NetworkError) {
            return try await response.collect(upTo: limit)
        } catch {
            throw error.kind == .tooLarge ? .messageTooLarge(limit) : error
        }
    }

    /// Why a server does not do what it was asked. Statuses that tell of the way and not of the operation are of kind
    /// `.unsupported`, also where the body has errors: Apollo's router writes some for a media type that it does not know.
    ///
    /// - Parameter isOfWay: whether the message had no operation, so that any refusal of it but one of who asks, or when,
    ///   tells of the way.
    func refusal(over way: String, isOfWay: Bool = false) async -> NetworkError {
        var whole = head
        // What the server says about it, if it is short and comes to an end; the status is the error all the same.
        do throws(NetworkError) {
            whole.data = try await response.body.collect(upTo: 1 << 20)
        } catch {
            if error.isCancelled { return error }
        }
        let error = whole.refusal(of: request).telling(errorsOf: whole, mediaType)
        switch status.code {
        case 405, 406, 415, 501: return unsupported(over: way, whole, error.underlying)
        case 404 where error.graphQLErrors.isEmpty: return unsupported(over: way, whole)
        case 401, 403, 408, 429, 500...599: return error
        case 400..<500 where isOfWay: return unsupported(over: way, whole, error.underlying)
        default:
            // A document of GraphQL's own media type speaks for itself whatever the status (GraphQL over HTTP, 6.4.2).
            guard mediaType?.essence == GraphQLAnswer.mediaType, !error.graphQLErrors.isEmpty else { return error }
            return NetworkError(error.graphQLErrors, of: whole)
        }
    }

    private var isJSON: Bool { contentType == nil || mediaType?.isJSON == true }

    /// What was answered is not how this way goes, to a message that had no operation.
    func unsupported(over way: String) -> NetworkError {
        var error = unsupported(over: way, head)
        error.mayHaveReachedServer = false
        return error
    }

    private func unsupported(
        over way: String,
        _ whole: NetworkResponse,
        _ underlying: (any Error)? = nil
    ) -> NetworkError {
        let answered = status.kind == .successful ? Redactor().mediaType(contentType) : "\(status)"
        var error = NetworkError(
            .unsupported,
            during: .response,
            "the server does not send results over \(way): it returned \(answered)",
            advice: "choose another transport in GraphQLEndpoint.subscriptions",
            underlying: underlying
        ).holding(whole)
        error.request = request
        // Who refuses the way has done nothing of what was asked.
        error.mayHaveReachedServer = status.kind == .successful
        return error
    }
}

extension GraphQLAnswer {
    /// Whether fields were executed. An operation that is refused has no data, or null and errors of no field (GraphQL
    /// specification, 7.1.6).
    fileprivate var isOfExecution: Bool {
        if data != nil { return true }
        return members["data"] != nil && errors.contains { !$0.path.isEmpty }
    }
}
