import BeagleNetHTTP

/// An operation that is in flight or watched, with its subscribers, its last result and its run.
///
/// Each subscriber receives results in the order in which they were posted, outside of the lock. The thread that posts
/// an event while no other thread is delivering becomes the delivering thread, and continues until the queue is empty.
/// A subscriber may make requests or leave from within its callback.
final class ActiveOperation: Sendable {
    typealias Event = NetworkOperation.Event

    struct Subscriber: Sendable {
        let id: Int
        /// Whether the subscriber leaves with the first settled result or failure.
        let isOneShot: Bool
        let policy: RequestPolicy
        /// Whether the subscriber waits for the run after the present one.
        var isFollowing = false
        /// Whether the subscriber's scope is closed, so that it receives only the end.
        var isClosed = false
        let receive: @Sendable (Event) -> Void
    }

    /// The subscribers that receive an event. Fixed when the event is posted, because others may join before it is
    /// delivered.
    private enum Audience: Sendable {
        /// All subscribers up to this number, which are those present when the event was posted.
        case all(Int)
        case some([Int])

        func has(_ id: Int) -> Bool {
            switch self {
            case .all(let last): id <= last
            case .some(let ids): ids.contains(id)
            }
        }
    }

    private struct Post: Sendable {
        let event: Event
        let audience: Audience
    }

    private struct State: Sendable {
        var subscribers: [Subscriber] = []
        var lastID = 0
        var operation: NetworkOperation
        var pipeline: Pipeline
        /// The handle that cancels the run.
        var token: (any RequestToken)?
        var run = 0
        var isRunning = false
        var isOver = false
        /// The last result, not counting progress.
        var last: NetworkOperation.Result?
        /// The last connection event of this run.
        var connection: NetworkOperation.Result?
        var hasGivenInRun = false
        /// The operation to run after the present run.
        var following: NetworkOperation?
        /// Whether the following run starts only if the present run's result comes from a store.
        var followsStored = false
        /// The next event to deliver.
        ///
        /// Events after it are in `waiting`, which is usually empty.
        var nextPost: Post?
        var queuedPosts: [Post] = []
        var isDelivering = false

        var isWatched: Bool { operation.comparedContent != nil && operation.kind != .subscription }
        var allSubscribers: Audience { .all(lastID) }

        func audience(where isIncluded: (Subscriber) -> Bool) -> Audience {
            .some(subscribers.filter(isIncluded).map(\.id))
        }
    }

    private let state: InlineLock<State>
    private let coalescer: RequestCoalescer
    /// The key of this operation in the coalescer; `nil` if the operation isn't shared.
    let coalescingKey: RequestCoalescer.CoalescingKey?

    init(
        _ operation: NetworkOperation,
        _ pipeline: Pipeline,
        _ coalescer: RequestCoalescer,
        _ coalescingKey: RequestCoalescer.CoalescingKey? = nil
    ) {
        state = InlineLock(State(operation: operation, pipeline: pipeline))
        self.coalescer = coalescer
        self.coalescingKey = coalescingKey
    }

    // MARK: - Subscribers

    /// Adds a subscriber and makes sure that it receives a result.
    ///
    /// - Returns: The subscriber's number; `nil` if the operation is over, so that the caller must begin another one.
    func subscribe(
        _ operation: NetworkOperation,
        _ pipeline: Pipeline,
        isOneShot: Bool,
        _ receive: @escaping @Sendable (Event) -> Void
    ) -> Int? {
        let (id, beginning, shared): (Int?, Beginning, Priority.Control?) = state.withLock { state in
            if state.isOver { return (nil, .none, nil) }
            state.lastID += 1
            state.subscribers.append(
                Subscriber(id: state.lastID, isOneShot: isOneShot, policy: operation.policy, receive: receive)
            )
            let shared = state.isRunning ? state.operation.transfer.priorityControl : nil
            return (state.lastID, Self.begin(&state, operation, pipeline, for: state.lastID), shared)
        }
        if let shared { Self.raise(shared, for: operation) }
        proceed(beginning, operation, pipeline)
        return id
    }

    /// Raises the priority of a run to that of an operation that joins it, also later.
    private static func raise(_ shared: Priority.Control, for operation: NetworkOperation) {
        guard let own = operation.transfer.priorityControl, own !== shared else { return }
        shared.raise(to: own.attach(shared))
    }

    /// Removes a subscriber, which receives nothing afterwards.
    ///
    /// - Returns: Whether the subscriber was still subscribed.
    @discardableResult
    func leave(_ id: Int) -> Bool {
        // Release the subscriber outside of the lock, because objects that it holds may call `leave` again.
        let (left, ended): (Subscriber?, (any RequestToken)??) = state.withLock { state in
            guard let index = state.subscribers.firstIndex(where: { $0.id == id }) else { return (nil, nil) }
            return (state.subscribers.remove(at: index), Self.endIfUnsubscribed(&state))
        }
        if let ended { finishRun(cancelling: ended) }
        return left != nil
    }

    /// Ends the operation for a watching subscriber, which receives a cancellation error and then `.end`.
    func close(_ id: Int) {
        let (isDue, ended): (Bool, (any RequestToken)??) = state.withLock { state in
            guard !state.isOver, let index = state.subscribers.firstIndex(where: { $0.id == id }),
                !state.subscribers[index].isClosed
            else { return (false, nil) }
            state.subscribers[index].isClosed = true
            let isFirst = Self.post(&state, .failure(.scopeClosed), to: .some([id]))
            let isDue = Self.post(&state, .end, to: .some([id])) || isFirst
            guard state.subscribers.allSatisfy(\.isClosed), !(state.operation.isDetached && state.isRunning) else {
                return (isDue, nil)
            }
            state.isOver = true
            defer { state.token = nil }
            return (isDue, .some(state.token))
        }
        if let ended { finishRun(cancelling: ended) }
        if isDue { deliver() }
    }

    /// Ends the operation for watching subscribers; if `cancelling` is true, also for those that wait for one result.
    func end(cancelling: Bool) {
        let (isDue, ended): (Bool, (any RequestToken)??) = state.withLock { state in
            if state.isOver { return (false, nil) }
            let waiting = state.subscribers.filter(\.isOneShot)
            let goesOn = state.operation.isDetached && state.isRunning
            if cancelling || waiting.isEmpty && !goesOn {
                let isFirst = Self.post(&state, .failure(.left), to: .some(waiting.map(\.id)))
                let isDue = Self.post(&state, .end, to: state.audience { !$0.isOneShot }) || isFirst
                state.isOver = true
                defer { state.token = nil }
                return (isDue, .some(state.token))
            }
            return (Self.post(&state, .end, to: state.audience { !$0.isOneShot }), nil)
        }
        if let ended { finishRun(cancelling: ended) }
        if isDue { deliver() }
    }

    /// Ends the operation if it has no subscribers, unless it is detached and running.
    ///
    /// - Returns: `nil` if the operation continues, otherwise the handle of its run.
    private static func endIfUnsubscribed(_ state: inout State) -> (any RequestToken)?? {
        guard state.subscribers.isEmpty, !state.isOver else { return nil }
        if state.operation.isDetached, state.isRunning { return nil }
        state.isOver = true
        defer { state.token = nil }
        return .some(state.token)
    }

    private func finishRun(cancelling token: (any RequestToken)?) {
        coalescer.remove(self)
        token?.cancel()
    }

    // MARK: - Runs

    /// Reruns the operation if it is watched.
    ///
    /// Does nothing while it runs, unless `afterRun` is true.
    ///
    /// - Parameters:
    ///   - policy: Whether stored responses are used.
    ///   - afterRun: Whether a present run is followed by another one, because its result would be outdated.
    func refetch(_ policy: RequestPolicy, afterRun: Bool) {
        let again: (NetworkOperation, Pipeline)? = state.withLock { state in
            guard state.isWatched, state.subscribers.contains(where: { !$0.isOneShot }) else { return nil }
            var operation = state.operation
            operation.policy = policy
            operation.attempt = 1
            if state.isRunning {
                if afterRun {
                    if state.following?.requiresMoreNetwork(than: operation) != true { state.following = operation }
                    state.followsStored = false
                }
                return nil
            }
            return (operation, state.pipeline)
        }
        if let (operation, pipeline) = again { begin(operation, pipeline) }
    }

    var subscribers: Int { state.withLock { $0.subscribers.count } }
    var isRunning: Bool { state.withLock { $0.isRunning } }

    /// The operation of the last run, with the policy of its watching subscribers.
    ///
    /// If their policies differ, it is the one that uses the network most.
    var operation: NetworkOperation {
        state.withLock { state in
            var operation = state.operation
            let policies = state.subscribers.lazy.filter { !$0.isOneShot }.map(\.policy)
            if let policy = policies.max(by: { $0.networkRank < $1.networkRank }) { operation.policy = policy }
            return operation
        }
    }

    private enum Beginning {
        case none
        case deliver
        case run(Int)
    }

    private func begin(_ operation: NetworkOperation, _ pipeline: Pipeline) {
        let beginning = state.withLock { state in Self.begin(&state, operation, pipeline, for: nil) }
        proceed(beginning, operation, pipeline)
    }

    private static func begin(
        _ state: inout State,
        _ operation: NetworkOperation,
        _ pipeline: Pipeline,
        for joiner: Int?
    ) -> Beginning {
        if state.isOver { return .none }
        guard !state.isRunning else { return join(&state, operation, joiner) }
        state.isRunning = true
        state.run += 1
        state.hasGivenInRun = false
        state.connection = nil
        state.operation = operation
        state.pipeline = pipeline
        for index in state.subscribers.indices { state.subscribers[index].isFollowing = false }
        return .run(state.run)
    }

    private func proceed(_ beginning: Beginning, _ operation: NetworkOperation, _ pipeline: Pipeline) {
        switch beginning {
        case .none: break
        case .deliver: deliver()
        case .run(let run): start(operation, pipeline, run)
        }
    }

    /// Joins a running operation. The subscriber receives the last result, marked stale; for a subscription, it
    /// receives the state of the connection instead.
    ///
    /// If the present run may use the network less than the subscriber wants, the subscriber waits for another run,
    /// which follows if the present one ends with a stored response.
    private static func join(_ state: inout State, _ operation: NetworkOperation, _ joiner: Int?) -> Beginning {
        guard let joiner else { return .none }
        if operation.isDetached { state.operation.isDetached = true }
        if operation.kind != .subscription, operation.requiresMoreNetwork(than: state.operation) {
            if state.following?.requiresMoreNetwork(than: operation) != true {
                if state.following == nil { state.followsStored = true }
                state.following = operation
            }
            if let index = state.subscribers.firstIndex(where: { $0.id == joiner }) {
                state.subscribers[index].isFollowing = true
            }
        }
        if operation.kind == .subscription {
            guard let connection = state.connection else { return .none }
            return post(&state, .result(connection), to: .some([joiner])) ? .deliver : .none
        }
        guard var last = state.last else { return .none }
        last.isStale = true
        return post(&state, .result(last), to: .some([joiner])) ? .deliver : .none
    }

    private func start(_ operation: NetworkOperation, _ pipeline: Pipeline, _ run: Int) {
        // The closures of the first run capture only this object, so that they need no allocation.
        let started =
            run == 1
            ? pipeline.start(operation, { self.deliver($0, in: 1) }, { self.finish($0, 1) })
            : pipeline.start(operation.inNewRun(), { self.deliver($0, in: run) }, { self.finish($0, run) })
        switch started {
        case .running(let token): proceed(run, token)
        case .ended(let outcome): finish(outcome, run)
        }
    }

    /// Marks the previous run's result stale and delivers it to all subscribers.
    private func proceed(_ run: Int, _ token: any RequestToken) {
        let (isDue, isOver) = state.withLock { state in
            guard state.run == run, state.isRunning else { return (false, state.isOver) }
            if !state.isOver { state.token = token }
            guard var last = state.last, !state.hasGivenInRun, state.operation.kind != .subscription else {
                return (false, state.isOver)
            }
            last.isStale = true
            state.last = last
            return (Self.post(&state, .result(last), to: state.allSubscribers), state.isOver)
        }
        if isDue { deliver() }
        if isOver { token.cancel() }
    }

    private func deliver(_ result: NetworkOperation.Result, in run: Int) {
        if !result.isResponse { return deliverProgress(result, in: run) }
        var result = result
        // The result may have been the last one of another coalescer.
        result.isLast = false
        let isDue = state.withLock { [result] state in
            guard !state.isOver, state.run == run, state.isRunning else { return false }
            state.last = result
            state.hasGivenInRun = true
            return Self.post(&state, .result(result), to: state.allSubscribers)
        }
        if isDue { deliver() }
    }

    /// Delivers progress or a connection event. No subscriber leaves with it, so it is queued only while another event
    /// is being delivered.
    private func deliverProgress(_ result: NetworkOperation.Result, in run: Int) {
        let subscribers: [Subscriber] = state.withLock { state in
            guard !state.isOver, state.run == run, state.isRunning, !state.subscribers.isEmpty else { return [] }
            if result.connection != nil { state.connection = result }
            if !state.isDelivering {
                state.isDelivering = true
                return state.subscribers
            }
            _ = Self.post(&state, .result(result), to: state.allSubscribers)
            return []
        }
        if subscribers.isEmpty { return }
        deliver(.result(result), to: subscribers)
        deliver()
    }

    private func finish(_ outcome: Result<NetworkOperation.Result, NetworkError>, _ run: Int) {
        if let (event, subscribers) = finishDirectly(outcome, run) {
            coalescer.remove(self)
            for subscriber in subscribers { subscriber.receive(event) }
            return
        }
        let (isDue, hasEnded, again): (Bool, Bool, (NetworkOperation, Pipeline)?) = state.withLock { state in
            guard !state.isOver, state.run == run else { return (false, false, nil) }
            state.isRunning = false
            state.token = nil
            let isFollowed = !state.followsStored || outcome.isStored(for: state.operation.policy)
            let again = isFollowed ? state.following.map { ($0, state.pipeline) } : nil
            state.following = nil
            state.followsStored = false
            var isDue = Self.post(&state, outcome, isFollowed: again != nil)
            if again == nil, !state.isWatched || state.subscribers.isEmpty {
                state.isOver = true
                isDue = Self.post(&state, .end, to: state.allSubscribers) || isDue
            }
            return (isDue, state.isOver, again)
        }
        if hasEnded { coalescer.remove(self) }
        if isDue { deliver() }
        if let (operation, pipeline) = again { begin(operation, pipeline) }
    }

    /// Ends the operation directly if it isn't watched, no run follows and no event is being delivered. This is the
    /// usual case, and needs no posting.
    ///
    /// - Returns: The event and the subscribers that receive it; `nil` if the general path is needed.
    private func finishDirectly(
        _ outcome: Result<NetworkOperation.Result, NetworkError>,
        _ run: Int
    ) -> (Event, [Subscriber])? {
        state.withLock { state in
            guard !state.isOver, state.run == run, state.following == nil, !state.isDelivering,
                state.subscribers.allSatisfy(\.isOneShot)
            else { return nil }
            state.isRunning = false
            state.isOver = true
            state.token = nil
            defer { state.subscribers = [] }
            switch outcome {
            case .success(var result):
                result.isLast = true
                return (.result(result), state.subscribers)
            case .failure(let error): return (.failure(error), state.subscribers)
            }
        }
    }

    // MARK: - Delivery

    private static func post(
        _ state: inout State,
        _ outcome: Result<NetworkOperation.Result, NetworkError>,
        isFollowed: Bool
    ) -> Bool {
        switch outcome {
        case .success(var result):
            result.isLast = false
            state.last = result
            result.isLast = true
            guard isFollowed, result.source == .cache else {
                return post(&state, .result(result), to: state.allSubscribers)
            }
            let isDue = post(&state, .result(result), to: state.audience { !$0.isFollowing })
            result.isLast = false
            result.isStale = true
            return post(&state, .result(result), to: state.audience(where: \.isFollowing)) || isDue
        case .failure(let error):
            return post(
                &state,
                .failure(error),
                to: isFollowed ? state.audience { !$0.isFollowing } : state.allSubscribers
            )
        }
    }

    /// Queues an event.
    ///
    /// - Returns: Whether the caller must call `deliver`.
    private static func post(_ state: inout State, _ event: Event, to audience: Audience) -> Bool {
        let post = Post(event: event, audience: audience)
        if state.nextPost == nil { state.nextPost = post } else { state.queuedPosts.append(post) }
        if state.isDelivering { return false }
        state.isDelivering = true
        return true
    }

    private func deliver() {
        while let (event, subscribers, ended) = next() {
            deliver(event, to: subscribers)
            if let ended { finishRun(cancelling: ended) }
        }
    }

    private func deliver(_ event: Event, to subscribers: [Subscriber]) {
        for (index, subscriber) in subscribers.enumerated() where index == 0 || shouldReceive(subscriber, event) {
            subscriber.receive(event)
        }
    }

    /// Returns the next event and its subscribers. Those that leave with the event are already removed.
    private func next() -> (Event, [Subscriber], (any RequestToken)??)? {
        state.withLock { state in
            guard let post = state.nextPost else {
                state.isDelivering = false
                return nil
            }
            state.nextPost = state.queuedPosts.isEmpty ? nil : state.queuedPosts.removeFirst()
            let event = post.event
            let isForAll = if case .all(state.lastID) = post.audience { true } else { false }
            let subscribers = isForAll ? state.subscribers : state.subscribers.filter { post.audience.has($0.id) }
            guard subscribers.contains(where: event.isLast) else { return (event, subscribers, nil) }
            // The removed subscribers are released outside of the lock, because `subscribers` still holds them.
            if isForAll, subscribers.allSatisfy(event.isLast) {
                state.subscribers = []
            } else {
                state.subscribers.removeAll { event.isLast(for: $0) && post.audience.has($0.id) }
            }
            return (event, subscribers, Self.endIfUnsubscribed(&state))
        }
    }

    /// Whether a subscriber should still receive an event that others received before it, because it hasn't left in the
    /// meantime.
    private func shouldReceive(_ subscriber: Subscriber, _ event: Event) -> Bool {
        // A subscriber that leaves with the event is already removed, but receives it.
        if event.isLast(for: subscriber) { return true }
        return state.withLock { state in state.subscribers.contains { $0.id == subscriber.id } }
    }
}

extension NetworkOperation.Event {
    /// Whether the event is the last one that a subscriber receives.
    fileprivate func isLast(for subscriber: ActiveOperation.Subscriber) -> Bool {
        switch self {
        case .result(let result): subscriber.isOneShot && (result.isSettled || result.isLast)
        case .failure: subscriber.isOneShot
        case .end: true
        }
    }
}

extension RequestPolicy {
    /// Whether a stored response, if there is one, satisfies the policy.
    var prefersStore: Bool { self == .cacheFirst || self == .cacheOnly || self == .http }

    /// A rank of the policy by its use of the network.
    fileprivate var networkRank: Int {
        switch self {
        case .cacheOnly: 0
        case .cacheFirst: 1
        case .http: 2
        case .networkFirst: 3
        case .cacheAndNetwork: 4
        case .networkOnly: 5
        }
    }
}

extension NetworkOperation {
    /// Whether a run of the other operation may use the network less than this one, or accept an older response.
    fileprivate func requiresMoreNetwork(than other: NetworkOperation) -> Bool {
        // From this policy on, the network is always used and its response delivered.
        if other.policy.networkRank >= RequestPolicy.cacheAndNetwork.networkRank { return false }
        if policy.networkRank != other.policy.networkRank { return policy.networkRank > other.policy.networkRank }
        guard policy == .cacheFirst, let maxAge else { return false }
        return other.maxAge.map { maxAge < $0 } ?? true
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// Whether the result comes from a store, or the store had none.
    fileprivate func isStored(for policy: RequestPolicy) -> Bool {
        switch self {
        case .success(let result): result.source == .cache
        case .failure: policy == .cacheOnly
        }
    }
}

extension Task where Failure == Never {
    /// Creates a task that runs on the caller's thread up to its first wait, if the platform supports that.
    static func starting(
        on executor: (any TaskExecutor)?,
        _ body: sending @escaping @isolated(any) () async -> Success
    ) -> Task {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            // Passing `nil` as the preference costs as much as passing an executor.
            guard let executor else { return Task.immediate(operation: body) }
            return Task.immediate(executorPreference: executor, operation: body)
        }
        return Task(executorPreference: executor, operation: body)
    }
}
