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
    typealias Answer = Result<TransferResponse, NetworkError>

    /// The end of an operation.
    private enum End: Sendable {
        /// The server completed the operation.
        case complete
        /// The server responded with a refusal, or with the only result.
        case answered(TransferResponse)
        case failed(NetworkError)
    }

    private struct State: Sendable {
        /// The ID of the operation in the stream.
        var id = ""
        /// The token of the stream, or `nil` before the request is sent.
        var token: String?
        /// Whether the server may be executing the operation.
        var isUnderWay = false
        var isLeft = false
        var isOpen = false
        /// The events that arrived during another delivery.
        var waiting: [SubscriptionAttempt.Event] = []
        var waitingBytes = 0
        var isHearing = false
        var end: End?
        var waiter: UnsafeContinuation<Void, Never>?

        /// Returns the waiting continuation if the operation has ended and nothing is being delivered.
        mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? {
            guard end != nil, !isHearing else { return nil }
            defer { waiter = nil }
            return waiter
        }
    }

    /// The maximum number and total size of results that wait for another delivery. More results end the operation.
    private static let (maxWaiting, maxWaitingBytes) = (4096, 64 << 20)

    private let attempt: SubscriptionAttempt
    private let state = Lock(State())

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
        request.carry(token: token)
        request.delivery = .collect
        let isWanted = state.withLock { state in
            state.token = token
            return state.end == nil && !state.isLeft
        }
        if isWanted { attempt.transport.perform(request) { self.note($0) } }
    }

    /// Returns the request parameters with the operation's ID.
    private func body() throws(NetworkError) -> Data {
        let parameters = attempt.operation.transfer.body?.data ?? attempt.parameters
        let members: AnswerMembers
        do {
            members = try AnswerMembers(parameters)
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

    private func note(_ answer: Answer) {
        let isUnderWay =
            switch answer {
            case .success(let response): response.status.kind == .successful
            case .failure(let error): error.mayHaveReachedServer
            }
        let leaving: String? = state.withLock { state in
            guard isUnderWay, state.token != nil else { return nil }
            state.isUnderWay = !state.isLeft
            return state.isLeft ? state.token : nil
        }
        if let leaving { tellServer(leaving) }
        switch answer {
        case .success(let response) where response.status == .accepted: Task.detached { self.hear(.open) }
        case .success(let response): end(.answered(response))
        case .failure(let error): end(.failed(error))
        }
    }

    /// Handles a response that doesn't announce results over the stream: it has a single result, or a refusal.
    ///
    /// - Throws: `NetworkError` if the server doesn't perform the operation.
    func conclude(with response: TransferResponse, _ stream: SharedEventStream) async throws(NetworkError) {
        noteEnd()
        let answer = StreamAnswer(response, to: attempt.operation.transfer.head)
        if response.status == .notFound {
            let error = await answer.refusal(over: SharedEventsCarrier.name)
            guard error.kind == .unsupported else { throw error }
            // The status means that the server no longer knows the stream.
            stream.retire()
            throw NetworkError(.network, during: .response, "the server no longer knows the event stream")
        }
        let payload = try await answer.whole(of: attempt, over: SharedEventsCarrier.name)
        let isOpen = state.withLock { $0.isOpen }
        if !isOpen { attempt.receive(.open) }
        attempt.receive(.payload(payload))
    }

    // MARK: - What comes

    /// Delivers a result, which may arrive before the server's response to the request.
    func give(_ payload: Data) {
        hear(.payload(payload))
    }

    /// Delivers an event after earlier ones and after the open event.
    private func hear(_ event: SubscriptionAttempt.Event) {
        let (isMine, waiter) = state.withLock { state -> (Bool, UnsafeContinuation<Void, Never>?) in
            guard state.end == nil else { return (false, nil) }
            if !state.isOpen {
                state.isOpen = true
                state.waiting.append(.open)
            } else if case .open = event {
                return (false, nil)
            }
            if case .payload(let payload) = event {
                state.waiting.append(event)
                state.waitingBytes += payload.count
            }
            // A single result is limited by the maximum message size.
            let isTooLarge = state.waitingBytes > Self.maxWaitingBytes && state.waiting.count > 2
            if state.waiting.count > Self.maxWaiting || isTooLarge {
                state.waiting = []
                state.end = .failed(.notHeardInTime)
                return (false, state.takeWaiter())
            }
            defer { state.isHearing = true }
            return (!state.isHearing, nil)
        }
        waiter?.resume()
        if isMine { hearAll() }
    }

    private func hearAll() {
        while true {
            let (events, waiter) = state.withLock {
                state -> ([SubscriptionAttempt.Event], UnsafeContinuation<Void, Never>?) in
                defer { (state.waiting, state.waitingBytes) = ([], 0) }
                if !state.waiting.isEmpty { return (state.waiting, nil) }
                state.isHearing = false
                return ([], state.takeWaiter())
            }
            if events.isEmpty {
                waiter?.resume()
                return
            }
            for event in events { attempt.receive(event) }
        }
    }

    // MARK: - The end

    /// Ends the operation after the server has completed it.
    func complete() {
        hear(.open)
        noteEnd()
        end(.complete)
    }

    /// Ends the operation because the stream is lost or could not be opened.
    func lose(_ error: NetworkError) {
        noteEnd()
        end(.failed(error))
    }

    /// Records that the server no longer executes the operation.
    private func noteEnd() {
        state.withLock { ($0.token, $0.isUnderWay) = (nil, false) }
    }

    /// Ends the operation. Only the first end counts.
    private func end(_ end: End) {
        let waiter = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            guard state.end == nil else { return nil }
            state.end = end
            return state.takeWaiter()
        }
        waiter?.resume()
    }

    /// Waits until the operation has ended. Cancelling the task ends it.
    ///
    /// - Returns: A response that is still to be read, or `nil` if the operation is complete.
    /// - Throws: `NetworkError` if the operation ended early.
    func wait() async throws(NetworkError) -> TransferResponse? {
        await suspend { continuation in
            let isOver = state.withLock { state in
                if state.end != nil, !state.isHearing { return true }
                state.waiter = continuation
                return false
            }
            if isOver { continuation.resume() }
        } onCancel: {
            end(.failed(.leftStream))
        }
        switch state.withLock({ $0.end }) {
        case .complete, nil: return nil
        case .answered(let response): return response
        case .failed(let error): throw error
        }
    }

    /// Leaves the operation, and tells the server to end it if it may be executing it.
    func leave() {
        let token: String? = state.withLock { state in
            state.isLeft = true
            defer { state.isUnderWay = false }
            return state.isUnderWay ? state.token : nil
        }
        if let token { tellServer(token) }
    }

    /// Asks the server to end the operation. The response is ignored.
    private func tellServer(_ token: String) {
        var request = attempt.operation.transfer
        request.head.method = .delete
        request.head.path = (request.head.path ?? "/").appendingItem("operationId=\(id)")
        request.carryNothing()
        request.carry(token: token)
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
    fileprivate static let leftStream = NetworkError(.cancelled, during: .body, "the operation was cancelled")
    fileprivate static let notHeardInTime = NetworkError(
        .tooLarge,
        during: .body,
        "results of the operation arrived faster than the app handled them",
        advice: "return quickly from the result handler"
    )
}
