public import BeagleNetCurl
public import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// The default client of an app, which builds requests, sends them through the transport, and logs both without
/// secrets.
///
/// The completion of a request is called exactly once, even if the request can't be built, is cancelled, or outlives
/// the client. It is never called from inside `executeRequest`, and always in the dependency scope of the caller. It
/// runs on the transport's thread: return quickly, or use `deliverOn:`.
public final class NetworkClientDefault: NetworkClient {
    /// The dependencies that the client needs.
    public typealias Dependencies = DependencyLogger

    /// The reason why a request has no result, as `NetworkError.error`.
    public enum ClientError: Swift.Error, Sendable, Hashable {
        /// The status is outside 200...299.
        case invalidHttpResponse
        /// The request couldn't be built; nothing was sent.
        case invalidHttpRequest
    }

    /// The timeouts, limits and policies of requests that don't set their own.
    public let options: TransferOptions
    private let dependencies: FollowedDependencies
    private let ownBuilder = Lock<CopyOnWrite<HttpRequestBuilder>?>(nil)
    private let coalescer = RequestCoalescer()
    private let completions = CompletionQueue()
    /// The tasks that listen for events, until they end.
    private let eventListeners = Lock(EventListeners())

    private struct EventListeners: Sendable {
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastID = 0
    }

    /// Creates a client with its own transport.
    ///
    /// - Parameters:
    ///   - dependencies: The source of the logger, which is read at each request. If it is a `BeagleDependencies`, the
    ///     builder, environment and redactor are read from it likewise. The client doesn't keep the container alive;
    ///     after its release, the last values stay in use. With any other source of a logger, they come from
    ///     `Beagle.dependencies`.
    ///   - transport: The transport that performs the transfers.
    ///   - options: The timeouts, limits and policies of requests that don't set their own.
    public init(
        dependencies: any Dependencies,
        transport: any HTTPTransport = CurlTransport(),
        options: TransferOptions = TransferOptions()
    ) {
        self.dependencies = FollowedDependencies(dependencies, transport: transport)
        self.options = options
    }

    /// The builder of requests: the one that was set here, otherwise the container's.
    ///
    /// A new builder takes effect from the next request on. It may be set at any time from any thread.
    public var httpRequestBuilder: HttpRequestBuilder {
        get { ownBuilder.withLock { $0 }?.value ?? dependencies.settings.builder }
        set { ownBuilder.withLock { $0 = CopyOnWrite(newValue) } }
    }

    /// Ends all watching; requests in flight still complete.
    deinit {
        for listener in eventListeners.withLock({ Array($0.tasks.values) }) { listener.cancel() }
        coalescer.end(cancelling: false)
    }

    /// The container of this client, or `Beagle.dependencies` if the app passed a logger that isn't a container.
    public var container: BeagleDependencies { dependencies.container }

    /// Starts a request and returns immediately.
    ///
    /// - Returns: A token that cancels the request, or `nil` if the request can't be built or the container's scope is
    ///   closed.
    @discardableResult
    public func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        let scope = Beagle.scope
        let settings = dependencies.settings
        let caller = settings.operationEnvironment.callerContexts.capture()
        let ownership = settings.operationScope.map(Ownership.init)
        let deliver: @Sendable (Result<NetworkOperation.Result, NetworkError>) -> Void = { outcome in
            ownership?.end()
            scope.run { caller.run { completion(outcome.response) } }
        }
        do throws(NetworkError) {
            if ownership?.isScopeClosed == true { throw .notInScope(isClosed: true) }
            let token = start(try prepared(NetworkOperation(request), settings), deliver)
            ownership?.begin { token.cancel() }
            return token
        } catch {
            completions.add(.failure(error), for: deliver)
            return nil
        }
    }

    /// Performs a request; cancelling the task cancels it.
    ///
    /// - Returns: The response, whose status is in 200...299.
    /// - Throws: `NetworkError`. For any other status, its kind is `.status`, and it contains the response and data.
    public func executeRequest(_ request: Request) async throws(NetworkError) -> NetworkResponse {
        let result = try await run(NetworkOperation(request))
        guard let response = result.response else { throw .noResponse }
        return response
    }

    /// Returns the head of the response as soon as it arrives, whatever its status, with a body that is read
    /// incrementally.
    ///
    /// The total time and the body size are unlimited unless `request.options` limits them.
    ///
    /// - Throws: `NetworkError` if there is no response.
    public func stream(_ request: Request) async throws(NetworkError) -> StreamingResponse {
        try await run(.stream(request)).streamed()
    }

    /// Performs an operation through the container's interceptors; cancelling the task cancels it, unless it
    /// `isDetached`.
    ///
    /// The client runs a shared operation, in a task if it needs one. Any other operation runs in the caller's task.
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
        try await owner.runUnqueued { [self] () throws(NetworkError) in try await run(operation, settings, emit) }.read(
            in: owner
        )
    }

    // Inlined, because each call adds a frame to an operation's stack.
    @inline(__always) nonisolated(nonsending) private func run(
        _ operation: NetworkOperation,
        _ settings: FollowedDependencies.Settings,
        _ emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result {
        if Task.isCancelled { throw .cancelledBeforeStart }
        let (operation, pipeline) = try prepared(operation, settings)
        let emit = settings.operationEnvironment.callerContexts.carrying(emit)
        switch path(of: operation, pipeline) {
        case .ended(let result): return result
        case .alone: return try await pipeline.run(operation, emit)
        case .shared: return try await coalescer.result(of: operation, pipeline, emit)
        case .unknown:
            return await coalescer.shouldRunSeparately(operation, pipeline)
                ? try await pipeline.run(operation, emit) : try await coalescer.result(of: operation, pipeline, emit)
        }
    }

    /// The path of an operation through the client.
    private enum Path {
        case ended(NetworkOperation.Result)
        case alone
        /// Shared with other callers of the same request.
        case shared
        /// Unknown until the store has been read.
        case unknown
    }

    private func path(of operation: NetworkOperation, _ pipeline: Pipeline) -> Path {
        switch pipeline.storedResult(for: operation) {
        case .ready(let result): return .ended(result)
        case .inMemory: return .alone
        case .unknown: return .unknown
        case .nothing: break
        }
        if operation.comparedContent == nil, !operation.isDetached { return .alone }
        return operation.policy == .cacheOnly && pipeline.hasStore ? .alone : .shared
    }

    /// Performs an operation like `run`, for a caller without a task; a task is started only if the run needs one.
    ///
    /// - Parameters:
    ///   - operation: The operation to perform.
    ///   - emit: Receives results before the settled one, on any thread, possibly before this call returns.
    ///   - completion: Receives the settled result or the error, unless the token was cancelled before.
    /// - Returns: A token that ends it, or `nil` if only a task can wait for the operation.
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
            let emit = settings.operationEnvironment.callerContexts.carrying(emit)
            let share = coalescer.requestResult(operation, pipeline, emit, completion)
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
        let caller = settings.operationEnvironment.callerContexts.capture()
        let owners = settings.operationScope.map { scopes + [$0] } ?? scopes
        let ownerships = owners.map(Ownership.init)
        do throws(NetworkError) {
            if ownerships.contains(where: \.isScopeClosed) { throw .notInScope(isClosed: true) }
            let (operation, pipeline) = try prepared(operation, settings)
            let share = coalescer.subscribe(to: operation, pipeline, isOneShot: false) { event in
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

    /// Cancels shared operations in flight and ends all watching.
    ///
    /// Call it after a user has signed in or out, so that no caller joins or receives a request made for another user.
    public func endAll() {
        coalescer.end(cancelling: true)
    }

    /// Runs watched operations again, for example when the app enters the foreground, when the network is back, or
    /// after a change.
    ///
    /// An operation that is already running isn't started a second time. Each operation is sent as it was last built:
    /// after another user has signed in, call `endAll()` and watch again.
    ///
    /// - Parameters:
    ///   - policy: The request policy. By default the network is asked, except for operations watched with
    ///     `.cacheOnly`.
    ///   - afterRun: Whether the result of a run in flight would be outdated, so that one more run follows it.
    ///   - isIncluded: Selects the operations; all by default.
    public func refetch(
        _ policy: RequestPolicy = .networkOnly,
        afterRun: Bool = false,
        where isIncluded: (NetworkOperation) -> Bool = { _ in true }
    ) {
        coalescer.refetch(policy, afterRun: afterRun, where: isIncluded)
    }

    /// Runs watched operations again whenever an event arrives, for example when the app enters the foreground or the
    /// network is back.
    ///
    /// Events within `interval` count as one. A run follows each, after a run in flight. Operations that are watched
    /// only with `.cacheOnly` don't run. Listening ends with the stream, the token or the client, which it doesn't keep
    /// alive. The runs have the dependencies of the caller's scope, but no other task-local values, such as its trace.
    ///
    /// - Parameters:
    ///   - events: The events. No other task may read the stream.
    ///   - policy: The request policy. By default stored responses are delivered as stale, and the network is asked.
    ///   - interval: The time in which events are gathered before the run, by the container's clock. 250 ms by default:
    ///     long enough for a network that comes back in several steps, and no noticeable delay, because watchers
    ///     already have a result.
    /// - Returns: A token that stops listening.
    @discardableResult
    public func refetch(
        on events: AsyncStream<Void>,
        _ policy: RequestPolicy = .cacheAndNetwork,
        gathering interval: Duration = .milliseconds(250)
    ) -> any RequestToken {
        let scope = Beagle.scope
        let listener = eventListeners.withLock { eventListeners in
            eventListeners.lastID += 1
            let id = eventListeners.lastID
            let listener = Task.detached { [weak self] in
                await scope.run { await Self.listen(to: events, interval, policy) { [weak self] in self } }
                self?.eventListeners.withLock { $0.tasks[id] = nil }
            }
            eventListeners.tasks[id] = listener
            return listener
        }
        return AnyRequestToken(listener)
    }

    /// Refetches after each event, until the events end or the client is released.
    private static func listen(
        to events: AsyncStream<Void>,
        _ interval: Duration,
        _ policy: RequestPolicy,
        _ client: @escaping @Sendable () -> NetworkClientDefault?
    ) async {
        let isDue = Lock(false)
        await withDiscardingTaskGroup { group in
            for await _ in events {
                guard let clock = client()?.dependencies.settings.operationEnvironment.clock else { return }
                let isFirst = isDue.withLock { isDue in
                    defer { isDue = true }
                    return !isDue
                }
                guard isFirst else { continue }
                group.addTask {
                    // The sleep throws only after listening has ended.
                    do { try await clock.sleep(for: interval) } catch { return }
                    isDue.withLock { $0 = false }
                    client()?.refetch(policy, afterRun: true) { $0.policy != .cacheOnly }
                }
            }
        }
    }

    /// The number of shared operations that are in flight or watched.
    package var activeOperations: Int { coalescer.count }
    /// The number of callers and watchers of these operations.
    package var activeSubscribers: Int { coalescer.subscribers }
    /// The number of tasks that listen for events.
    package var listeners: Int { eventListeners.withLock { $0.tasks.count } }

    /// Runs an operation, in a task of the client if it needs one.
    ///
    /// - Parameter deliver: Receives the outcome once, never from inside this call.
    private func start(
        _ prepared: (operation: NetworkOperation, pipeline: Pipeline),
        _ deliver: @escaping @Sendable (Result<NetworkOperation.Result, NetworkError>) -> Void
    ) -> any RequestToken {
        let (operation, pipeline) = prepared
        switch path(of: operation, pipeline) {
        case .ended(let result):
            completions.add(.success(result), for: deliver)
            return AnyRequestToken()
        case .alone:
            var operation = operation
            if operation.transfer.priorityControl == nil, !pipeline.sendsWithoutTask(operation) {
                // The task has no handle of the transfer.
                operation.transfer.priorityControl = Priority.Control(operation.transfer.options.priority)
            }
            switch pipeline.start(operation, { _ in }, deliver) {
            case .running(let token): return token
            case .ended(let outcome):
                completions.add(outcome, for: deliver)
                return AnyRequestToken()
            }
        case .shared:
            let once = OnceCompletion(isHeld: true, deliver)
            defer { once.open() }
            let share = coalescer.requestResult(operation, pipeline, { _ in }, { once.complete($0) })
            return AnyRequestToken(priorityControl: share.priorityControl) {
                // The completion is called on another thread, because the caller may hold locks that it needs.
                if share.leave() { Task { once.complete(.failure(.left)) } }
            }
        case .unknown:
            let once = OnceCompletion(isHeld: true, deliver)
            defer { once.open() }
            let task = Task.starting(on: pipeline.executor) { [coalescer] in
                let outcome = await Result<NetworkOperation.Result, NetworkError>.catching { () throws(NetworkError) in
                    if await coalescer.shouldRunSeparately(operation, pipeline) {
                        return try await pipeline.run(operation) { _ in }
                    }
                    return try await coalescer.result(of: operation, pipeline) { _ in }
                }
                once.complete(outcome)
            }
            return AnyRequestToken(task)
        }
    }

    /// The identity of the message of an operation; `nil` if it can't be built, which the app learns when it runs.
    func builtKey(of operation: NetworkOperation) -> NetworkOperation.Key? {
        do throws(NetworkError) {
            return try prepared(operation, dependencies.settings).operation.messageKey
        } catch {
            return nil
        }
    }

    /// Returns the operation with its built request and its key, and the pipeline for it.
    private func prepared(
        _ operation: NetworkOperation,
        _ settings: FollowedDependencies.Settings
    ) throws(NetworkError) -> (operation: NetworkOperation, pipeline: Pipeline) {
        do throws(NetworkError) {
            let pipeline = try settings.pipeline.get()
            var sent: NetworkOperation
            if let own = ownBuilder.withLock({ $0 })?.value {
                let redactor = settings.operationEnvironment.redactor
                let builder = settings.environment.applied(to: own, redactor, settings.capabilities)
                let operationEnvironment = settings.operationEnvironment.with(builder)
                let transfer = try transfer(of: operation, settings, builder)
                sent = operation.sending(transfer, operationEnvironment, for: pipeline.credentialOwner)
            } else {
                let (transfer, built) = try settings.messages.message(of: operation.request, operation.transfer) {
                    () throws(NetworkError) in
                    try self.transfer(of: operation, settings, settings.environmentBuilder)
                }
                sent = operation.sending(transfer, settings.operationEnvironment, for: pipeline.credentialOwner, built)
            }
            if let own = operation.request.options, own.guards(beyond: options) {
                sent.reasonNotToStore = TransferOptions.guardsAreNotStored
            }
            if let capabilities = settings.capabilities, sent.sends(capabilities) {
                sent.revision = CapabilityRevision(capabilities: capabilities)
            }
            return (sent, pipeline)
        } catch {
            var error = error
            error.underlying = error.underlying ?? ClientError.invalidHttpRequest
            settings.operationEnvironment.log(error, of: operation)
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
        // Returned directly, because a request that is changed here would be copied.
        if settings.secretFields.isEmpty, scopedFields.isEmpty {
            return try builder.build(operation.request, options: options, delivery)
        }
        var transfer = try builder.build(operation.request, options: options, delivery)
        transfer.originScopedFields.formUnion(settings.secretFields)
        // The fields that the creator of the operation restricted to its origin.
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

/// The ownership of an operation by a scope, until the operation ends.
private final class Ownership: Sendable {
    private let scope: OperationScope
    private let state = Lock<(id: Int?, isOver: Bool)>((nil, false))

    init(_ scope: OperationScope) {
        self.scope = scope
    }

    var isScopeClosed: Bool { scope.isClosed }

    /// Begins the ownership.
    ///
    /// - Parameter cancel: Called when the scope is closed, or immediately if it is closed already.
    func begin(_ cancel: @escaping @Sendable () -> Void) {
        guard let id = scope.add(cancel) else { return cancel() }
        let isOver = state.withLock { state in
            state.id = id
            return state.isOver
        }
        if isOver { scope.remove(id) }
    }

    func end() {
        let id = state.withLock { state in
            state.isOver = true
            return state.id
        }
        if let id { scope.remove(id) }
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// The complete response of an operation that has one.
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
