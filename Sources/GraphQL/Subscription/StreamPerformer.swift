import BeagleNet
import BeagleNetHTTP

/// Performs an operation over a streamed response of its own: events or parts.
///
/// Sources: https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md (distinct connections mode),
/// https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol
struct StreamPerformer: AttemptPerformer {
    enum Framing: Sendable {
        case events, parts
    }

    let framing: Framing

    func perform(_ attempt: SubscriptionAttempt) async throws(NetworkError) {
        // The partial results of a query are discarded with its attempt.
        let isSubscription = attempt.request.kind == .subscription
        let lastEventID = isSubscription ? attempt.progress.lastEventID : ""
        let transfer = request(of: attempt, after: lastEventID)
        let response = SubscriptionResponse(try await attempt.transport.perform(transfer), to: transfer.head)
        // The status ends a stream without reconnection (HTML, 9.2.3).
        if framing == .events, response.status == .noContent { return }
        guard response.isStream else {
            let payload = try await response.singleResult(of: attempt, over: framing.name)
            attempt.receive(.open)
            attempt.receive(.payload(payload))
            return
        }
        attempt.receive(.open)
        try await read(response, after: lastEventID, for: attempt)
    }

    /// Returns the operation's request with the settings of a stream.
    private func request(of attempt: SubscriptionAttempt, after lastEventID: String) -> TransferRequest {
        var request = attempt.operation.transfer
        request.delivery = .stream
        request.options = request.options.forEventStream
        if attempt.request.kind == .subscription { request.options.isLongLived = true }
        switch framing {
        case .events:
            for field in EventSource.fields(after: lastEventID) { request.head.headerFields[field.name] = field.value }
        case .parts:
            request.head.headerFields[.accept] =
                attempt.request.kind == .subscription ? Self.acceptedParts : GraphQLEndpoint.incrementalAccept
        }
        return request
    }

    private static let acceptedParts =
        "multipart/mixed;boundary=\"graphql\";subscriptionSpec=1.0, application/graphql-response+json, "
        + "application/json;q=0.9"

    private func read(
        _ response: SubscriptionResponse,
        after lastEventID: String,
        for attempt: SubscriptionAttempt
    ) async throws(NetworkError) {
        let limit = attempt.endpoint.maxMessageBytes
        var payloads = GraphQLPayloads(
            response.response,
            maxPayloadBytes: limit,
            after: lastEventID,
            tooLargeError: .messageTooLarge(limit)
        ).makeAsyncIterator()
        let usesIncrementalDelivery = try attempt.request.usesIncrementalDelivery
        // A connection can't resume in the middle of an incremental result.
        var isIncomplete = false
        func noteLastEvent() {
            if !isIncomplete, attempt.request.kind == .subscription {
                attempt.progress.note(lastEventID: payloads.lastEventID)
            }
        }
        do throws(NetworkError) {
            while let payload = try await payloads.next() {
                if response.isMultipart {
                    try SubscriptionPart(payload).deliver(to: attempt, response.head)
                } else {
                    attempt.receive(.payload(payload))
                }
                isIncomplete = usesIncrementalDelivery ? try payload.hasNext : false
                noteLastEvent()
            }
        } catch {
            noteLastEvent()
            throw error.settingReconnectionTime(payloads.reconnectionTime)
        }
    }
}

extension StreamPerformer.Framing {
    /// The name used in messages.
    fileprivate var name: String {
        switch self {
        case .events: "an event stream"
        case .parts: "a multipart response"
        }
    }
}

extension Data {
    /// Whether more parts of the result follow this payload.
    fileprivate var hasNext: Bool {
        get throws(NetworkError) { try JSONValue(parsing: self)["hasNext"]?.bool == true }
    }
}

extension SubscriptionProgress {
    /// Records the ID of the last delivered event.
    fileprivate func note(lastEventID id: String) {
        // An ID that a header field can't contain is ignored.
        if !id.unicodeScalars.contains(where: { $0 < " " || $0 == "\u{7F}" }), id != lastEventID { lastEventID = id }
    }
}

extension NetworkError {
    /// Returns the error with the server's reconnection delay.
    func settingReconnectionTime(_ reconnectionTime: Duration?) -> NetworkError {
        guard let reconnectionTime else { return self }
        var error = self
        error.reconnectionTime = reconnectionTime
        return error
    }
}
