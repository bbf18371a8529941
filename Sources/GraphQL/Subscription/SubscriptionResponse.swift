import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A server's response to an operation with several results: a stream, a single result, or a refusal.
struct SubscriptionResponse: Sendable {
    let response: StreamingResponse
    private let request: HTTPRequest

    init(_ response: TransferResponse, to request: HTTPRequest) {
        self.response = StreamingResponse(response)
        self.request = request
    }

    var status: HTTPResponse.Status { response.response.status }
    /// The response without its body.
    var head: NetworkResponse { NetworkResponse(response: response.response, url: response.url) }
    /// Whether the body is a stream of payloads.
    var isStream: Bool { status.kind == .successful && GraphQLPayloadReader.isStream(contentType) }
    /// Whether the payloads are parts of a multipart body.
    var isMultipart: Bool { mediaType?.essence == "multipart/mixed" }
    /// Whether the body consists of server-sent events.
    var isEventStream: Bool { status.kind == .successful && mediaType?.essence == MediaType.eventStream }

    private var contentType: String? { response.response.headerFields[single: .contentType] }
    private var mediaType: MediaType? { contentType.flatMap(MediaType.init) }

    /// Returns the single result of a query or mutation that a server answered without a stream.
    ///
    /// For a subscription, such a response is never a result: the server refused the operation, or executed it once
    /// like a query, which shows that it has no stream of results here.
    ///
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - transport: The transport, for messages.
    /// - Throws: `NetworkError`: `.unsupported` if the server doesn't support the transport, `.graphQL` or `.status` if
    ///   it refuses the operation, `.tooLarge` if the result is too large.
    func singleResult(of attempt: SubscriptionAttempt, over transport: String) async throws(NetworkError) -> Data {
        guard status.kind == .successful else { throw await refusal(over: transport) }
        guard isJSON else { throw unsupported(over: transport, head) }
        let whole = try await collected(upTo: attempt.endpoint.maxMessageBytes)
        let parsed: ParsedGraphQLResponse
        do throws(NetworkError) {
            parsed = try ParsedGraphQLResponse(reading: whole)
        } catch {
            throw unsupported(over: transport, whole, error)
        }
        guard attempt.request.kind == .subscription else { return whole.data }
        if parsed.isExecutionResult { throw unsupported(over: transport, whole) }
        throw NetworkError(parsed.errors, of: whole)
    }

    private func collected(upTo limit: Int) async throws(NetworkError) -> NetworkResponse {
        do throws(NetworkError) {
            return try await response.collect(upTo: limit)
        } catch {
            throw error.kind == .tooLarge ? .messageTooLarge(limit) : error
        }
    }

    /// Returns the reason for which a server refused a request. Statuses that concern the transport instead of the
    /// operation are of kind `.unsupported`, even if the body has errors, because Apollo's router sends some for an
    /// unknown media type.
    ///
    /// - Parameter concernsTransport: Whether the request had no operation, so that any refusal concerns the transport,
    ///   unless its reason is the user or the time of the request.
    func refusal(over transport: String, concernsTransport: Bool = false) async -> NetworkError {
        var whole = head
        // The server's explanation is included if it is short and complete. The status remains the error in any case.
        do throws(NetworkError) {
            whole.data = try await response.body.collect(upTo: 1 << 20)
        } catch {
            if error.isCancelled { return error }
        }
        let error = whole.statusError(for: request).adding(errorsOf: whole, mediaType)
        switch status.code {
        case 405, 406, 415, 501: return unsupported(over: transport, whole, error.underlying)
        case 404 where error.graphQLErrors.isEmpty: return unsupported(over: transport, whole)
        case 401, 403, 408, 429, 500...599: return error
        case 400..<500 where concernsTransport: return unsupported(over: transport, whole, error.underlying)
        default:
            // A body of GraphQL's own media type counts regardless of the status (GraphQL over HTTP, 6.4.2).
            guard mediaType?.essence == ParsedGraphQLResponse.mediaType, !error.graphQLErrors.isEmpty else {
                return error
            }
            return NetworkError(error.graphQLErrors, of: whole)
        }
    }

    private var isJSON: Bool { contentType == nil || mediaType?.isJSON == true }

    /// Returns an error for a response that doesn't fit the transport, to a request without an operation.
    func unsupported(over transport: String) -> NetworkError {
        var error = unsupported(over: transport, head)
        error.mayHaveReachedServer = false
        return error
    }

    private func unsupported(
        over transport: String,
        _ whole: NetworkResponse,
        _ underlying: (any Error)? = nil
    ) -> NetworkError {
        let answered = status.kind == .successful ? Redactor().mediaType(contentType) : "\(status)"
        var error = NetworkError(
            .unsupported,
            during: .response,
            "the server does not send results over \(transport): it returned \(answered)",
            advice: "choose another transport in GraphQLEndpoint.subscriptions",
            underlying: underlying
        ).attaching(whole)
        error.request = request
        // A server that refuses the transport has not executed the operation.
        error.mayHaveReachedServer = status.kind == .successful
        return error
    }
}

extension ParsedGraphQLResponse {
    /// Whether fields were executed. A refused operation has no data, or null with errors that concern no field
    /// (GraphQL specification, 7.1.6).
    fileprivate var isExecutionResult: Bool {
        if data != nil { return true }
        return members["data"] != nil && errors.contains { !$0.path.isEmpty }
    }
}
