public import BeagleNetCurl
public import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// The client of an app: builds the message, hands it to the transport, and logs both ends without secrets.
///
/// The completion of a request is called exactly once, also where the message cannot be built, where the request is
/// cancelled and where the client is released meanwhile; never from inside `executeRequest`, and in the dependency
/// scope in which the request was made. It runs on the transport's thread: return quickly, or use `deliverOn:`.
public final class NetworkClientDefault: NetworkClient {
    /// What it needs of a container.
    public typealias Dependencies = DependencyLogger

    /// Why a request has no result, as `NetworkError.error`.
    public enum ClientError: Swift.Error, Sendable, Hashable {
        /// The status is outside 200...299.
        case invalidHttpResponse
        /// The message could not be built; nothing was sent.
        case invalidHttpRequest
    }

    /// Timeouts, limits and policies of requests that bring none of their own.
    public let options: TransferOptions
    private let dependencies: FollowedDependencies
    private let ownBuilder = Lock<CopyOnWrite<HttpRequestBuilder>?>(nil)
    private let hub = Hub()
    /// Those who wait for events, until they end.
    private let listening = Lock(Listening())

    private struct Listening: Sendable {
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastID = 0
    }

    /// A client with a transport of its own.
    ///
    /// - Parameters:
    ///   - dependencies: whose logger is used, as it is at each request. Of `BeagleDependencies` builder, environment
    ///     and redactor are used likewise, and it is not kept alive: afterwards they stay as they were last. For anything
    ///     else they are those of `Beagle.dependencies`.
    ///   - transport: what performs the transfers.
    ///   - options: timeouts, limits and policies of requests that bring none of their own.
    public init(
        dependencies: any Dependencies,
        transport: any HTTPTransport = CurlTransport(),
        options: TransferOptions = TransferOptions()
    ) {
        self.dependencies = FollowedDependencies(dependencies, transport: transport)
        self.options = options
    }

    /// Makes the messages, from the next request on: the builder set here, else the container's. May be set at any
    /// time from any thread.
    public var httpRequestBuilder: HttpRequestBuilder {
        get { ownBuilder.withLock { $0 }?.value ?? dependencies.settings.builder }
        set { ownBuilder.withLock { $0 = CopyOnWrite(newValue) } }
    }

    /// Ends what is watched; what somebody waits for comes to its end.
    deinit {
        for listener in listening.withLock({ Array($0.tasks.values) }) { listener.cancel() }
        hub.end(cancelling: false)
    }

    /// The dependencies given; where a logger was given that is no container, `Beagle.dependencies`.
    public var container: BeagleDependencies { dependencies.container }

    /// Starts a request and returns at once.
    ///
    /// - Returns: the handle that cancels the request; nil where the message could not be built, or the container's scope is
    ///   closed.
    @discardableResult
    public func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        let scope = Beagle.scope
        let settings = dependencies.settings
        let caller = settings.surroundings.callerContexts.capture()
        let ownership = settings.operationScope.map(Ownership.init)
        let deliver: @Sendable (Result<NetworkOperation.Result, NetworkError>) -> Void = { outcome in
            ownership?.end()
            scope.run { caller.run { completion(outcome.response) } }
        }
        do throws(NetworkError) {
            if ownership?.isOfClosed == true { throw .notInScope(isClosed: true) }
            let token = start(try prepared(NetworkOperation(request), settings), deliver)
            ownership?.begin { token.cancel() }
            return token
        } catch {
            Task.detached { deliver(.failure(error)) }
            return nil
        }
    }

    /// Performs a request; cancelling the task cancels it.
    ///
    /// - Returns: the response, whose status is in 200...299.
    /// - Throws: `NetworkError`; of kind `.status`, with response and data, for any other status.
    public func executeRequest(_ request: Request) async throws(NetworkError) -> NetworkResponse {
        let result = try await run(NetworkOperation(request))
        guard let response = result.response else { throw .noResponse }
        return response
    }

    /// Gives the head of the response as soon as it is there, whatever its status, and the body as it is read.
    ///
    /// Total time and body size are not limited unless `request.options` limits them.
    ///
    /// - Throws: `NetworkError` where there is no response.
    public func stream(_ request: Request) async throws(NetworkError) -> StreamingResponse {
        try await run(.stream(request)).streamed()
    }

    /// Performs an operation through the container's interceptors; cancelling the task cancels it, unless it
    /// `isDetached`.
    ///
    /// One that shares its run with others is run by the client, in a task where it needs one; any other in the caller's.
    nonisolated(nonsending) public func run(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let settings = dependencies.settings
        if let owner = settings.operationScope { return try await run(operation, settings, in: owner, emit) }
        return try await run(operation, settings, emit)
    }

    nonisolated(nonsending) private func run(
        _ operation: NetworkOperation,
        _ settings: FollowedDependencies.Settings,
        in owner: OperationScope,
        _ emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try await owner.runBeside { [self] () throws(NetworkError) in try await run(operation, settings, emit) }.read(
            in: owner
        )
    }

    // Inlined, as each call costs an operation a frame.
    @inline(__always) nonisolated(nonsending) private func run(
        _ operation: NetworkOperation,
        _ settings: FollowedDependencies.Settings,
        _ emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result {
        if Task.isCancelled { throw .cancelledBeforeStart }
        let (operation, pipeline) = try prepared(operation, settings)
        let emit = settings.surroundings.callerContexts.carrying(emit)
        switch path(of: operation, pipeline) {
        case .ended(let result): return result
        case .alone: return try await pipeline.run(operation, emit)
        case .shared: return try await hub.result(of: operation, pipeline, emit)
        case .unknown:
            return await hub.isAlone(operation, pipeline)
                ? try await pipeline.run(operation, emit) : try await hub.result(of: operation, pipeline, emit)
        }
    }

    /// The path of an operation through the client.
    private enum Path {
        case ended(NetworkOperation.Result)
        case alone
        /// With others that ask the same.
        case shared
        /// As what a store has will say.
        case unknown
    }

    private func path(of operation: NetworkOperation, _ pipeline: Pipeline) -> Path {
        switch pipeline.storedResult(for: operation) {
        case .ready(let result): return .ended(result)
        case .inMemory: return .alone
        case .unknown: return .unknown
        case .nothing: break
        }
        if operation.question == nil, !operation.isDetached { return .alone }
        return operation.policy == .cacheOnly && pipeline.hasStore ? .alone : .shared
    }

    /// As `run`, for who has no task to wait in: the run alone takes one, where it needs one.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - emit: hears what comes before the last result, on any thread, also from inside this call.
    ///   - completion: gets the last result, or why there is none; not where the token was cancelled before.
    /// - Returns: the handle that ends it; nil where only a task can wait for it.
    package func start(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void,
        completion: @escaping @Sendable (Result<NetworkOperation.Result, NetworkError>) -> Void
    ) -> (any RequestToken)? {
        let settings = dependencies.settings
        if settings.operationScope != nil { return nil }
        do throws(NetworkError) {
            let (operation, pipeline) = try prepared(operation, settings)
            guard case .shared = path(of: operation, pipeline) else { return nil }
            let emit = settings.surroundings.callerContexts.carrying(emit)
            let share = hub.ask(operation, pipeline, emit, completion)
            return AnyRequestToken { share.leave() }
        } catch {
            completion(.failure(error))
            return AnyRequestToken()
        }
    }

    /// Watches an operation; see `watch(_:in:_:)`.
    @discardableResult
    public func watch(
        _ operation: NetworkOperation,
        ownedBy scopes: [OperationScope],
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)? {
        let scope = Beagle.scope
        let settings = dependencies.settings
        let caller = settings.surroundings.callerContexts.capture()
        let owners = settings.operationScope.map { scopes + [$0] } ?? scopes
        let ownerships = owners.map(Ownership.init)
        do throws(NetworkError) {
            if ownerships.contains(where: \.isOfClosed) { throw .notInScope(isClosed: true) }
            let (operation, pipeline) = try prepared(operation, settings)
            let share = hub.subscribe(to: operation, pipeline, isOneShot: false) { event in
                if case .end = event { for ownership in ownerships { ownership.end() } }
                scope.run { caller.run { receive(event) } }
            }
            for ownership in ownerships { ownership.begin { share.close() } }
            return AnyRequestToken {
                for ownership in ownerships { ownership.end() }
                share.leave()
            }
        } catch {
            receive(.failure(error))
            return nil
        }
    }

    /// Cancels everything that is shared and under way, and ends what is watched: after somebody has signed in or out,
    /// so that nobody joins or hears what was asked for another.
    public func endAll() {
        hub.end(cancelling: true)
    }

    /// Runs again what is watched: on coming to the foreground, when the network is back, after a change.
    ///
    /// What is running already is not run beside itself. An operation goes out as it was made when it was asked last: whom
    /// it speaks for has changed? `endAll()`, and watch anew.
    ///
    /// - Parameters:
    ///   - policy: whether stored answers will do; the network is asked by default, but not for what is watched with
    ///     `.cacheOnly`.
    ///   - afterRun: whether the answer of a run under way would be too old: then there is one more run after it.
    ///   - isMeant: tells which operations are meant; all by default.
    public func refetch(
        _ policy: RequestPolicy = .networkOnly,
        afterRun: Bool = false,
        where isMeant: (NetworkOperation) -> Bool = { _ in true }
    ) {
        hub.refetch(policy, afterRun: afterRun, where: isMeant)
    }

    /// Runs again what is watched, whenever an event comes: that the app is in the foreground, or the network is back.
    ///
    /// Events that come together are one, and each is followed by a run, after one that is under way. What is watched with
    /// `.cacheOnly` alone is not run. Listening ends with the stream, the token and the client, which is not kept alive by
    /// it; the runs have the dependencies of the caller's scope, but no other task-local values, as its trace.
    ///
    /// - Parameters:
    ///   - events: yields one after another; read here alone.
    ///   - policy: whether stored answers will do; they are given as stale by default, and the network is asked.
    ///   - interval: how long events are gathered before the run, by the container's clock; 250 ms by default, in which a
    ///     network that comes back in several steps is there, and which nobody waits for who has something on the screen.
    /// - Returns: the handle that ends it.
    @discardableResult
    public func refetch(
        on events: AsyncStream<Void>,
        _ policy: RequestPolicy = .cacheAndNetwork,
        gathering interval: Duration = .milliseconds(250)
    ) -> any RequestToken {
        let scope = Beagle.scope
        let listener = listening.withLock { listening in
            listening.lastID += 1
            let id = listening.lastID
            let listener = Task.detached { [weak self] in
                await scope.run { await Self.listen(to: events, interval, policy) { [weak self] in self } }
                self?.listening.withLock { $0.tasks[id] = nil }
            }
            listening.tasks[id] = listener
            return listener
        }
        return AnyRequestToken(listener)
    }

    /// Refetches after each event, until the events end or there is no client any more.
    private static func listen(
        to events: AsyncStream<Void>,
        _ interval: Duration,
        _ policy: RequestPolicy,
        _ client: @escaping @Sendable () -> NetworkClientDefault?
    ) async {
        let isDue = Lock(false)
        await withDiscardingTaskGroup { group in
            for await _ in events {
                guard let clock = client()?.dependencies.settings.surroundings.clock else { return }
                let isFirst = isDue.withLock { isDue in
                    defer { isDue = true }
                    return !isDue
                }
                guard isFirst else { continue }
                group.addTask {
                    // Thrown only where listening has ended.
                    do { try await clock.sleep(for: interval) } catch { return }
                    isDue.withLock { $0 = false }
                    client()?.refetch(policy, afterRun: true) { $0.policy != .cacheOnly }
                }
            }
        }
    }

    /// How many operations are under way or watched, those apart that are not shared.
    package var activeOperations: Int { hub.count }
    /// How many wait for them or watch them.
    package var activeSubscribers: Int { hub.subscribers }
    /// How many wait for events.
    package var listeners: Int { listening.withLock { $0.tasks.count } }

    /// Runs an operation, in a task of the client's where it needs one.
    ///
    /// - Parameter deliver: gets the outcome, once, never from inside this call.
    private func start(
        _ prepared: (operation: NetworkOperation, pipeline: Pipeline),
        _ deliver: @escaping @Sendable (Result<NetworkOperation.Result, NetworkError>) -> Void
    ) -> any RequestToken {
        let (operation, pipeline) = prepared
        switch path(of: operation, pipeline) {
        case .ended(let result):
            Task.detached { deliver(.success(result)) }
            return AnyRequestToken()
        case .alone:
            switch pipeline.start(operation, { _ in }, deliver) {
            case .running(let token): return token
            case .ended(let outcome):
                Task.detached { deliver(outcome) }
                return AnyRequestToken()
            }
        case .shared:
            let once = OnceCompletion(isHeld: true, deliver)
            defer { once.open() }
            let share = hub.ask(operation, pipeline, { _ in }, { once.give($0) })
            return AnyRequestToken {
                // The completion is called from another thread: the caller may hold locks that it wants.
                if share.leave() { Task { once.give(.failure(.left)) } }
            }
        case .unknown:
            let once = OnceCompletion(isHeld: true, deliver)
            defer { once.open() }
            let task = Task.starting(on: pipeline.executor) { [hub] in
                let outcome = await Result<NetworkOperation.Result, NetworkError>.catching { () throws(NetworkError) in
                    if await hub.isAlone(operation, pipeline) { return try await pipeline.run(operation) { _ in } }
                    return try await hub.result(of: operation, pipeline) { _ in }
                }
                once.give(outcome)
            }
            return AnyRequestToken(task)
        }
    }

    /// The operation with its message and its question, and the way it goes.
    private func prepared(
        _ operation: NetworkOperation,
        _ settings: FollowedDependencies.Settings
    ) throws(NetworkError) -> (operation: NetworkOperation, pipeline: Pipeline) {
        do throws(NetworkError) {
            let pipeline = try settings.pipeline.get()
            var sent: NetworkOperation
            if let own = ownBuilder.withLock({ $0 })?.value {
                let builder = settings.environment.applied(to: own)
                let surroundings = settings.surroundings.with(builder)
                let transfer = try transfer(of: operation, settings, builder)
                sent = operation.sending(transfer, surroundings, for: pipeline.credentialOwner)
            } else {
                let transfer = try transfer(of: operation, settings, settings.environmentBuilder)
                sent = operation.sending(transfer, settings.surroundings, for: pipeline.credentialOwner)
            }
            if let own = operation.request.options, own.guards(beyond: options) {
                sent.reasonNotToKeep = TransferOptions.guardsAreNotKept
            }
            return (sent, pipeline)
        } catch {
            var error = error
            error.underlying = error.underlying ?? ClientError.invalidHttpRequest
            settings.surroundings.log(error, of: operation)
            throw error
        }
    }

    private func transfer(
        of operation: NetworkOperation,
        _ settings: FollowedDependencies.Settings,
        _ builder: HttpRequestBuilder
    ) throws(NetworkError) -> TransferRequest {
        let options = operation.isStream ? streamOptions : options
        let delivery = operation.transfer.delivery
        let scopedFields = operation.transfer.originScopedFields
        // One that is changed here would be copied.
        if settings.secretFields.isEmpty, scopedFields.isEmpty {
            return try builder.build(operation.request, options: options, delivery)
        }
        var transfer = try builder.build(operation.request, options: options, delivery)
        transfer.originScopedFields.formUnion(settings.secretFields)
        // Those that whoever made the operation said belong to its origin.
        transfer.originScopedFields.formUnion(scopedFields)
        return transfer
    }

    private var streamOptions: TransferOptions {
        var options = options
        options.timeouts.total = nil
        options.maxBodyBytes = nil
        return options
    }
}

/// That something belongs to a scope, until it ends.
private final class Ownership: Sendable {
    private let scope: OperationScope
    private let state = Lock<(id: Int?, isOver: Bool)>((nil, false))

    init(_ scope: OperationScope) {
        self.scope = scope
    }

    var isOfClosed: Bool { scope.isClosed }

    /// - Parameter cancel: called when the scope is closed; at once where it is.
    func begin(_ cancel: @escaping @Sendable () -> Void) {
        guard let id = scope.own(cancel) else { return cancel() }
        let isOver = state.withLock { state in
            state.id = id
            return state.isOver
        }
        if isOver { scope.disown(id) }
    }

    func end() {
        let id = state.withLock { state in
            state.isOver = true
            return state.id
        }
        if let id { scope.disown(id) }
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// The whole answer of an operation that has one.
    fileprivate var response: Result<NetworkResponse, NetworkError> {
        flatMap { result in result.response.map { .success($0) } ?? .failure(.noResponse) }
    }
}

extension NetworkError {
    static let noResponse = NetworkError(
        .other,
        during: .response,
        "the pipeline did not return a complete response",
        advice: "check that every interceptor returns a complete response"
    )
}
