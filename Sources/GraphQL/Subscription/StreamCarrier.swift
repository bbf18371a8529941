import BeagleNet
import BeagleNetHTTP

/// Performs an operation over an answer that has no end, its own: events or parts.
///
/// Sources: https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md (distinct connections mode),
/// https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol
struct StreamCarrier: SubscriptionCarrier {
    enum Framing: Sendable {
        case events, parts
    }

    let framing: Framing

    func perform(_ attempt: SubscriptionAttempt) async throws(NetworkError) {
        // What was given of a query does not outlive its attempt.
        let isSubscription = attempt.request.kind == .subscription
        let lastEventID = isSubscription ? attempt.progress.lastEventID : ""
        let transfer = request(of: attempt, behind: lastEventID)
        let answer = StreamAnswer(try await attempt.transport.perform(transfer), to: transfer.head)
        // The end of a stream that goes on nowhere (HTML, 9.2.3).
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

    /// The message of the operation, as one that asks for a stream.
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
        // What is in the middle of a result cannot be put together with what another connection brings.
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
    /// As messages have it.
    fileprivate var name: String {
        switch self {
        case .events: "an event stream"
        case .parts: "a multipart response"
        }
    }
}

extension Data {
    /// Whether a result goes on after this payload.
    fileprivate var announcesMore: Bool {
        get throws(NetworkError) { try JSONValue(parsing: self)["hasNext"]?.bool == true }
    }
}

extension SubscriptionProgress {
    /// The events up to this one were given.
    fileprivate func note(lastEventID id: String) {
        // What no field can hold cannot be told either.
        if !id.unicodeScalars.contains(where: { $0 < " " || $0 == "\u{7F}" }), id != lastEventID { lastEventID = id }
    }
}

extension NetworkError {
    /// The same with what a server wishes that lost its stream.
    func wanting(_ reconnectionTime: Duration?) -> NetworkError {
        guard let reconnectionTime else { return self }
        var error = self
        error.reconnectionTime = reconnectionTime
        return error
    }
}
