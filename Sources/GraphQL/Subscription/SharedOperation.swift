import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One operation over a shared event stream: asks, gives what comes, and tells the server when nobody wants more.
final class SharedOperation: Sendable {
    private struct State {
        /// Of the stream; nil before the server was asked.
        var token: String?
        /// Whether the server may be about it.
        var isUnderWay = false
        var isLeft = false
        var isOpen = false
    }

    private let attempt: SubscriptionAttempt
    private let id: String
    private let messages: AsyncStream<SharedEventStream.Message>.Continuation
    private let state = Lock(State())

    init(_ attempt: SubscriptionAttempt, _ membership: SharedEventStream.Membership) {
        self.attempt = attempt
        id = membership.id
        messages = membership.continuation
    }

    // MARK: - Asking

    /// Asks the server; its answer comes as a message.
    ///
    /// The message is not cancelled: where the operation is left meanwhile, the server is told behind it.
    func send(with token: String) throws(NetworkError) {
        var request = attempt.operation.transfer
        request.body = HTTPBody(try body())
        request.head.headerFields[.accept] = GraphQLEndpoint.accept
        request.carry(token: token)
        request.delivery = .collect
        state.withLock { $0.token = token }
        attempt.transport.perform(request) { self.note($0) }
    }

    /// The parameters, with the number under which results come.
    private func body() throws(NetworkError) -> Data {
        let parameters = attempt.operation.transfer.body?.data ?? attempt.parameters
        let members: AnswerMembers
        do {
            members = try AnswerMembers(parameters)
        } catch {
            throw NetworkError(.badRequest, during: .build, "the operation is no JSON: \(error.reason)")
        }
        guard members.isObject else {
            throw NetworkError(.badRequest, during: .build, "the operation is no JSON object")
        }
        func inserting(_ text: String, at place: Int) -> Data {
            let place = parameters.startIndex + place
            return parameters[..<place] + Data(text.utf8) + parameters[place...]
        }
        let text = #""operationId":"\#(id)""#
        guard let extensions = members["extensions"], extensions.kind == .object else {
            let (comma, place) = members.members.last.map { (",", $0.range.upperBound) } ?? ("", 1)
            return inserting(#"\#(comma)"extensions":{\#(text)}"#, at: place)
        }
        let isEmpty = extensions.range.count == 2
        return inserting(isEmpty ? text : text + ",", at: extensions.range.lowerBound + 1)
    }

    private func note(_ answer: Result<TransferResponse, NetworkError>) {
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
        messages.yield(.answered(answer))
    }

    /// Whether nothing more comes after what the server answered.
    ///
    /// - Throws: `NetworkError` where the server does not perform the operation.
    func isOver(
        after answer: Result<TransferResponse, NetworkError>,
        _ stream: SharedEventStream
    ) async throws(NetworkError) -> Bool {
        let response = try answer.get()
        if response.status == .accepted {
            open()
            return false
        }
        noteEnd()
        let answer = StreamAnswer(response, to: attempt.operation.transfer.head)
        if response.status == .notFound {
            let error = await answer.refusal(over: SharedEventsCarrier.name)
            guard error.kind == .unsupported else { throw error }
            // It is the stream that it does not know any more.
            stream.retire()
            throw NetworkError(.network, during: .response, "the server has forgotten the event stream")
        }
        let payload = try await answer.whole(of: attempt.request.kind, over: SharedEventsCarrier.name)
        give(payload)
        return true
    }

    // MARK: - What comes

    /// Results may come, also before the server has said that it takes the operation.
    private func open() {
        let isFirst = state.withLock { state in
            defer { state.isOpen = true }
            return !state.isOpen
        }
        if isFirst { attempt.receive(.open) }
    }

    func give(_ payload: Data) {
        open()
        attempt.receive(.payload(payload))
    }

    // MARK: - The end

    /// Nothing more comes.
    func complete() {
        open()
        noteEnd()
    }

    /// The server is not about it any more.
    func noteEnd() {
        state.withLock { ($0.token, $0.isUnderWay) = (nil, false) }
    }

    /// Nobody wants more.
    func leave() {
        let token: String? = state.withLock { state in
            state.isLeft = true
            defer { state.isUnderWay = false }
            return state.isUnderWay ? state.token : nil
        }
        messages.finish()
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
