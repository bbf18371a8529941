import BeagleNetCurl
package import BeagleNetDependencies
public import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The interceptors that an operation passes through, in order, from the client to the transport.
public final class Pipeline: Sendable {
    /// An interceptor's place in a pipeline.
    ///
    /// This type alone defines the order, outermost first.
    public enum Place: Int, Sendable, Comparable, CaseIterable {
        /// Logs requests and results as the app sees them.
        case log
        /// Limits the time of everything below, including attempts and waits.
        case deadline
        /// Rejects images that are too large to decode.
        case image
        /// Decides whether stored responses are used.
        case requestPolicy
        /// Returns stored responses.
        case cache
        /// Saves operations to disk that must not be lost.
        case outbox
        /// Limits the rate of requests.
        case rateLimit
        /// Retries; each attempt passes through everything below.
        case retry
        /// Stops sending to a server that fails repeatedly.
        case circuitBreaker
        /// Adds credentials, and renews them when the server rejects them.
        case auth
        /// Sends GraphQL operations in another form, such as a batch of several.
        case persistedQuery
        /// Adds header fields.
        case headers
        /// Removes fields that the origin must not receive.
        case originPolicy
        /// Measures one attempt.
        case metrics
        /// Traces one attempt.
        case span
        /// Records the messages that are sent and received.
        case recorder
        /// Turns error statuses into errors.
        case status

        /// Whether `one` is further out than `other`.
        public static func < (one: Place, other: Place) -> Bool { one.rawValue < other.rawValue }
    }

    /// The rest of a pipeline, below one of its interceptors.
    public struct Next: Sendable {
        let pipeline: Pipeline
        let index: Int

        /// The number of the user whose credentials operations get; 0 if they get none.
        var credentialOwner: Int { pipeline.credentialOwner }

        /// Reports a stored response to the observers below, which otherwise don't see it.
        ///
        /// - Returns: The response.
        func used(_ stored: NetworkOperation.Result, for operation: NetworkOperation) -> NetworkOperation.Result {
            for index in self.index..<pipeline.steps.count {
                guard let step = pipeline.steps[index].observer, step.observer.applies(to: operation) else { continue }
                step.observer.didUse(stored: stored, for: operation)
            }
            return stored
        }

        /// Takes an operation through the rest of the pipeline.
        ///
        /// - Parameters:
        ///   - operation: The operation to perform.
        ///   - emit: Receives results before the last.
        /// - Returns: The last result.
        /// - Throws: A `NetworkError` if there is no result.
        nonisolated(nonsending) public func callAsFunction(
            _ operation: NetworkOperation,
            _ emit: @escaping Interceptor.Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            try await self(operation, emit, observedBy: nil)
        }

        /// Does the same with an observation, which receives the outcome before all observations above.
        nonisolated(nonsending) func callAsFunction(
            _ operation: NetworkOperation,
            _ emit: @escaping Interceptor.Emit,
            observedBy observation: (any RequestObservation)?
        ) async throws(NetworkError) -> NetworkOperation.Result {
            var pass = PipelinePass(operation, emit, isInTask: true)
            if let observation { pass.add(observation, below: index) }
            let stop = pipeline.descend(&pass, from: index)
            return try await pipeline.outcome(of: pass, after: stop).get()
        }

        /// Takes an operation through an interceptor whose `begin` never waits, and then through the rest.
        nonisolated(nonsending) func through(
            _ interceptor: any Interceptor,
            _ operation: NetworkOperation,
            _ emit: @escaping Interceptor.Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            var pass = PipelinePass(operation, emit, isInTask: true)
            let stop = pass.begin(interceptor, self) ?? pipeline.descend(&pass, from: index)
            return try await pipeline.outcome(of: pass, after: stop).get()
        }

        /// Whether the transport enforces the deadline for an operation's message.
        func limitsTransfers(of operation: NetworkOperation) -> Bool { pipeline.sendsWithoutTask(operation) }

        /// Whether nothing below runs in a task.
        ///
        /// If so, no code of the app would see task-local values.
        package var isAtTransport: Bool {
            pipeline.curl != nil && pipeline.steps[index...].allSatisfy(\.interceptor.neverBlocks)
        }
    }

    /// An interceptor of the pipeline.
    ///
    /// It is a class because calling an interceptor in an array copies it first, and calling it through a reference
    /// doesn't.
    final class Step: Sendable {
        /// An interceptor that is an observer.
        final class Observer: Sendable {
            let observer: any RequestObserver

            init(_ observer: any RequestObserver) {
                self.observer = observer
            }
        }

        let interceptor: any Interceptor
        /// The interceptor as an observer, if it is one.
        let observer: Observer?
        /// Whether the interceptor measures attempts, so that it is skipped for operations that can't be sent.
        let isForAttempts: Bool

        init(_ interceptor: any Interceptor) {
            self.interceptor = interceptor
            observer = (interceptor as? any RequestObserver).map { Observer($0) }
            isForAttempts = interceptor.place.map { $0 >= .metrics } ?? false
        }
    }

    private let steps: [Step]
    let transport: any HTTPTransport
    /// The transport if it is ours: only this one is known to call a completion exactly once, and never from inside
    /// `perform`.
    private let curl: CurlTransport?
    /// The executor of the pipeline's tasks: the thread of our transport, if no interceptor blocks it.
    let executor: CurlTransport?
    /// The first interceptor that adds credentials.
    private let credentials: Step?
    private let storesCookies: Bool
    let cache: CacheInterceptor?
    /// The limits above the cache on the age of stored responses.
    let ageLimits: [RequestPolicyInterceptor]
    /// The limits above the cache on images.
    let imageLimits: [ImageInterceptor]
    /// The other interceptors above the cache, which must see stored responses.
    let otherStepsAboveCache: [Step]
    /// The rest of the pipeline below the cache.
    var belowCache: Next { Next(pipeline: self, index: indexBelowCache) }
    private let indexBelowCache: Int

    /// Creates a pipeline.
    ///
    /// - Parameters:
    ///   - interceptors: The interceptors, outermost first. Those that have a place must be in the order of places, and
    ///     each place may be used only once. If none has the place `.deadline`, a `DeadlineInterceptor` without a limit
    ///     of its own is added.
    ///   - transport: The transport at the end of the pipeline, which performs the transfers.
    /// - Throws: A `NetworkError` of kind `.badConfiguration` that names the interceptors that are out of order.
    public init(_ interceptors: [any Interceptor], transport: any HTTPTransport) throws(NetworkError) {
        try Self.check(interceptors)
        var interceptors = interceptors
        // An operation may have a deadline of its own, which must not be ignored.
        if !interceptors.contains(where: { $0.place == .deadline }) { interceptors.add(DeadlineInterceptor()) }
        steps = interceptors.map { Step($0) }
        self.transport = transport
        curl = transport as? CurlTransport
        executor = interceptors.allSatisfy(\.neverBlocks) ? curl : nil
        credentials = steps.first { $0.interceptor.credentialOwner != nil }
        // Other transports may keep cookies, so assume that they do.
        storesCookies = (transport as? any CookieTransport)?.storesCookies ?? true
        let cacheIndex = interceptors.firstIndex { $0 is CacheInterceptor }
        hasStore = cacheIndex != nil
        failsOnStatus = interceptors.contains { $0 is StatusInterceptor }
        cache = cacheIndex.flatMap { interceptors[$0] as? CacheInterceptor }
        let aboveCache = steps[..<(cacheIndex ?? 0)]
        ageLimits = aboveCache.compactMap { $0.interceptor as? RequestPolicyInterceptor }
        imageLimits = aboveCache.compactMap { $0.interceptor as? ImageInterceptor }
        otherStepsAboveCache = aboveCache.filter {
            !($0.interceptor is RequestPolicyInterceptor || $0.interceptor is ImageInterceptor)
        }
        indexBelowCache = aboveCache.endIndex + 1
    }

    /// Whether responses may come from a store.
    let hasStore: Bool
    /// Whether responses with a status outside of 200...299 fail.
    let failsOnStatus: Bool

    /// The number of the user whose credentials operations get; 0 if they get none, as in requests for a token.
    var credentialOwner: Int {
        guard let credentials, !CredentialFetch.isActive else { return 0 }
        return credentials.interceptor.credentialOwner ?? 0
    }

    private static func check(_ interceptors: [any Interceptor]) throws(NetworkError) {
        var last: (place: Place, interceptor: any Interceptor)?
        for interceptor in interceptors {
            guard let place = interceptor.place else { continue }
            defer { last = (place, interceptor) }
            guard let last, last.place >= place else { continue }
            let (one, other) = ("\(type(of: last.interceptor))", "\(type(of: interceptor))")
            let isTwice = last.place == place
            throw NetworkError(
                .badConfiguration,
                during: .build,
                isTwice
                    ? "the pipeline has \(one) and \(other), but only one `\(place)` is allowed"
                    : "the pipeline has \(one) (\(last.place)) before \(other) (\(place))",
                advice: isTwice ? "remove one of them" : "list interceptors in the order of Pipeline.Place"
            )
        }
    }

    /// Takes an operation from the first interceptor to its result.
    nonisolated(nonsending) package func run(
        _ operation: NetworkOperation,
        _ emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        if !operation.isOneMessage, operation.revision != nil { return try await runRevising(operation, emit) }
        return try await runOnce(operation, emit)
    }

    // Never inlined, because it would enlarge the frame of every operation.
    @inline(never) nonisolated(nonsending) private func runRevising(
        _ operation: NetworkOperation,
        _ emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        // Settle the message before an interceptor signs it: the outbox sends it as it is stored.
        if let revision = operation.revision,
            steps.contains(where: { $0.interceptor is OutboxInterceptor && $0.interceptor.applies(to: operation) })
        {
            return try await runOnce(revision.standaloneOperation(operation), emit)
        }
        return try await operation.revising { one throws(NetworkError) in
            guard one.elapsed != nil else { return try await runOnce(one, emit) }
            return try await runOnce(one) { result in
                // A stale stored response was already emitted before the first message.
                if !(result.isStale && result.source == .cache) { emit(result) }
            }
        }
    }

    @inline(__always) nonisolated(nonsending) private func runOnce(
        _ operation: NetworkOperation,
        _ emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var pass = PipelinePass(operation.run == nil ? operation.inNewRun() : operation, emit, isInTask: true)
        let stop = descend(&pass, from: 0)
        return try await outcome(of: pass, after: stop).get()
    }

    /// Takes an operation through the interceptors to the head of its response, whose body only one reader can read.
    package func stream(_ operation: NetworkOperation) async throws(NetworkError) -> StreamingResponse {
        var operation = operation
        operation.isShared = false
        operation.transfer.delivery = .stream
        // A stored response is complete.
        return try await run(operation, { _ in }).streamed()
    }
}

// MARK: - One pass through the steps

extension Pipeline {
    typealias Outcome = NetworkOperation.Outcome

    /// The point at which a pass can't continue without waiting.
    enum Stop: Sendable {
        /// The message must be sent.
        case transport
        /// The interceptor before this index must wait.
        case interceptor(Int)
        /// The observation at this position must wait after this outcome.
        case observation(Int, Outcome)
        /// A message may follow the first, so that the operation runs in a task from its beginning.
        case revision
        case ended(Outcome)
    }

    /// Takes an operation down the pipeline as far as possible without waiting.
    func descend(_ pass: inout PipelinePass, from start: Int) -> Stop {
        var index = start
        while index < steps.count {
            let step = steps[index]
            index += 1
            guard step.interceptor.applies(to: pass.operation) else { continue }
            if step.isForAttempts, !canSend(pass.operation, from: index, pass.isInTask) { continue }
            if let stop = pass.begin(step.interceptor, Next(pipeline: self, index: index)) { return stop }
        }
        return refusal(of: pass.operation).map { .ended(.failure($0)) } ?? .transport
    }

    /// Whether an operation can be sent: it wasn't cancelled, and the transport or an interceptor handles its kind.
    private func canSend(_ operation: NetworkOperation, from index: Int, _ isInTask: Bool) -> Bool {
        if isInTask, Task.isCancelled { return false }
        return operation.isHandled && !operation.readsOnlyStore
            || steps[index...].contains { $0.interceptor.place == nil && $0.interceptor.applies(to: operation) }
    }

    /// Ends the observations, innermost first, as far as possible without waiting.
    ///
    /// - Parameter position: The number of observations that haven't ended.
    /// - Returns: The position of the observation that must wait; `nil` if all have ended.
    func ascend(_ outcome: inout NetworkOperation.Outcome, _ pass: PipelinePass, from position: Int) -> Int? {
        var position = position
        while position > 0 {
            position -= 1
            let observation = pass.observations[position].observation
            if observation.mustWait(after: outcome) { return position }
            observation.didEnd(&outcome, of: pass.operation)
        }
        return nil
    }

    /// Continues a pass to its outcome.
    ///
    /// Inlined, because a call would add a frame to an operation's stack.
    @inline(__always) nonisolated(nonsending) func outcome(of pass: PipelinePass, after stop: Stop) async -> Outcome {
        var outcome: Outcome
        switch stop {
        case .transport:
            do throws(NetworkError) {
                outcome = .success(try await send(pass))
            } catch {
                outcome = .failure(pass.operation.deadlineTimer?.received(error) ?? error)
            }
        case .interceptor(let index):
            if let deadlineTimer = pass.operation.deadlineTimer, deadlineTimer.limitsTransfers {
                outcome = await deadlineTimer.runCancellable { () throws(NetworkError) in
                    try await self.intercept(pass, at: index)
                }
            } else {
                outcome = await .catching { () throws(NetworkError) in try await intercept(pass, at: index) }
            }
        case .observation(let position, let first):
            return await self.outcome(of: pass, resumingAt: position, after: first)
        case .revision:
            return await .catching { () throws(NetworkError) in try await run(pass.operation, pass.emitter) }
        case .ended(let ended): outcome = ended
        }
        if let position = ascend(&outcome, pass, from: pass.observations.count) {
            return await self.outcome(of: pass, resumingAt: position, after: outcome)
        }
        return outcome
    }

    /// Continues a pass at an observation that must wait.
    nonisolated(nonsending) private func outcome(
        of pass: PipelinePass,
        resumingAt position: Int,
        after first: Outcome
    ) async -> Outcome {
        var (position, outcome) = (position, first)
        while true {
            let (index, observation) = pass.observations[position]
            let next = Next(pipeline: self, index: index)
            let emit = pass.emitter(above: position)
            if let deadlineTimer = pass.operation.deadlineTimer, deadlineTimer.limitsTransfers {
                outcome = await deadlineTimer.runCancellable { [outcome] () throws(NetworkError) in
                    try await observation.resume(after: outcome, next: next, emit: emit)
                }
            } else {
                outcome = await .catching { [outcome] () throws(NetworkError) in
                    try await observation.resume(after: outcome, next: next, emit: emit)
                }
            }
            guard let waiting = ascend(&outcome, pass, from: position) else { return outcome }
            position = waiting
        }
    }

    nonisolated(nonsending) private func intercept(
        _ pass: PipelinePass,
        at index: Int
    ) async throws(NetworkError) -> NetworkOperation.Result {
        // The index in a stop is the one after its interceptor.
        try await steps[index - 1].interceptor
            .intercept(pass.operation, next: Next(pipeline: self, index: index), emit: pass.emitter)
    }
}

// MARK: - The transport

extension Pipeline {
    /// Whether a message can be sent with a completion.
    func sendsWithoutTask(_ operation: NetworkOperation) -> Bool {
        curl != nil && operation.isOneMessage && operation.transfer.delivery == .collect
    }

    /// Sends the message of a pass.
    @inline(__always) nonisolated(nonsending) private func send(
        _ pass: PipelinePass
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let operation = pass.operation
        if Task.isCancelled { throw .cancelledBeforeStart }
        if !operation.isOneMessage, operation.performer != nil { return try await perform(pass) }
        let message = transfer(of: pass)
        do throws(NetworkError) {
            let response =
                // Ours is called directly, because a call through the protocol adds a frame.
                if let curl { try await curl.perform(message) } else { try await transport.perform(message) }
            return .of(response, isStream: operation.isStream)
        } catch {
            throw error.attaching(operation.transfer)
        }
    }

    /// Performs operations that are more than one request and response, at the end of the pipeline.
    ///
    /// Never inlined, because it would enlarge the frame of every operation.
    @inline(never) nonisolated(nonsending) private func perform(
        _ pass: PipelinePass
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard let performer = pass.operation.performer else { throw .unhandled(pass.operation.kind) }
        return try await performer.perform(pass.operation, over: transport, pass.emitter)
    }

    /// Returns the reason not to send an operation, or `nil` if it may be sent.
    private func refusal(of operation: NetworkOperation) -> NetworkError? {
        if operation.readsOnlyStore { return .notStored(operation, hasStore: hasStore) }
        return operation.isHandled ? nil : .unhandled(operation.kind)
    }

    /// Returns the message as it is sent.
    ///
    /// Never inlined, because its variables would enlarge the frame of every operation.
    @inline(never)
    func transfer(of pass: PipelinePass) -> TransferRequest {
        pass.operation.sendRecord?.add(pass.operation, storesCookies: storesCookies)
        var transfer = pass.operation.transfer
        if let deadlineTimer = pass.operation.deadlineTimer, deadlineTimer.limitsTransfers {
            transfer.options.timeouts.total =
                transfer.options.timeouts.total.map { min($0, deadlineTimer.left) } ?? deadlineTimer.left
        }
        if pass.operation.reportsProgress {
            let emit = pass.emitter
            transfer.onProgress = { emit(NetworkOperation.Result(.progress($0))) }
        }
        return transfer
    }
}

extension NetworkOperation {
    /// Creates an operation for a message that wasn't built from a request, as tools need.
    package static func of(
        _ transfer: TransferRequest,
        kind: Kind,
        partition: String = "",
        policy: RequestPolicy? = nil,
        logger: any BeagleLogger,
        redactor: Redactor = Redactor(),
        clock: any Clock<Duration> = ContinuousClock(),
        origins: Set<Origin>? = nil,
        isOffline: Bool = false
    ) -> NetworkOperation {
        let operationEnvironment = OperationEnvironment(
            logger: logger,
            redactor: redactor,
            clock: clock,
            origins: origins ?? [Origin(of: transfer.head)],
            isOffline: isOffline
        )
        let nowhere = Request(url: URL(fileURLWithPath: "/"), type: .rawRequest(.init()))
        var operation = NetworkOperation(nowhere, kind: kind, policy: policy)
        operation.partition = partition
        return operation.sending(transfer, operationEnvironment, for: 0)
    }
}

extension NetworkOperation.Result {
    /// Creates a result from a transport's response.
    @inline(never) static func of(_ response: consuming TransferResponse, isStream: Bool) -> Self {
        Self(isStream ? .stream(StreamingResponse(response)) : .response(NetworkResponse(response)))
    }
}

extension NetworkError {
    /// Adds what `isRetryable` needs of the message, which a transport of the app's own may have left out.
    fileprivate func attaching(_ message: TransferRequest) -> NetworkError {
        var error = self
        error.request = error.request ?? message.head
        error.resendPolicy = message.resendPolicy
        return error
    }

    /// The error if no interceptor and no client handles operations of this kind.
    static func unhandled(_ kind: NetworkOperation.Kind) -> NetworkError {
        NetworkError(
            .unsupported,
            during: .build,
            "no interceptor or client handles operations of kind \(kind)",
            advice: "add an interceptor that handles them"
        )
    }
}
