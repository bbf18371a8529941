import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Performs an operation with several results, over the first transport that the server supports.
struct SubscriptionPerformer: OperationPerformer {
    private let plan: SubscriptionPlan
    private var progress = SubscriptionProgress()

    /// Creates a performer.
    ///
    /// - Parameter isHolding: Whether the operation only holds a WebSocket open.
    /// - Throws: `NetworkError` if the operation can't be sent.
    init(_ request: GraphQLRequest, at endpoint: GraphQLEndpoint, isHolding: Bool = false) throws(NetworkError) {
        plan = try SubscriptionPlan(request, at: endpoint, isHolding: isHolding)
    }

    /// Whether the header fields of an operation reach the server. Over a shared WebSocket they don't.
    var sendsFields: Bool { !plan.endpoint.subscriptions.contains(where: \.isWebSocket) }

    /// Marks the performer as used by an iteration.
    ///
    /// - Returns: Whether this is the first iteration, which has no state to resume from.
    func start() -> Bool { progress.start() }

    /// Returns a performer without state, which doesn't resume after the events of another run.
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
        let selection = try selectTransports(for: operation, over: transport, emit)
        while try await !perform(with: selection) {}
        return try selection.results.last()
    }

    /// The transports still to be tried. A waiting subscription retains little more than this object, so that many
    /// subscriptions need little memory.
    private final class TransportSelection: Sendable {
        let attempt: SubscriptionAttempt
        let results: SubscriptionResults
        private let remaining: Lock<Remaining>

        private struct Remaining {
            var transports: [GraphQLEndpoint.SubscriptionTransport]
            /// The error with which a WebSocket was forbidden.
            var forbidden: NetworkError?
            /// The transports that the server doesn't support, with their errors.
            var refusals: [(transport: String, error: NetworkError)] = []
        }

        init(
            _ transports: [GraphQLEndpoint.SubscriptionTransport],
            _ attempt: SubscriptionAttempt,
            _ results: SubscriptionResults
        ) {
            self.attempt = attempt
            self.results = results
            remaining = Lock(Remaining(transports: transports))
        }

        /// The transport to try now.
        var current: GraphQLEndpoint.SubscriptionTransport { remaining.withLock { $0.transports[0] } }

        /// Returns the performer for the current transport. It is never inlined, because the caller's async frame would
        /// then reserve space for a transport.
        @inline(never)
        func performer() -> any AttemptPerformer {
            switch current {
            case .webSocket(let options): WebSocketPerformer(options: options)
            case .events(.distinct): StreamPerformer(framing: .events)
            case .events(.single): SharedEventStreamPerformer()
            case .multipart: StreamPerformer(framing: .parts)
            }
        }

        /// Handles a failure of the current transport. Returns the error to throw, or `nil` to try the next transport.
        func handle(_ error: NetworkError) -> NetworkError? {
            var error = error
            if error.url == nil { error.url = attempt.operation.transfer.head.urlText }
            attempt.progress.note(error)
            if results.isOpen { return error }
            let transport = current
            let rest = remaining.withLock { remaining in
                remaining.transports.removeFirst()
                return remaining.transports
            }
            switch error.kind {
            case .unsupported:
                // A failure on the client's side says nothing about the server.
                if error.phase != .build {
                    let operation = attempt.operation
                    let head = operation.transfer.head
                    attempt.endpoint.state.recordRefusal(of: transport.name, at: head, operation.stopwatch())
                }
                // A mutation that may have been executed isn't sent again.
                if attempt.request.kind == .mutation, error.mayHaveReachedServer { return error }
                return remaining.withLock { remaining in
                    remaining.refusals.append((transport.name, error))
                    return rest.isEmpty ? remaining.forbidden ?? .noSupportedTransport(remaining.refusals) : nil
                }
            // Python's servers respond with 403 at a path without a WebSocket. If it is a refusal instead, other
            // transports will be refused too.
            case .status where transport.isWebSocket && error.response?.status == .forbidden && !rest.isEmpty:
                remaining.withLock { $0.forbidden = error }
                return nil
            default: return error
            }
        }
    }

    @inline(never)
    private func selectTransports(
        for operation: NetworkOperation,
        over transport: any HTTPTransport,
        _ emit: @escaping Interceptor.Emit
    ) throws(NetworkError) -> TransportSelection {
        let (request, endpoint) = (plan.request, plan.endpoint)
        let merge = plan.usesIncrementalDelivery ? IncrementalMerge(maxPayloadBytes: endpoint.maxMessageBytes) : nil
        let results = SubscriptionResults(request.kind, operation.request.url.absoluteString, merge, emit)
        let attempt = SubscriptionAttempt(
            plan: plan,
            operation: operation,
            transport: transport,
            progress: progress,
            receive: { results.receive($0) }
        )
        let offered = plan.isHolding ? endpoint.subscriptions.filter(\.isWebSocket) : endpoint.subscriptions
        var transports = endpoint.state.supported(of: offered, at: operation.transfer.head)
        guard !transports.isEmpty else { throw .noTransport }
        guard endpoint.maxMessageBytes > 0 else { throw .noMessages(endpoint.maxMessageBytes) }
        if !request.files.isEmpty { transports.removeAll { !$0.takesFiles } }
        guard !transports.isEmpty else { throw .noTransportForFiles }
        return TransportSelection(transports, attempt, results)
    }

    /// Performs one attempt over one transport.
    ///
    /// - Returns: Whether the operation is complete; `false` to try the next transport.
    private func perform(with selection: TransportSelection) async throws(NetworkError) -> Bool {
        let error: NetworkError?
        do throws(NetworkError) {
            if plan.usesIncrementalDelivery {
                try await performIncrementally(with: selection)
            } else {
                try await selection.performer().perform(selection.attempt)
            }
            return true
        } catch let failure {
            error = selection.handle(failure)
        }
        if let error { throw error }
        return false
    }

    /// Performs an attempt with incremental results. It ends at the first part that can't be merged, even if the stream
    /// continues.
    private func performIncrementally(with selection: TransportSelection) async throws(NetworkError) {
        let work = Task {
            await Result<Void, NetworkError>.catching { () throws(NetworkError) in
                try await selection.performer().perform(selection.attempt)
            }
        }
        selection.results.onFailure { work.cancel() }
        let outcome = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        if let failure = selection.results.failure { throw failure }
        try outcome.get()
    }
}

/// Converts the payloads of an attempt to results.
private final class SubscriptionResults: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var merge: IncrementalMerge?
        /// The last result, for an operation that has only one.
        var last: NetworkOperation.Result?
        var failure: NetworkError?
        var onFailure: (@Sendable () -> Void)?
    }

    private let state: Lock<State>
    private let kind: OperationKind
    private let url: String
    private let emit: Interceptor.Emit

    /// Creates the results of an attempt.
    ///
    /// - Parameters:
    ///   - url: The requested URL, which shares its text with the operation.
    ///   - merge: The merge of incremental results; `nil` if there can be none.
    init(_ kind: OperationKind, _ url: String, _ merge: IncrementalMerge?, _ emit: @escaping Interceptor.Emit) {
        self.kind = kind
        self.url = url
        self.emit = emit
        state = Lock(State(merge: merge))
    }

    /// Whether the operation was sent over a working connection.
    var isOpen: Bool { state.withLock { $0.isOpen } }
    /// The error of a part that couldn't be merged.
    var failure: NetworkError? { state.withLock { $0.failure } }

    /// Sets a closure that is called when a part can't be merged, or immediately if that has already happened.
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
            let (result, onFailure) = merge(payload)
            if let result { emit(result) }
            onFailure?()
        }
    }

    /// - Returns: The result to deliver, and a closure to call.
    private func merge(_ payload: Data) -> (NetworkOperation.Result?, (@Sendable () -> Void)?) {
        state.withLock { state in
            if state.failure != nil { return (nil, nil) }
            var text = payload
            if state.merge != nil {
                do throws(NetworkError) {
                    _ = try state.merge?.apply(text: payload)
                    if let merge = state.merge, !merge.isSinglePayload { text = try merge.response.data() }
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

    /// Returns the final result of the operation.
    func last() throws(NetworkError) -> NetworkOperation.Result {
        let state = state.withLock { $0 }
        if let failure = state.failure { throw failure }
        if kind == .subscription { return NetworkOperation.Result(.connection(.ended)) }
        if let last = state.last {
            // An incomplete result must not appear to be complete.
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

    /// Creates a response from a single payload, as if it had arrived over HTTP.
    fileprivate init(ofPayload payload: Data, _ url: String) {
        self = .empty
        data = payload
        self.url = url
    }
}

extension EndpointState {
    /// Returns the transports that the server has not refused. If it has refused all, returns all of them, because the
    /// server may have changed.
    fileprivate func supported(
        of transports: [GraphQLEndpoint.SubscriptionTransport],
        at head: HTTPRequest
    ) -> [GraphQLEndpoint.SubscriptionTransport] {
        let known = transports.filter { !refuses($0.name, at: head) }
        return known.isEmpty ? transports : known
    }
}

extension GraphQLEndpoint.SubscriptionTransport {
    /// Whether an operation has an HTTP request of its own, which can be a form.
    fileprivate var takesFiles: Bool {
        switch self {
        case .events(.distinct), .multipart: true
        case .webSocket, .events(.single): false
        }
    }
}

extension NetworkError {
    /// Returns the error for a server that supports none of several transports: the last refusal, or the last with the
    /// server's own errors, together with the reasons of all.
    fileprivate static func noSupportedTransport(_ refusals: [(transport: String, error: NetworkError)]) -> NetworkError
    {
        var error = (refusals.last { !$0.error.graphQLErrors.isEmpty } ?? refusals[refusals.count - 1]).error
        guard refusals.count > 1 else { return error }
        let reasons = refusals.map { "\($0.transport): \($0.error.message)" }
        error.message =
            "the server does not support any of the subscription transports tried (\(reasons.joined(separator: "; ")))"
        error.advice = "check the URL, and which transports the server supports"
        error.mayHaveReachedServer = refusals.contains(where: \.error.mayHaveReachedServer)
        return error
    }

    fileprivate static let noTransportForFiles = NetworkError(
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

    fileprivate static let noTransport = NetworkError(
        .badConfiguration,
        during: .build,
        "GraphQLEndpoint.subscriptions is empty",
        advice: "add a transport, such as .webSocket()"
    )
}
