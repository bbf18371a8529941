import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An operation over a shared event stream: it is sent, delivers its results, and tells the server when it is
/// cancelled.
///
/// Results are delivered in the stream's reading task. The open event may be delivered in a task of its own, because
/// the response to the request arrives on the transport's thread. If both occur at the same time, one of them delivers
/// for both. The operation doesn't end during a delivery, so a caller that waits for the end has received all events by
/// then.
final class SharedOperation: Sendable {
    typealias Outcome = Result<TransferResponse, NetworkError>

    /// The end of an operation.
    private enum End: Sendable {
        /// The server completed the operation.
        case complete
        /// The server responded with a refusal, or with the only result.
        case responded(TransferResponse)
        case failed(NetworkError)
    }

    private struct State: Sendable {
        /// The ID of the operation in the stream.
        var id = ""
        /// The token of the stream, or `nil` before the request is sent.
        var token: String?
        /// Whether the server may be executing the operation.
        var isExecuting = false
        var isCancelled = false
        var isOpen = false
        /// The events that arrived during another delivery.
        var pendingEvents: [SubscriptionAttempt.Event] = []
        var pendingBytes = 0
        var isDelivering = false
        var end: End?

        /// The end, if the operation has ended and nothing is being delivered.
        var settledEnd: End? { isDelivering ? nil : end }
    }

    /// The maximum number and total size of results that wait for another delivery. More results end the operation.
    private static let (maxPendingEvents, maxPendingBytes) = (4096, 64 << 20)

    private let attempt: SubscriptionAttempt
    private let state = Lock(State())
    private let settledEnd = Promise<End>()

    init(_ attempt: SubscriptionAttempt) {
        self.attempt = attempt
    }

    /// The ID of the operation in the stream.
    var id: String { state.withLock { $0.id } }

    /// Sets the ID of the operation in the stream.
    func begin(as id: String) {
        state.withLock { $0.id = id }
    }

    // MARK: - Asking

    /// Sends the request.
    ///
    /// The request is not cancelled. If the operation is cancelled in the meantime, the server is asked to end it
    /// afterwards.
    func send(with token: String) {
        var request = attempt.operation.transfer
        do throws(NetworkError) {
            request.body = HTTPBody(try body())
        } catch {
            return end(.failed(error))
        }
        request.head.headerFields[.accept] = GraphQLEndpoint.accept
        request.setStreamToken(token)
        request.delivery = .collect
        let isWanted = state.withLock { state in
            state.token = token
            return state.end == nil && !state.isCancelled
        }
        if isWanted { attempt.transport.perform(request) { self.handle($0) } }
    }

    /// Returns the request parameters with the operation's ID.
    private func body() throws(NetworkError) -> Data {
        let parameters = attempt.operation.transfer.body?.data ?? attempt.parameters
        let members: TopLevelMembers
        do {
            members = try TopLevelMembers(parameters)
        } catch {
            throw NetworkError(.badRequest, during: .build, "the operation is not valid JSON: \(error.reason)")
        }
        guard members.isObject else {
            throw NetworkError(.badRequest, during: .build, "the operation is not a JSON object")
        }
        func inserting(_ text: String, at place: Int) -> Data {
            let place = parameters.startIndex + place
            return parameters[..<place] + Data(text.utf8) + parameters[place...]
        }
        let text = #""operationId":"\#(id)""#
        guard let extensions = members["extensions"], extensions.kind == .object else {
            let (comma, place) = members.all.last.map { (",", $0.member.range.upperBound) } ?? ("", 1)
            return inserting(#"\#(comma)"extensions":{\#(text)}"#, at: place)
        }
        let isEmpty = extensions.range.count == 2
        return inserting(isEmpty ? text : text + ",", at: extensions.range.lowerBound + 1)
    }

    private func handle(_ outcome: Outcome) {
        let isExecuting =
            switch outcome {
            case .success(let response): response.status.kind == .successful
            case .failure(let error): error.mayHaveReachedServer
            }
        let tokenToCancel: String? = state.withLock { state in
            guard isExecuting, state.token != nil else { return nil }
            state.isExecuting = !state.isCancelled
            return state.isCancelled ? state.token : nil
        }
        if let tokenToCancel { cancelOnServer(tokenToCancel) }
        switch outcome {
        case .success(let response) where response.status == .accepted: Task.detached { self.deliver(.open) }
        case .success(let response): end(.responded(response))
        case .failure(let error): end(.failed(error))
        }
    }

    /// Handles a response that doesn't announce results over the stream: it has a single result, or a refusal.
    ///
    /// - Throws: `NetworkError` if the server doesn't perform the operation.
    func conclude(with response: TransferResponse, _ stream: SharedEventStream) async throws(NetworkError) {
        markEnded()
        let subscriptionResponse = SubscriptionResponse(response, to: attempt.operation.transfer.head)
        if response.status == .notFound {
            let error = await subscriptionResponse.refusal(over: SharedEventStreamPerformer.name)
            guard error.kind == .unsupported else { throw error }
            // The status means that the server no longer knows the stream.
            stream.retire()
            throw NetworkError(.network, during: .response, "the server no longer knows the event stream")
        }
        let payload = try await subscriptionResponse.singleResult(of: attempt, over: SharedEventStreamPerformer.name)
        let isOpen = state.withLock { $0.isOpen }
        if !isOpen { attempt.receive(.open) }
        attempt.receive(.payload(payload))
    }

    // MARK: - What comes

    /// Delivers a result, which may arrive before the server's response to the request.
    func receive(_ payload: Data) {
        deliver(.payload(payload))
    }

    /// Delivers an event after earlier ones and after the open event.
    private func deliver(_ event: SubscriptionAttempt.Event) {
        let (isFirst, end) = state.withLock { state -> (Bool, End?) in
            guard state.end == nil else { return (false, nil) }
            if !state.isOpen {
                state.isOpen = true
                state.pendingEvents.append(.open)
            } else if case .open = event {
                return (false, nil)
            }
            if case .payload(let payload) = event {
                state.pendingEvents.append(event)
                state.pendingBytes += payload.count
            }
            // A single result is limited by the maximum message size.
            let isTooLarge = state.pendingBytes > Self.maxPendingBytes && state.pendingEvents.count > 2
            if state.pendingEvents.count > Self.maxPendingEvents || isTooLarge {
                state.pendingEvents = []
                state.end = .failed(.resultsNotHandledInTime)
                return (false, state.settledEnd)
            }
            defer { state.isDelivering = true }
            return (!state.isDelivering, nil)
        }
        if let end { settledEnd.complete(end) }
        if isFirst { deliverAll() }
    }

    private func deliverAll() {
        while true {
            let (events, end) = state.withLock { state -> ([SubscriptionAttempt.Event], End?) in
                defer { (state.pendingEvents, state.pendingBytes) = ([], 0) }
                if !state.pendingEvents.isEmpty { return (state.pendingEvents, nil) }
                state.isDelivering = false
                return ([], state.end)
            }
            if let end { settledEnd.complete(end) }
            if events.isEmpty { return }
            for event in events { attempt.receive(event) }
        }
    }

    // MARK: - The end

    /// Ends the operation after the server has completed it.
    func complete() {
        deliver(.open)
        markEnded()
        end(.complete)
    }

    /// Ends the operation because the stream is lost or could not be opened.
    func fail(_ error: NetworkError) {
        markEnded()
        end(.failed(error))
    }

    /// Records that the server no longer executes the operation.
    private func markEnded() {
        state.withLock { ($0.token, $0.isExecuting) = (nil, false) }
    }

    /// Ends the operation. Only the first end counts.
    private func end(_ end: End) {
        let settled = state.withLock { state in
            state.end = state.end ?? end
            return state.settledEnd
        }
        if let settled { settledEnd.complete(settled) }
    }

    /// Waits until the operation has ended. Cancelling the task ends it.
    ///
    /// - Returns: A response that is still to be read, or `nil` if the operation is complete.
    /// - Throws: `NetworkError` if the operation ended early.
    func wait() async throws(NetworkError) -> TransferResponse? {
        let settled = await withTaskCancellationHandler {
            await settledEnd.value
        } onCancel: {
            end(.failed(.sharedOperationCancelled))
        }
        switch settled {
        case .complete: return nil
        case .responded(let response): return response
        case .failed(let error): throw error
        }
    }

    /// Leaves the operation, and tells the server to end it if it may be executing it.
    func leave() {
        let token: String? = state.withLock { state in
            state.isCancelled = true
            defer { state.isExecuting = false }
            return state.isExecuting ? state.token : nil
        }
        if let token { cancelOnServer(token) }
    }

    /// Asks the server to end the operation. The response is ignored.
    private func cancelOnServer(_ token: String) {
        var request = attempt.operation.transfer
        request.head.method = .delete
        request.head.path = (request.head.path ?? "/").appendingItem("operationId=\(id)")
        request.removeBody()
        request.setStreamToken(token)
        request.options.timeouts.total = .seconds(10)
        attempt.transport.perform(request) { _ in }
    }
}

extension String {
    /// Returns the path with another query item.
    fileprivate func appendingItem(_ item: String) -> String {
        self + (utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + item
    }
}

extension NetworkError {
    fileprivate static let sharedOperationCancelled = NetworkError(
        .cancelled,
        during: .body,
        "the operation was cancelled"
    )
    fileprivate static let resultsNotHandledInTime = NetworkError(
        .tooLarge,
        during: .body,
        "results of the operation arrived faster than the app handled them",
        advice: "return quickly from the result handler"
    )
}
