import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One operation over a shared event stream: asks, gives what comes, and tells the server when nobody wants more.
///
/// What comes is heard where the stream is read, and that the operation is open in a task of its own, as the answer to it comes
/// on the transport's thread; of two at once one hears for both. It does not end while something is being heard: what waits for its end has heard all by
/// then.
final class SharedOperation: Sendable {
    typealias Answer = Result<TransferResponse, NetworkError>

    /// What it ends with.
    private enum End: Sendable {
        /// Nothing more comes.
        case complete
        /// The server does not perform it, or there is one result, which is in the answer.
        case answered(TransferResponse)
        case failed(NetworkError)
    }

    private struct State: Sendable {
        /// For the server: which operation of the stream.
        var id = ""
        /// Of the stream; nil before the server was asked.
        var token: String?
        /// Whether the server may be about it.
        var isUnderWay = false
        var isLeft = false
        var isOpen = false
        /// What came while something else was being heard.
        var waiting: [SubscriptionAttempt.Event] = []
        var waitingBytes = 0
        var isHearing = false
        var end: End?
        var waiter: UnsafeContinuation<Void, Never>?

        /// Whom to tell that it is over.
        mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? {
            guard end != nil, !isHearing else { return nil }
            defer { waiter = nil }
            return waiter
        }
    }

    /// Results, and bytes of several, that may wait while something else is being heard; more end the operation.
    private static let (maxWaiting, maxWaitingBytes) = (4096, 64 << 20)

    private let attempt: SubscriptionAttempt
    private let state = Lock(State())

    init(_ attempt: SubscriptionAttempt) {
        self.attempt = attempt
    }

    /// For the server: which operation of the stream.
    var id: String { state.withLock { $0.id } }

    /// The stream has it under this id.
    func begin(as id: String) {
        state.withLock { $0.id = id }
    }

    // MARK: - Asking

    /// Asks the server.
    ///
    /// The message is not cancelled: where the operation is left meanwhile, the server is told behind it.
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

    /// The parameters, with the number under which results come.
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

    /// Says what came of an answer that is no promise of results: one result, or why there are none.
    ///
    /// - Throws: `NetworkError` where the server does not perform the operation.
    func conclude(with response: TransferResponse, _ stream: SharedEventStream) async throws(NetworkError) {
        noteEnd()
        let answer = StreamAnswer(response, to: attempt.operation.transfer.head)
        if response.status == .notFound {
            let error = await answer.refusal(over: SharedEventsCarrier.name)
            guard error.kind == .unsupported else { throw error }
            // It is the stream that it does not know any more.
            stream.retire()
            throw NetworkError(.network, during: .response, "the server no longer knows the event stream")
        }
        let payload = try await answer.whole(of: attempt, over: SharedEventsCarrier.name)
        let isOpen = state.withLock { $0.isOpen }
        if !isOpen { attempt.receive(.open) }
        attempt.receive(.payload(payload))
    }

    // MARK: - What comes

    /// A result; it may come before the server has said that it takes the operation.
    func give(_ payload: Data) {
        hear(.payload(payload))
    }

    /// Has an event heard, after the others and those that tell that the operation is open.
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
            // One result is no more than a message may have.
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

    /// Nothing more comes.
    func complete() {
        hear(.open)
        noteEnd()
        end(.complete)
    }

    /// There is no stream, or none any more.
    func lose(_ error: NetworkError) {
        noteEnd()
        end(.failed(error))
    }

    /// The server is not about it any more.
    private func noteEnd() {
        state.withLock { ($0.token, $0.isUnderWay) = (nil, false) }
    }

    /// The first end counts.
    private func end(_ end: End) {
        let waiter = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            guard state.end == nil else { return nil }
            state.end = end
            return state.takeWaiter()
        }
        waiter?.resume()
    }

    /// Waits until it has ended; cancelling the task ends it.
    ///
    /// - Returns: an answer that is still to be read; nil where nothing more comes.
    /// - Throws: why it ended before the server had said all.
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

    /// Nobody wants more.
    func leave() {
        let token: String? = state.withLock { state in
            state.isLeft = true
            defer { state.isUnderWay = false }
            return state.isUnderWay ? state.token : nil
        }
        if let token { tellServer(token) }
    }

    /// Has the server end it; what it answers changes nothing.
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
    /// A path with one more item in its query.
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
