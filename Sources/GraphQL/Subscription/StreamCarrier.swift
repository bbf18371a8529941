import BeagleNet
import BeagleNetHTTP

/// Performs an operation over a streamed response of its own: events or parts.
///
/// Sources: https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md (distinct connections mode),
/// https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol
struct StreamCarrier: SubscriptionCarrier {
    enum Framing: Sendable {
        case events, parts
    }

    let framing: Framing

    func perform(_ attempt: SubscriptionAttempt) async throws(NetworkError) {
        // The partial results of a query are discarded with its attempt.
        let isSubscription = attempt.request.kind == .subscription
        let lastEventID = isSubscription ? attempt.progress.lastEventID : ""
        let transfer = request(of: attempt, behind: lastEventID)
        let answer = StreamAnswer(try await attempt.transport.perform(transfer), to: transfer.head)
        // The status ends a stream without reconnection (HTML, 9.2.3).
        if framing == .events, answer.status == .noContent { return }
        guard answer.isStream else {
            let payload = try await answer.whole(of: attempt, over: framing.name)
            attempt.receive(.open)
            attempt.receive(.payload(payload))
            return
        }
        attempt.receive(.open)
        try await read(answer, behind: lastEventID, for: attempt)
    }

    /// Returns the operation's request with the settings of a stream.
    private func request(of attempt: SubscriptionAttempt, behind lastEventID: String) -> TransferRequest {
        var request = attempt.operation.transfer
        request.delivery = .stream
        request.options = request.options.forEvents
        if attempt.request.kind == .subscription { request.options.isLongLived = true }
        switch framing {
        case .events:
            for field in EventSource.fields(behind: lastEventID) { request.head.headerFields[field.name] = field.value }
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
        _ answer: StreamAnswer,
        behind lastEventID: String,
        for attempt: SubscriptionAttempt
    ) async throws(NetworkError) {
        let limit = attempt.endpoint.maxMessageBytes
        var payloads = GraphQLPayloads(
            answer.response,
            maxPayloadBytes: limit,
            behind: lastEventID,
            excess: .messageTooLarge(limit)
        ).makeAsyncIterator()
        let mayComeInPieces = try attempt.request.mayComeInPieces
        // A connection can't resume in the middle of an incremental result.
        var isInPieces = false
        func noteLastEvent() {
            if !isInPieces, attempt.request.kind == .subscription {
                attempt.progress.note(lastEventID: payloads.lastEventID)
            }
        }
        do throws(NetworkError) {
            while let payload = try await payloads.next() {
                if answer.isOfParts {
                    try SubscriptionPart(payload).give(to: attempt, answer.head)
                } else {
                    attempt.receive(.payload(payload))
                }
                isInPieces = mayComeInPieces ? try payload.announcesMore : false
                noteLastEvent()
            }
        } catch {
            noteLastEvent()
            throw error.wanting(payloads.reconnectionTime)
        }
    }
}

extension StreamCarrier.Framing {
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
    fileprivate var announcesMore: Bool {
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
    func wanting(_ reconnectionTime: Duration?) -> NetworkError {
        guard let reconnectionTime else { return self }
        var error = self
        error.reconnectionTime = reconnectionTime
        return error
    }
}
