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
        fileprivate let pipeline: Pipeline
        fileprivate let index: Int

        /// Whose credentials operations are given; 0 where they get none.
        var person: Int { pipeline.person }

        /// Tells who wants to know that a store gave this answer, and hands it on.
        func told(_ stored: NetworkOperation.Result, for operation: NetworkOperation) -> NetworkOperation.Result {
            pipeline.storeObserver?.observe(stored, for: operation)
            return stored
        }

        /// Takes an operation on.
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
            let steps = pipeline.steps
            var index = index
            while index < steps.count, !steps[index].interceptor.applies(to: operation) { index += 1 }
            guard index < steps.count else {
                // Asked here, as the frame of a transfer has no room to spare for those of another sort.
                if operation.performer != nil { return try await pipeline.perform(operation, emit) }
                return try await pipeline.transfer(operation, emit)
            }
            return try await steps[index].interceptor
                .intercept(operation, next: Next(pipeline: pipeline, index: index + 1), emit: emit)
        }

        /// Whether an operation has somewhere to go: it was not cancelled, and the transport or an interceptor answers
        /// its kind. To be asked from `.metrics` on: whatever has a place below only looks on.
        package func leads(_ operation: NetworkOperation) -> Bool {
            if Task.isCancelled { return false }
            return (NetworkOperation.Kind.transfers.contains(operation.kind) || operation.performer != nil)
                && !operation.isForStoreAlone
                || pipeline.interceptors[index...].contains { $0.place == nil && $0.applies(to: operation) }
        }
    }

    /// An interceptor. A class, as one in an array is copied before it is called, and one behind a reference is not.
    private final class Step: Sendable {
        let interceptor: any Interceptor
        /// The interceptor, where it is this one.
        let retry: RetryInterceptor?
        /// The interceptor, where it is this one.
        let images: ImageInterceptor?
        /// The interceptor, where it only looks on.
        let onlooking: (any OnlookingInterceptor)?

        init(_ interceptor: any Interceptor) {
            self.interceptor = interceptor
            retry = interceptor as? RetryInterceptor
            images = interceptor as? ImageInterceptor
            onlooking = interceptor as? any OnlookingInterceptor
        }
    }

    private let interceptors: [any Interceptor]
    /// Those that are called: all of them, or all but a status check at the end.
    private let steps: [Step]
    /// The innermost, where it only looks at the results: it is asked for that, which costs a fraction of a call.
    private let status: StatusInterceptor?
    private let transport: any HTTPTransport
    /// Where tasks of the pipeline's own run: on the thread of our transport where all that they do is brief. Of another
    /// transport nobody knows how it keeps what `HTTPTransport` promises.
    let executor: CurlTransport?
    private let credentials: (any PersonalInterceptor)?
    /// Asked first, as is `hasStore`: to look whether something is there copies it, even where it is nothing.
    private let hasCredentials: Bool
    private let keepsCookies: Bool
    private let cache: CacheInterceptor?
    fileprivate let storeObserver: (any StoreObservingInterceptor)?
    /// What stands above it.
    private let aboveCache: ArraySlice<any Interceptor>
    /// Whether the messages of each run are counted.
    private let countsMessages: Bool

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
        self.interceptors = interceptors
        status = interceptors.last as? StatusInterceptor
        steps = interceptors.dropLast(status == nil ? 0 : 1).map { Step($0) }
        self.transport = transport
        let isBrief = interceptors.allSatisfy { ($0 as? any BriefInterceptor)?.isBrief ?? false }
        executor = isBrief ? transport as? CurlTransport : nil
        credentials = interceptors.lazy.compactMap { $0 as? any PersonalInterceptor }.first
        hasCredentials = credentials != nil
        // Of a transport that we do not know, nobody knows.
        keepsCookies = (transport as? any CookieTransport)?.keepsCookies ?? true
        let cacheIndex = interceptors.firstIndex { $0 is CacheInterceptor }
        hasStore = cacheIndex != nil
        cache = cacheIndex.flatMap { interceptors[$0] as? CacheInterceptor }
        storeObserver =
            cache == nil ? nil : interceptors.lazy.compactMap { $0 as? any StoreObservingInterceptor }.first
        aboveCache = interceptors[..<(cacheIndex ?? 0)]
        countsMessages = interceptors.contains { $0 is any CountingInterceptor }
    }

    /// Whether answers may come from a store.
    let hasStore: Bool

    /// A stored answer that is all that the operation wants, where it is in memory and nothing above the cache has to do
    /// with the operation but to limit its age, or that of an image its pixels: what a run would come to.
    func answer(atHandFor operation: NetworkOperation) -> NetworkOperation.Result? {
        guard hasStore, operation.policy.prefersStore, let cache else { return nil }
        var operation = operation
        var images: ImageInterceptor?
        for interceptor in aboveCache where interceptor.applies(to: operation) {
            if let limit = interceptor as? RequestPolicyInterceptor {
                operation = limit.limited(operation)
            } else if let limit = interceptor as? ImageInterceptor {
                images = limit
            } else {
                return nil
            }
        }
        guard let answer = cache.answer(atHandFor: operation), images?.refusal(of: answer, to: operation) == nil
        else { return nil }
        storeObserver?.observe(answer, for: operation)
        return answer
    }

    /// Whether a store may answer the operation, and that is what it wants first.
    func prefersStore(_ operation: NetworkOperation) -> Bool {
        guard hasStore, operation.policy.prefersStore, let cache else { return false }
        return cache.applies(to: operation)
    }

    /// Whether what is stored is all that the operation wants, and no image that is refused.
    nonisolated(nonsending) func hasAnswer(for operation: NetworkOperation) async -> Bool {
        guard let cache else { return false }
        var operation = operation
        for case let limit as RequestPolicyInterceptor in aboveCache where limit.applies(to: operation) {
            operation = limit.limited(operation)
        }
        guard let answer = await cache.answer(storedFor: operation) else { return false }
        for case let limit as ImageInterceptor in aboveCache where limit.applies(to: operation) {
            if limit.refusal(of: answer, to: operation) != nil { return false }
        }
        return true
    }

    /// Whose credentials operations are given; 0 where they get none, as what is asked to fetch credentials.
    var person: Int {
        guard hasCredentials, let credentials, !CredentialFetch.isOne else { return 0 }
        return credentials.person
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
            interceptors.contains(where: { $0 is OutboxInterceptor && $0.applies(to: operation) })
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
        let first = Next(pipeline: self, index: 0)
        if countsMessages { return try await first(operation.counted(by: MessageCount()), emit) }
        return try await first(operation, emit)
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

    /// The end of the pipeline for what is more than one message with one answer.
    private func perform(
        _ operation: NetworkOperation,
        _ emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        if let refusal = refusal(of: operation) { throw refusal }
        guard let performer = operation.performer else { throw .unhandled(operation.kind) }
        return try checked(try await performer.perform(operation, over: transport, emit), operation)
    }

    private func checked(
        _ result: consuming NetworkOperation.Result,
        _ operation: NetworkOperation
    ) throws(NetworkError) -> NetworkOperation.Result {
        try status?.check(result, of: operation)
        return result
    }

    /// Why an operation is not performed; nil where it is.
    @inline(never)
    private func refusal(of operation: NetworkOperation) -> NetworkError? {
        if operation.isForStoreAlone { return .notStored(operation, hasStore: hasStore) }
        return Task.isCancelled ? .cancelledBeforeStart : nil
    }

    /// The end of the pipeline.
    nonisolated(nonsending) private func transfer(
        _ operation: NetworkOperation,
        _ emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard NetworkOperation.Kind.transfers.contains(operation.kind) else { throw .unhandled(operation.kind) }
        if operation.isForStoreAlone { throw .notStored(operation, hasStore: hasStore) }
        operation.departure?.note(operation, keepsCookies: keepsCookies)
        if Task.isCancelled { throw .cancelledBeforeStart }
        let operation = operation.reportsProgress ? operation.telling(emit) : operation
        let response = try await transport.perform(operation.transfer)
        return try checked(.of(consume response, isStream: operation.isStream), operation)
    }
}

// MARK: - Without a task

extension Pipeline {
    /// The way of an operation on which nobody stands but who looks at its one message and at the outcome of that: a task is
    /// needed only where another message follows.
    struct DirectWay: Sendable {
        fileprivate let pipeline: Pipeline
        /// Which of the steps asks again; nil where none does.
        fileprivate let retryStep: Int?
        /// Which of those below it looks on; nil where none does.
        fileprivate let onlookingStep: Int?
        /// Looks at the outcome; nil where none does.
        fileprivate let images: ImageInterceptor?
        /// Counts the messages of the run; nil where nobody asks.
        fileprivate let messages: MessageCount?

        private var retry: RetryInterceptor? { retryStep.flatMap { pipeline.steps[$0].retry } }

        /// Sends the message.
        ///
        /// - Parameters:
        ///   - emit: hears how far it is.
        ///   - completion: gets its outcome, once, on the transport's thread; where that is the operation's, not yet `admitted`.
        /// - Returns: the handle that ends it.
        func send(
            _ operation: NetworkOperation,
            _ emit: @escaping Interceptor.Emit,
            _ completion: @escaping @Sendable (Result<NetworkOperation.Result, NetworkError>) -> Void
        ) -> any RequestToken {
            let (transfer, onlooker) = message(of: operation, emit)
            return pipeline.transport.perform(transfer) { [pipeline] answer in
                let outcome: Result<NetworkOperation.Result, NetworkError>
                do throws(NetworkError) {
                    outcome = .success(try pipeline.checked(.of(answer.get(), isStream: false), operation))
                } catch {
                    outcome = .failure(error)
                }
                onlooker?.hear(outcome)
                completion(outcome)
            }
        }

        /// The message as it goes out, and who looks on at it. Never inlined: the frame of each operation would have room for
        /// what it works on.
        @inline(never)
        private func message(
            of operation: NetworkOperation,
            _ emit: @escaping Interceptor.Emit
        ) -> (TransferRequest, (any Onlooker)?) {
            operation.departure?.note(operation, keepsCookies: pipeline.keepsCookies)
            var transfer = operation.transfer
            if operation.reportsProgress { transfer.onProgress = { emit(NetworkOperation.Result(.progress($0))) } }
            guard let onlookingStep else { return (transfer, nil) }
            let onlooking = pipeline.steps[onlookingStep].onlooking
            let onlooker = onlooking?.onlooker(of: operation, sending: &transfer, messages)
            return (transfer, onlooker)
        }

        /// Runs the operation for who has no task: its message goes out at once, and those that follow go out from a task.
        ///
        /// - Parameter completion: gets the outcome, once, on the transport's thread.
        /// - Returns: the handle that ends what is under way of it.
        func start(
            _ operation: NetworkOperation,
            _ completion: @escaping @Sendable (Result<NetworkOperation.Result, NetworkError>) -> Void
        ) -> any RequestToken {
            if retryStep == nil { return send(operation, { _ in }) { completion(admitted($0, operation)) } }
            let slot = TokenSlot()
            slot.fill(
                first: send(operation, { _ in }) { outcome in
                    if ends(with: outcome, operation) { return completion(admitted(outcome, operation)) }
                    slot.fill(goOnInTask(after: outcome, operation, { _ in }, completion))
                }
            )
            return slot
        }

        /// Runs the operation in the caller's task.
        nonisolated(nonsending) func run(
            _ operation: NetworkOperation,
            _ emit: @escaping Interceptor.Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            if Task.isCancelled { throw .cancelledBeforeStart }
            let (transfer, onlooker) = message(of: operation, emit)
            let outcome: Result<NetworkOperation.Result, NetworkError>
            do throws(NetworkError) {
                let answer = try await pipeline.transport.perform(transfer)
                outcome = .success(try pipeline.checked(.of(consume answer, isStream: false), operation))
            } catch {
                outcome = .failure(error)
            }
            onlooker?.hear(outcome)
            if ends(with: outcome, operation) { return try admitted(outcome, operation).get() }
            return try await goOn(after: outcome, operation, emit)
        }

        /// Whether this is the outcome of the operation, and not of one of its messages.
        func ends(with outcome: Result<NetworkOperation.Result, NetworkError>, _ operation: NetworkOperation) -> Bool {
            retry?.accepts(outcome, of: operation) ?? true
        }

        /// Sends the messages that follow where that is not the outcome.
        ///
        /// - Parameter completion: gets the outcome, once.
        func goOnInTask(
            after outcome: Result<NetworkOperation.Result, NetworkError>,
            _ operation: NetworkOperation,
            _ emit: @escaping Interceptor.Emit,
            _ completion: @escaping @Sendable (Result<NetworkOperation.Result, NetworkError>) -> Void
        ) -> any RequestToken {
            TaskToken(
                Task(executorPreference: pipeline.executor) {
                    do throws(NetworkError) {
                        completion(.success(try await goOn(after: outcome, operation, emit)))
                    } catch {
                        completion(.failure(error))
                    }
                }
            )
        }

        nonisolated(nonsending) private func goOn(
            after outcome: Result<NetworkOperation.Result, NetworkError>,
            _ operation: NetworkOperation,
            _ emit: @escaping Interceptor.Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            guard let retry, let retryStep else { return try outcome.get() }
            let next = Next(pipeline: pipeline, index: retryStep + 1)
            let operation = messages.map { operation.counted(by: $0) } ?? operation
            let result = try await retry.repeated(operation, next, emit, after: outcome, nil)
            return try admitted(.success(result), operation).get()
        }

        /// The outcome, unless it is an image that is refused.
        @inline(__always)
        func admitted(
            _ outcome: Result<NetworkOperation.Result, NetworkError>,
            _ operation: NetworkOperation
        ) -> Result<NetworkOperation.Result, NetworkError> {
            guard let images, case .success(let result) = outcome,
                let refusal = images.refusal(of: result, to: operation)
            else { return outcome }
            return .failure(refusal)
        }
    }

    /// The direct way of an operation; nil where it has none, or where somebody logs, who may want to know in whose task. What
    /// is asked again goes on in a task of nobody's: none of those that apply then, all of them brief, looks at whose it is.
    func directWay(of operation: NetworkOperation) -> DirectWay? {
        guard executor != nil, operation.isOneMessage, NetworkOperation.Kind.transfers.contains(operation.kind),
            !operation.isForStoreAlone, operation.transfer.delivery == .collect, !operation.logger.accepts(.debug)
        else { return nil }
        var (retryStep, onlookingStep): (Int?, Int?)
        var images: ImageInterceptor?
        for index in steps.indices where steps[index].interceptor.applies(to: operation) {
            // One that looks on stands below what asks again, and looks on once.
            guard onlookingStep == nil else { return nil }
            if steps[index].onlooking != nil {
                onlookingStep = index
            } else if retryStep == nil, let limit = steps[index].images {
                images = limit
            } else if retryStep == nil, let retry = steps[index].retry, retry.maxTime == nil {
                retryStep = index
            } else {
                return nil
            }
        }
        let messages = countsMessages ? MessageCount() : nil
        return DirectWay(
            pipeline: self,
            retryStep: retryStep,
            onlookingStep: onlookingStep,
            images: images,
            messages: messages
        )
    }
}

extension NetworkOperation {
    /// An operation of a message that no request was built to, as tools have.
    package static func of(
        _ transfer: TransferRequest,
        kind: Kind,
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
        return NetworkOperation(nowhere, kind: kind).sending(transfer, surroundings, for: 0)
    }
}

// Never inlined: the frame of each operation would have room for what they work on.

extension NetworkOperation {
    /// The operation, whose transfer tells how far it is.
    @inline(never) fileprivate func telling(_ emit: @escaping Interceptor.Emit) -> NetworkOperation {
        var operation = self
        operation.transfer.onProgress = { emit(Result(.progress($0))) }
        return operation
    }
}

extension NetworkOperation.Result {
    /// What a transport gave.
    @inline(never) fileprivate static func of(_ response: consuming TransferResponse, isStream: Bool) -> Self {
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
