import BeagleNetCurl
package import BeagleNetDependencies
public import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The way of an operation from the client to the transport: interceptors one after another.
public final class Pipeline: Sendable {
    /// Where an interceptor belongs. This is the one place where the order is written, outermost first.
    public enum Place: Int, Sendable, Comparable, CaseIterable {
        /// Sees what the app sees.
        case log
        /// Limits everything below it, attempts and waits included.
        case deadline
        /// Refuses images that are too large to be decoded.
        case image
        /// Decides whether a stored answer will do.
        case requestPolicy
        /// Answers from a store.
        case cache
        /// Keeps on disk what must not be lost.
        case outbox
        /// Holds back what is too much.
        case rateLimit
        /// Asks again; each attempt goes through everything below.
        case retry
        /// Leaves a server alone that fails time after time.
        case circuitBreaker
        /// Brings credentials, renewed ones after the server refused.
        case auth
        /// Sends GraphQL operations in another form, as a list of several.
        case persistedQuery
        /// Adds header fields.
        case headers
        /// Drops what the origin must not have.
        case originPolicy
        /// Measures one attempt.
        case metrics
        /// Traces one attempt.
        case span
        /// Writes down what goes over the wire.
        case recorder
        /// Makes failures of statuses.
        case status

        /// Whether `one` is further out than `other`.
        public static func < (one: Place, other: Place) -> Bool { one.rawValue < other.rawValue }
    }

    /// The rest of a pipeline, seen from one of its interceptors.
    public struct Next: Sendable {
        let pipeline: Pipeline
        let index: Int

        /// The number of the user whose credentials operations are given; 0 if they get none.
        var credentialOwner: Int { pipeline.credentialOwner }

        /// Reports a stored response to the observers below, which otherwise don't see it.
        ///
        /// - Returns: The response.
        func used(_ stored: NetworkOperation.Result, for operation: NetworkOperation) -> NetworkOperation.Result {
            for step in pipeline.steps[self.index...] where step.observer?.applies(to: operation) == true {
                step.observer?.didUse(stored: stored, for: operation)
            }
            return stored
        }

        /// Takes an operation through the rest of the pipeline.
        ///
        /// - Parameters:
        ///   - operation: what is asked.
        ///   - emit: takes results that are not the last.
        /// - Returns: the last result.
        /// - Throws: why there is none.
        nonisolated(nonsending) public func callAsFunction(
            _ operation: NetworkOperation,
            _ emit: @escaping Interceptor.Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            try await self(operation, emit, observedBy: nil)
        }

        /// The same with an observation, which receives the outcome first of all above.
        nonisolated(nonsending) func callAsFunction(
            _ operation: NetworkOperation,
            _ emit: @escaping Interceptor.Emit,
            observedBy observation: (any RequestObservation)?
        ) async throws(NetworkError) -> NetworkOperation.Result {
            var pass = PipelinePass(operation, emit, isInTask: true)
            if let observation { pass.add(observation, self) }
            let stop = pipeline.descend(&pass, from: index)
            return try await pipeline.outcome(of: pass, after: stop).get()
        }

        /// Takes an operation through an interceptor whose `begin` never waits, and the rest.
        nonisolated(nonsending) func through(
            _ interceptor: any Interceptor,
            _ operation: NetworkOperation,
            _ emit: @escaping Interceptor.Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            var pass = PipelinePass(operation, emit, isInTask: true)
            let stop = pass.begin(interceptor, self) ?? pipeline.descend(&pass, from: index)
            return try await pipeline.outcome(of: pass, after: stop).get()
        }

        /// Whether the transport keeps time for the message of an operation.
        func limitsTransfers(of operation: NetworkOperation) -> Bool { pipeline.sendsWithoutTask(operation) }

        /// Whether nothing below runs in a task, so that no code of the app's would see task-local values.
        package var isAtTransport: Bool {
            pipeline.sendsWithoutTask && pipeline.steps[index...].allSatisfy(\.interceptor.neverBlocks)
        }
    }

    /// An interceptor. A class, as one in an array is copied before it is called, and one behind a reference is not.
    final class Step: Sendable {
        let interceptor: any Interceptor
        /// The same, if it is one.
        let observer: (any RequestObserver)?
        /// Whether it measures attempts. An operation that can't be sent has none.
        let isForAttempts: Bool

        init(_ interceptor: any Interceptor) {
            self.interceptor = interceptor
            observer = interceptor as? any RequestObserver
            isForAttempts = interceptor.place.map { $0 >= .metrics } ?? false
        }
    }

    private let steps: [Step]
    private let transport: any HTTPTransport
    /// Whether the transport's completion may be used. Only our transport is known to call it exactly once, and never from
    /// inside `perform`.
    private let sendsWithoutTask: Bool
    /// The executor of the pipeline's tasks: on the thread of our transport if no interceptor blocks it.
    let executor: CurlTransport?
    /// Of those that add credentials the first.
    private let credentials: (any Interceptor)?
    /// Asked first, as is `hasStore`: to look whether something is there copies it, even where it is nothing.
    private let hasCredentials: Bool
    private let keepsCookies: Bool
    let cache: CacheInterceptor?
    /// What stands above it.
    let aboveCache: ArraySlice<any Interceptor>

    /// A pipeline.
    ///
    /// - Parameters:
    ///   - interceptors: outermost first. Those that have a place must stand in its order, and no place is taken twice.
    ///     If none has the place `.deadline`, a `DeadlineInterceptor` without a limit of its own is added.
    ///   - transport: what performs the transfers at its end.
    /// - Throws: `NetworkError` of kind `.badConfiguration` that names the interceptors that are out of order.
    public init(_ interceptors: [any Interceptor], transport: any HTTPTransport) throws(NetworkError) {
        try Self.check(interceptors)
        var interceptors = interceptors
        // An operation may bring a limit of its own, which must not be ignored.
        if !interceptors.contains(where: { $0.place == .deadline }) { interceptors.add(DeadlineInterceptor()) }
        steps = interceptors.map { Step($0) }
        self.transport = transport
        let curl = transport as? CurlTransport
        sendsWithoutTask = curl != nil
        executor = interceptors.allSatisfy(\.neverBlocks) ? curl : nil
        credentials = interceptors.first { $0.credentialOwner != nil }
        hasCredentials = credentials != nil
        // Of a transport that we do not know, nobody knows.
        keepsCookies = (transport as? any CookieTransport)?.keepsCookies ?? true
        let cacheIndex = interceptors.firstIndex { $0 is CacheInterceptor }
        hasStore = cacheIndex != nil
        failsOnStatus = interceptors.contains { $0 is StatusInterceptor }
        cache = cacheIndex.flatMap { interceptors[$0] as? CacheInterceptor }
        aboveCache = interceptors[..<(cacheIndex ?? 0)]
    }

    /// Whether answers may come from a store.
    let hasStore: Bool
    /// Whether responses with a status outside of 200...299 fail.
    let failsOnStatus: Bool

    /// The number of the user whose credentials operations are given; 0 if they get none, such as requests for a token.
    var credentialOwner: Int {
        guard hasCredentials, let credentials, !CredentialFetch.isOne else { return 0 }
        return credentials.credentialOwner ?? 0
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
        if operation.revision != nil { return try await runRevising(operation, emit) }
        return try await runOnce(operation, emit)
    }

    // Never inlined: the frame of each operation would have room for it.
    @inline(never) nonisolated(nonsending) private func runRevising(
        _ operation: NetworkOperation,
        _ emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        // Before anybody signs it: what is kept is sent as the message that it is.
        if let revision = operation.revision,
            steps.contains(where: { $0.interceptor is OutboxInterceptor && $0.interceptor.applies(to: operation) })
        {
            return try await runOnce(revision.settled(operation), emit)
        }
        return try await operation.revising { one throws(NetworkError) in
            guard one.elapsed != nil else { return try await runOnce(one, emit) }
            return try await runOnce(one) { result in
                // It was given before the first message.
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

    /// Takes an operation through the interceptors, up to the head of its answer, which only one can read.
    package func stream(_ operation: NetworkOperation) async throws(NetworkError) -> StreamingResponse {
        var operation = operation
        operation.isShared = false
        operation.transfer.delivery = .stream
        guard case .stream(let response) = try await run(operation, { _ in }).content else {
            throw NetworkError(.other, during: .response, "the pipeline did not return a stream")
        }
        return response
    }
}

// MARK: - One pass through the steps

extension Pipeline {
    typealias Outcome = NetworkOperation.Outcome

    /// The point at which a pass can't continue without waiting.
    enum Stop: Sendable {
        /// The message is to be sent.
        case transport
        /// The interceptor at this index has to wait.
        case interceptor(Int)
        case ended(Outcome)
    }

    /// Takes an operation down, as far as it gets without waiting.
    func descend(_ pass: inout PipelinePass, from start: Int) -> Stop {
        var index = start
        while index < steps.count {
            let step = steps[index]
            index += 1
            guard step.interceptor.applies(to: pass.operation) else { continue }
            if step.isForAttempts, !leads(pass.operation, from: index, pass.isInTask) { continue }
            if let stop = pass.begin(step.interceptor, Next(pipeline: self, index: index)) { return stop }
        }
        return .transport
    }

    /// Whether an operation can be sent: it wasn't cancelled, and the transport or an interceptor handles its kind.
    private func leads(_ operation: NetworkOperation, from index: Int, _ isInTask: Bool) -> Bool {
        if isInTask, Task.isCancelled { return false }
        return (NetworkOperation.Kind.transfers.contains(operation.kind) || operation.performer != nil)
            && !operation.isForStoreAlone
            || steps[index...].contains { $0.interceptor.place == nil && $0.interceptor.applies(to: operation) }
    }

    /// Ends the observations, innermost first, as far as that goes without waiting.
    ///
    /// - Parameter position: those before this one have not ended.
    /// - Returns: The position of the one that has to wait; nil if all have ended.
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
    nonisolated(nonsending) func outcome(of pass: PipelinePass, after stop: Stop) async -> Outcome {
        var outcome: Outcome
        switch stop {
        case .transport:
            do throws(NetworkError) {
                outcome = .success(try await send(pass))
            } catch {
                outcome = .failure(pass.operation.countdown?.received(error) ?? error)
            }
        case .interceptor(let index):
            if let countdown = pass.operation.countdown, countdown.limitsTransfers {
                outcome = await countdown.waiting { () throws(NetworkError) in
                    try await self.intercept(pass, at: index)
                }
            } else {
                outcome = await .catching { () throws(NetworkError) in try await intercept(pass, at: index) }
            }
        case .ended(let ended): outcome = ended
        }
        if let position = ascend(&outcome, pass, from: pass.observations.count) {
            return await self.outcome(of: pass, resumingAt: position, after: outcome)
        }
        return outcome
    }

    /// Takes a pass on from an observation that has to wait.
    nonisolated(nonsending) func outcome(
        of pass: PipelinePass,
        resumingAt position: Int,
        after first: Outcome
    ) async -> Outcome {
        var (position, outcome) = (position, first)
        while true {
            let (next, observation) = pass.observations[position]
            let emit = pass.emitter(above: position)
            if let countdown = pass.operation.countdown, countdown.limitsTransfers {
                outcome = await countdown.waiting { [outcome] () throws(NetworkError) in
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
        // Indices of stops are those after their interceptors.
        try await steps[index - 1].interceptor
            .intercept(pass.operation, next: Next(pipeline: self, index: index), emit: pass.emitter)
    }
}

// MARK: - The transport

extension Pipeline {
    /// Whether a message can be sent with a completion.
    func sendsWithoutTask(_ operation: NetworkOperation) -> Bool {
        sendsWithoutTask && operation.isOneMessage && operation.transfer.delivery == .collect
    }

    /// Sends the message of a pass.
    nonisolated(nonsending) private func send(
        _ pass: PipelinePass
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let operation = pass.operation
        if let refusal = refusal(of: operation) { throw refusal }
        if Task.isCancelled { throw .cancelledBeforeStart }
        if operation.performer != nil { return try await perform(pass) }
        let response = try await transport.perform(transfer(of: pass))
        return .of(consume response, isStream: operation.isStream)
    }

    /// The end of the pipeline for what is more than one message with one answer. Never inlined: the frame of each
    /// operation would have room for it.
    @inline(never) nonisolated(nonsending) private func perform(
        _ pass: PipelinePass
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard let performer = pass.operation.performer else { throw .unhandled(pass.operation.kind) }
        return try await performer.perform(pass.operation, over: transport, pass.emitter)
    }

    /// Sends the message of a pass.
    ///
    /// - Parameter completion: gets what came of it, once, on the transport's thread.
    /// - Returns: The handle that cancels it.
    /// - Throws: why it isn't sent.
    func send(
        _ pass: PipelinePass,
        _ completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) throws(NetworkError) -> any RequestToken {
        if let refusal = refusal(of: pass.operation) { throw refusal }
        return transport.perform(transfer(of: pass), completion: completion)
    }

    /// The reason not to send an operation; nil if it is sent.
    private func refusal(of operation: NetworkOperation) -> NetworkError? {
        if operation.isForStoreAlone { return .notStored(operation, hasStore: hasStore) }
        let isHandled = NetworkOperation.Kind.transfers.contains(operation.kind) || operation.performer != nil
        return isHandled ? nil : .unhandled(operation.kind)
    }

    /// The message as it is sent. Never inlined: the frame of each operation would have room for what it works on.
    @inline(never)
    private func transfer(of pass: PipelinePass) -> TransferRequest {
        let operation = pass.operation
        operation.sendRecord?.add(operation, keepsCookies: keepsCookies)
        var transfer = operation.transfer
        if let countdown = operation.countdown, countdown.limitsTransfers {
            transfer.options.timeouts.total =
                transfer.options.timeouts.total.map { min($0, countdown.left) } ?? countdown.left
        }
        if operation.reportsProgress {
            let emit = pass.emitter
            transfer.onProgress = { emit(NetworkOperation.Result(.progress($0))) }
        }
        return transfer
    }
}

extension NetworkOperation {
    /// An operation of a message that no request was built to, as tools have.
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
        let surroundings = Surroundings(
            logger: logger,
            redactor: redactor,
            clock: clock,
            origins: origins ?? [Origin(of: transfer.head)],
            isOffline: isOffline
        )
        let nowhere = Request(url: URL(fileURLWithPath: "/"), type: .rawRequest(.init()))
        var operation = NetworkOperation(nowhere, kind: kind, policy: policy)
        operation.partition = partition
        return operation.sending(transfer, surroundings, for: 0)
    }
}

extension NetworkOperation.Result {
    /// What a transport gave.
    @inline(never) static func of(_ response: consuming TransferResponse, isStream: Bool) -> Self {
        Self(isStream ? .stream(StreamingResponse(response)) : .response(NetworkResponse(response)))
    }
}

extension NetworkError {
    /// Nothing in the pipeline, and no client, answers operations of this kind.
    static func unhandled(_ kind: NetworkOperation.Kind) -> NetworkError {
        NetworkError(
            .unsupported,
            during: .build,
            "no interceptor or client handles operations of kind \(kind)",
            advice: "add an interceptor that handles them"
        )
    }
}
