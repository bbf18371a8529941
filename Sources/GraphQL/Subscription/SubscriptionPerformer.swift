import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Performs an operation whose results come over time, in the first way that the server knows.
struct SubscriptionPerformer: OperationPerformer {
    private let plan: SubscriptionPlan
    private var progress = SubscriptionProgress()

    /// - Parameter isHolding: whether nothing is asked, and a WebSocket only held open.
    /// - Throws: `NetworkError` where the operation is none that can be sent.
    init(_ request: GraphQLRequest, at endpoint: GraphQLEndpoint, isHolding: Bool = false) throws(NetworkError) {
        plan = try SubscriptionPlan(request, at: endpoint, isHolding: isHolding)
    }

    /// Those of an operation stay behind where it shares a WebSocket.
    var sendsFields: Bool { !plan.endpoint.subscriptions.contains(where: \.isWebSocket) }

    /// Takes it for an iteration.
    ///
    /// - Returns: whether it is the first, so that there is nothing that it would go on behind.
    func begin() -> Bool { progress.begin() }

    /// The same from the beginning: it does not go on behind what another run was given.
    func renewed() -> SubscriptionPerformer {
        var performer = self
        performer.progress = SubscriptionProgress()
        return performer
    }

    func perform(
        _ operation: NetworkOperation,
        over transport: any HTTPTransport,
        _ emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let ways = try self.ways(for: operation, over: transport, emit)
        while try await !perform(by: ways) {}
        return try ways.results.last()
    }

    /// One way after another. Whoever waits for a subscription keeps this and little else, so that many cost little.
    private final class Ways: Sendable {
        let attempt: SubscriptionAttempt
        let results: SubscriptionResults
        private let left: Lock<Left>

        private struct Left {
            var ways: [GraphQLSubscriptionTransport]
            /// Why WebSockets were forbidden.
            var forbidden: NetworkError?
            /// The ways that the server does not know, and how it said so.
            var refusals: [(way: String, error: NetworkError)] = []
        }

        init(_ ways: [GraphQLSubscriptionTransport], _ attempt: SubscriptionAttempt, _ results: SubscriptionResults) {
            self.attempt = attempt
            self.results = results
            left = Lock(Left(ways: ways))
        }

        /// The way to be tried.
        var current: GraphQLSubscriptionTransport { left.withLock { $0.ways[0] } }

        /// What performs in the way to be tried. Never inlined: what waits for it would have room for what a way is.
        @inline(never)
        func carrier() -> any SubscriptionCarrier {
            switch current {
            case .webSocket(let options): SocketCarrier(options: options)
            case .events(.distinct): StreamCarrier(framing: .events)
            case .events(.single): SharedEventsCarrier()
            case .multipart: StreamCarrier(framing: .parts)
            }
        }

        /// What is to be done about a failure of the current way: the next is tried, or this is thrown.
        func note(_ error: NetworkError) -> NetworkError? {
            var error = error
            if error.url == nil { error.url = attempt.operation.transfer.head.urlText }
            attempt.progress.note(error)
            if results.isOpen { return error }
            let way = current
            let rest = left.withLock { left in
                left.ways.removeFirst()
                return left.ways
            }
            switch error.kind {
            case .unsupported:
                // What this side lacks is not the server's doing.
                if error.phase != .build {
                    let operation = attempt.operation
                    let head = operation.transfer.head
                    attempt.endpoint.memory.note(refusalOf: way.name, at: head, operation.stopwatch())
                }
                // What may have been done is not asked for a second time.
                if attempt.request.kind == .mutation, error.mayHaveReachedServer { return error }
                return left.withLock { left in
                    left.refusals.append((way.name, error))
                    return rest.isEmpty ? left.forbidden ?? .noKnownWay(left.refusals) : nil
                }
            // So Python's servers answer where no WebSocket is; or it is a refusal, and will be one in another way too.
            case .status where way.isWebSocket && error.response?.status == .forbidden && !rest.isEmpty:
                left.withLock { $0.forbidden = error }
                return nil
            default: return error
            }
        }
    }

    @inline(never)
    private func ways(
        for operation: NetworkOperation,
        over transport: any HTTPTransport,
        _ emit: @escaping Interceptor.Emit
    ) throws(NetworkError) -> Ways {
        let (request, endpoint) = (plan.request, plan.endpoint)
        let merge = plan.mayComeInPieces ? IncrementalMerge(maxPayloadBytes: endpoint.maxMessageBytes) : nil
        let results = SubscriptionResults(request.kind, operation.request.url.absoluteString, merge, emit)
        let attempt = SubscriptionAttempt(
            plan: plan,
            operation: operation,
            transport: transport,
            progress: progress,
            receive: { results.receive($0) }
        )
        let offered = plan.isHolding ? endpoint.subscriptions.filter(\.isWebSocket) : endpoint.subscriptions
        var ways = endpoint.memory.known(of: offered, at: operation.transfer.head)
        guard !ways.isEmpty else { throw .noWay }
        guard endpoint.maxMessageBytes > 0 else { throw .noMessages(endpoint.maxMessageBytes) }
        if !request.files.isEmpty { ways.removeAll { !$0.takesFiles } }
        guard !ways.isEmpty else { throw .noWayForFiles }
        return Ways(ways, attempt, results)
    }

    /// Performs one attempt in one way.
    ///
    /// - Returns: whether it is over; false where the next way is to be tried.
    private func perform(by ways: Ways) async throws(NetworkError) -> Bool {
        let error: NetworkError?
        do throws(NetworkError) {
            if plan.mayComeInPieces {
                try await performInPieces(by: ways)
            } else {
                try await ways.carrier().perform(ways.attempt)
            }
            return true
        } catch let failure {
            error = ways.note(failure)
        }
        if let error { throw error }
        return false
    }

    /// What cannot be put together ends it, however long more would come.
    private func performInPieces(by ways: Ways) async throws(NetworkError) {
        let work = Task {
            await Result<Void, NetworkError>.catching { () throws(NetworkError) in
                try await ways.carrier().perform(ways.attempt)
            }
        }
        ways.results.onFailure { work.cancel() }
        let outcome = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        if let failure = ways.results.failure { throw failure }
        try outcome.get()
    }
}

/// Makes results of what comes in one attempt.
private final class SubscriptionResults: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var merge: IncrementalMerge?
        /// Of an operation that has one result the last that came.
        var last: NetworkOperation.Result?
        var failure: NetworkError?
        var onFailure: (@Sendable () -> Void)?
    }

    private let state: Lock<State>
    private let kind: OperationKind
    private let url: String
    private let emit: Interceptor.Emit

    /// - Parameters:
    ///   - url: The URL that was asked, which shares its text with the operation.
    ///   - merge: The merge of results that come in pieces; `nil` if none do.
    init(_ kind: OperationKind, _ url: String, _ merge: IncrementalMerge?, _ emit: @escaping Interceptor.Emit) {
        self.kind = kind
        self.url = url
        self.emit = emit
        state = Lock(State(merge: merge))
    }

    /// Whether the server was asked over a connection that works.
    var isOpen: Bool { state.withLock { $0.isOpen } }
    /// Why what came cannot be put together.
    var failure: NetworkError? { state.withLock { $0.failure } }

    /// Says what is done where something cannot be put together; at once where that is so already.
    func onFailure(_ body: @escaping @Sendable () -> Void) {
        let hasFailed = state.withLock { state in
            state.onFailure = body
            return state.failure != nil
        }
        if hasFailed { body() }
    }

    func receive(_ event: SubscriptionAttempt.Event) {
        switch event {
        case .open:
            state.withLock { $0.isOpen = true }
            if kind == .subscription { emit(NetworkOperation.Result(.connection(.open), hasNext: true)) }
        case .payload(let payload):
            let (result, onFailure) = take(payload)
            if let result { emit(result) }
            onFailure?()
        }
    }

    /// - Returns: what is to be given now, and what is to be done.
    private func take(_ payload: Data) -> (NetworkOperation.Result?, (@Sendable () -> Void)?) {
        state.withLock { state in
            if state.failure != nil { return (nil, nil) }
            var text = payload
            if state.merge != nil {
                do throws(NetworkError) {
                    _ = try state.merge?.take(text: payload)
                    if let merge = state.merge, !merge.isWhole { text = try merge.response.data() }
                } catch {
                    state.failure = error
                    return (nil, state.onFailure)
                }
            }
            var result = NetworkOperation.Result(.response(NetworkResponse(ofPayload: text, url)), hasNext: true)
            if kind == .subscription { return (result, nil) }
            result.hasNext = false
            defer { state.last = result }
            var earlier = state.last
            earlier?.hasNext = true
            return (earlier, nil)
        }
    }

    /// What the operation ends with.
    func last() throws(NetworkError) -> NetworkOperation.Result {
        let state = state.withLock { $0 }
        if let failure = state.failure { throw failure }
        if kind == .subscription { return NetworkOperation.Result(.connection(.ended)) }
        if let last = state.last {
            // What is missing must not pass for what the server has.
            if state.merge?.isUnfinished == true, let response = last.response { throw .endedEarly(response) }
            return last
        }
        throw NetworkError(.decoding, during: .response, "the server ended the operation without a result")
    }
}

extension NetworkResponse {
    private static let empty = NetworkResponse(
        response: HTTPResponse(status: .ok, headerFields: [.contentType: "application/graphql-response+json"])
    )

    /// A result that came by itself, as the answer that it would be over HTTP.
    fileprivate init(ofPayload payload: Data, _ url: String) {
        self = .empty
        data = payload
        self.url = url
    }
}

extension EndpointMemory {
    /// The ways that the server has not refused; all where it has refused all, as it may have learned meanwhile.
    fileprivate func known(
        of ways: [GraphQLSubscriptionTransport],
        at head: HTTPRequest
    ) -> [GraphQLSubscriptionTransport] {
        let known = ways.filter { !refuses($0.name, at: head) }
        return known.isEmpty ? ways : known
    }
}

extension GraphQLSubscriptionTransport {
    /// Whether an operation is sent as a message of its own, which may be a form.
    fileprivate var takesFiles: Bool {
        switch self {
        case .events(.distinct), .multipart: true
        case .webSocket, .events(.single): false
        }
    }
}

extension NetworkError {
    /// The error for a server that knows none of several ways: the last refusal, or one in which the server speaks, with the
    /// reason of each.
    fileprivate static func noKnownWay(_ refusals: [(way: String, error: NetworkError)]) -> NetworkError {
        var error = (refusals.last { !$0.error.graphQLErrors.isEmpty } ?? refusals[refusals.count - 1]).error
        guard refusals.count > 1 else { return error }
        let reasons = refusals.map { "\($0.way): \($0.error.message)" }
        error.message =
            "the server does not support any of the subscription transports tried (\(reasons.joined(separator: "; ")))"
        error.advice = "check the URL, and which transports the server supports"
        error.mayHaveReachedServer = refusals.contains(where: \.error.mayHaveReachedServer)
        return error
    }

    fileprivate static let noWayForFiles = NetworkError(
        .unsupported,
        during: .build,
        "no transport in GraphQLEndpoint.subscriptions can send an operation with files",
        advice: "add .events() or .multipart"
    )

    fileprivate static func noMessages(_ maxMessageBytes: Int) -> NetworkError {
        NetworkError(
            .badConfiguration,
            during: .build,
            "GraphQLEndpoint.maxMessageBytes is \(maxMessageBytes)",
            advice: "set a number above 0"
        )
    }

    fileprivate static let noWay = NetworkError(
        .badConfiguration,
        during: .build,
        "GraphQLEndpoint.subscriptions is empty",
        advice: "add a transport, such as .webSocket()"
    )
}
