import BeagleNetHTTP

/// An operation that is under way or watched: who waits for it, what it gave last, and its run.
///
/// Results reach each subscriber in the order in which they were given, outside of the lock, on the thread that gave
/// them: whoever finds nobody delivering does, and goes on until nothing waits. A subscriber may ask or leave from
/// inside of its callback.
final class ActiveOperation: Sendable {
    typealias Event = NetworkOperation.Event

    struct Subscriber: Sendable {
        let id: Int
        /// Whether it leaves with the first settled result or failure.
        let isOneShot: Bool
        let policy: RequestPolicy
        /// Whether it waits for the run after the present one.
        var isFollowing = false
        /// Whether its scope is closed, and nothing but the end is told any more.
        var isClosed = false
        let receive: @Sendable (Event) -> Void
    }

    /// Who hears an event: settled when it is posted, as others come and wait for the next run before it is delivered.
    private enum Audience: Sendable {
        /// All that there were: those up to this number.
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
        /// Ends the run.
        var token: (any RequestToken)?
        var run = 0
        var isRunning = false
        var isOver = false
        /// What was given last, progress apart.
        var last: NetworkOperation.Result?
        /// What was told last of the connection, in this run.
        var connection: NetworkOperation.Result?
        var hasGivenInRun = false
        /// What is to run after the present run.
        var following: NetworkOperation?
        /// Whether it is to run only where a store answers the present run.
        var followsStored = false
        /// What is next to be delivered, and what comes after it: mostly there is nothing after it.
        var due: Post?
        var waiting: [Post] = []
        var isDelivering = false

        var isWatched: Bool { operation.question != nil && operation.kind != .subscription }
        var everybody: Audience { .all(lastID) }

        func those(_ isMeant: (Subscriber) -> Bool) -> Audience {
            .some(subscribers.filter(isMeant).map(\.id))
        }
    }

    private let state: InlineLock<State>
    private let hub: Hub
    /// Under which the hub has it; nil where it is not shared.
    let subject: Hub.Subject?

    init(_ operation: NetworkOperation, _ pipeline: Pipeline, _ hub: Hub, _ subject: Hub.Subject? = nil) {
        state = InlineLock(State(operation: operation, pipeline: pipeline))
        self.hub = hub
        self.subject = subject
    }

    // MARK: - Subscribers

    /// Adds a subscriber and sees to it that it gets a result.
    ///
    /// - Returns: its number; nil where the operation is over, so that another is to be begun.
    func subscribe(
        _ operation: NetworkOperation,
        _ pipeline: Pipeline,
        isOneShot: Bool,
        _ receive: @escaping @Sendable (Event) -> Void
    ) -> Int? {
        let (id, beginning): (Int?, Beginning) = state.withLock { state in
            if state.isOver { return (nil, .none) }
            state.lastID += 1
            state.subscribers.append(
                Subscriber(id: state.lastID, isOneShot: isOneShot, policy: operation.policy, receive: receive)
            )
            return (state.lastID, Self.begin(&state, operation, pipeline, for: state.lastID))
        }
        goOn(beginning, operation, pipeline)
        return id
    }

    /// - Returns: whether the subscriber was there; afterwards it hears nothing more.
    @discardableResult
    func leave(_ id: Int) -> Bool {
        // Let go outside of the lock: what it holds may leave once more.
        let (left, ended): (Subscriber?, (any RequestToken)??) = state.withLock { state in
            guard let index = state.subscribers.firstIndex(where: { $0.id == id }) else { return (nil, nil) }
            return (state.subscribers.remove(at: index), Self.endIfAlone(&state))
        }
        if let ended { over(ended) }
        return left != nil
    }

    /// Ends it for one who watches it and hears so.
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
        if let ended { over(ended) }
        if isDue { deliver() }
    }

    /// Ends it for those who watch it, and with `cancelling` for those who wait for one answer as well.
    func end(cancelling: Bool) {
        let (isDue, ended): (Bool, (any RequestToken)??) = state.withLock { state in
            if state.isOver { return (false, nil) }
            let waiting = state.subscribers.filter(\.isOneShot)
            let goesOn = state.operation.isDetached && state.isRunning
            if cancelling || waiting.isEmpty && !goesOn {
                let isFirst = Self.post(&state, .failure(.left), to: .some(waiting.map(\.id)))
                let isDue = Self.post(&state, .end, to: state.those { !$0.isOneShot }) || isFirst
                state.isOver = true
                defer { state.token = nil }
                return (isDue, .some(state.token))
            }
            return (Self.post(&state, .end, to: state.those { !$0.isOneShot }), nil)
        }
        if let ended { over(ended) }
        if isDue { deliver() }
    }

    /// Ends what nobody waits for, unless it is to be seen through.
    ///
    /// - Returns: nil where it goes on, else what ends the run.
    private static func endIfAlone(_ state: inout State) -> (any RequestToken)?? {
        guard state.subscribers.isEmpty, !state.isOver else { return nil }
        if state.operation.isDetached, state.isRunning { return nil }
        state.isOver = true
        defer { state.token = nil }
        return .some(state.token)
    }

    private func over(_ token: (any RequestToken)?) {
        hub.remove(self)
        token?.cancel()
    }

    // MARK: - Runs

    /// Runs the operation again where it is watched. While it runs, asking again changes nothing.
    ///
    /// - Parameters:
    ///   - policy: whether a stored answer will do.
    ///   - afterRun: whether what runs now is too old: then it is run once more afterwards.
    func refetch(_ policy: RequestPolicy, afterRun: Bool) {
        let again: (NetworkOperation, Pipeline)? = state.withLock { state in
            guard state.isWatched, state.subscribers.contains(where: { !$0.isOneShot }) else { return nil }
            var operation = state.operation
            operation.policy = policy
            operation.attempt = 1
            if state.isRunning {
                if afterRun {
                    if state.following?.wantsMore(than: operation) != true { state.following = operation }
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

    /// What was asked last, with the policy of those who watch it: of several the one that asks most of the network.
    var operation: NetworkOperation {
        state.withLock { state in
            var operation = state.operation
            let policies = state.subscribers.lazy.filter { !$0.isOneShot }.map(\.policy)
            if let policy = policies.max(by: { $0.demand < $1.demand }) { operation.policy = policy }
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
        goOn(beginning, operation, pipeline)
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

    private func goOn(_ beginning: Beginning, _ operation: NetworkOperation, _ pipeline: Pipeline) {
        switch beginning {
        case .none: break
        case .deliver: deliver()
        case .run(let run): start(operation, pipeline, run)
        }
    }

    /// Somebody asks while the operation runs: it hears what there is, as stale. Where the run may be content with less
    /// of the network than it wants, another run follows if that is so, and it waits for that one. Of a subscription it hears
    /// how its connection is.
    private static func join(_ state: inout State, _ operation: NetworkOperation, _ joiner: Int?) -> Beginning {
        guard let joiner else { return .none }
        if operation.isDetached { state.operation.isDetached = true }
        if operation.kind != .subscription, operation.wantsMore(than: state.operation) {
            if state.following?.wantsMore(than: operation) != true {
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
        let operation = run == 1 ? operation : operation.inNewRun()
        switch pipeline.start(operation, { self.give($0, in: run) }, { self.finish($0, run) }) {
        case .running(let token): goOn(run, token)
        case .ended(let outcome): finish(outcome, run)
        }
    }

    /// Subscribers with a result of the previous run receive it again, marked stale.
    private func goOn(_ run: Int, _ token: any RequestToken) {
        let (isDue, isOver) = state.withLock { state in
            guard state.run == run, state.isRunning else { return (false, state.isOver) }
            if !state.isOver { state.token = token }
            guard var last = state.last, !state.hasGivenInRun, state.operation.kind != .subscription else {
                return (false, state.isOver)
            }
            last.isStale = true
            state.last = last
            return (Self.post(&state, .result(last), to: state.everybody), state.isOver)
        }
        if isDue { deliver() }
        if isOver { token.cancel() }
    }

    private func give(_ result: NetworkOperation.Result, in run: Int) {
        if !result.isAnswer { return giveNotice(result, in: run) }
        var result = result
        // It may be another hub's last.
        result.isLast = false
        let isDue = state.withLock { [result] state in
            guard !state.isOver, state.run == run, state.isRunning else { return false }
            state.last = result
            state.hasGivenInRun = true
            return Self.post(&state, .result(result), to: state.everybody)
        }
        if isDue { deliver() }
    }

    /// Nobody leaves with it, so that it is queued only where something else is being delivered.
    private func giveNotice(_ result: NetworkOperation.Result, in run: Int) {
        let subscribers: [Subscriber] = state.withLock { state in
            guard !state.isOver, state.run == run, state.isRunning, !state.subscribers.isEmpty else { return [] }
            if result.connection != nil { state.connection = result }
            if !state.isDelivering {
                state.isDelivering = true
                return state.subscribers
            }
            _ = Self.post(&state, .result(result), to: state.everybody)
            return []
        }
        if subscribers.isEmpty { return }
        give(.result(result), to: subscribers)
        deliver()
    }

    private func finish(_ outcome: Result<NetworkOperation.Result, NetworkError>, _ run: Int) {
        if let (event, subscribers) = endAtOnce(outcome, run) {
            hub.remove(self)
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
                isDue = Self.post(&state, .end, to: state.everybody) || isDue
            }
            return (isDue, state.isOver, again)
        }
        if hasEnded { hub.remove(self) }
        if isDue { deliver() }
        if let (operation, pipeline) = again { begin(operation, pipeline) }
    }

    /// Ends it where nobody watches it, no run follows and nothing is being delivered, as mostly: nothing has to be posted.
    ///
    /// - Returns: what they hear who waited for it; nil where there is more to do.
    private func endAtOnce(
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
                return post(&state, .result(result), to: state.everybody)
            }
            let isDue = post(&state, .result(result), to: state.those { !$0.isFollowing })
            result.isLast = false
            result.isStale = true
            return post(&state, .result(result), to: state.those(\.isFollowing)) || isDue
        case .failure(let error):
            return post(&state, .failure(error), to: isFollowed ? state.those { !$0.isFollowing } : state.everybody)
        }
    }

    /// - Returns: whether the caller is to deliver.
    private static func post(_ state: inout State, _ event: Event, to audience: Audience) -> Bool {
        let post = Post(event: event, audience: audience)
        if state.due == nil { state.due = post } else { state.waiting.append(post) }
        if state.isDelivering { return false }
        state.isDelivering = true
        return true
    }

    private func deliver() {
        while let (event, subscribers, ended) = next() {
            give(event, to: subscribers)
            if let ended { over(ended) }
        }
    }

    private func give(_ event: Event, to subscribers: [Subscriber]) {
        for (index, subscriber) in subscribers.enumerated() where index == 0 || hears(subscriber, event) {
            subscriber.receive(event)
        }
    }

    /// The next event and who hears it. Those who leave with it are gone already.
    private func next() -> (Event, [Subscriber], (any RequestToken)??)? {
        state.withLock { state in
            guard let post = state.due else {
                state.isDelivering = false
                return nil
            }
            state.due = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            let event = post.event
            let isForAll = if case .all(state.lastID) = post.audience { true } else { false }
            let subscribers = isForAll ? state.subscribers : state.subscribers.filter { post.audience.has($0.id) }
            guard subscribers.contains(where: event.isLast) else { return (event, subscribers, nil) }
            // Those who leave are let go outside of the lock, as `subscribers` has them.
            if isForAll, subscribers.allSatisfy(event.isLast) {
                state.subscribers = []
            } else {
                state.subscribers.removeAll { event.isLast(for: $0) && post.audience.has($0.id) }
            }
            return (event, subscribers, Self.endIfAlone(&state))
        }
    }

    /// Whether somebody who comes after others for an event has not left meanwhile.
    private func hears(_ subscriber: Subscriber, _ event: Event) -> Bool {
        // One who left with the event is gone already, and hears it.
        if event.isLast(for: subscriber) { return true }
        return state.withLock { state in state.subscribers.contains { $0.id == subscriber.id } }
    }
}

extension NetworkOperation.Event {
    /// Whether a subscriber hears nothing after it.
    fileprivate func isLast(for subscriber: ActiveOperation.Subscriber) -> Bool {
        switch self {
        case .result(let result): subscriber.isOneShot && (result.isSettled || result.isLast)
        case .failure: subscriber.isOneShot
        case .end: true
        }
    }
}

extension RequestPolicy {
    /// Whether a stored answer is all that it wants, where there is one.
    var prefersStore: Bool { self == .cacheFirst || self == .cacheOnly || self == .http }

    /// How much a run asks of the network.
    fileprivate var demand: Int {
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
    /// Whether a run of the other may be content with less of the network than this one, or with an older answer.
    fileprivate func wantsMore(than other: NetworkOperation) -> Bool {
        // From here on the network is asked for sure, and its answer given.
        if other.policy.demand >= RequestPolicy.cacheAndNetwork.demand { return false }
        if policy.demand != other.policy.demand { return policy.demand > other.policy.demand }
        guard policy == .cacheFirst, let maxAge else { return false }
        return other.maxAge.map { maxAge < $0 } ?? true
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// Whether a store gave it, or had nothing to give.
    fileprivate func isStored(for policy: RequestPolicy) -> Bool {
        switch self {
        case .success(let result): result.source == .cache
        case .failure: policy == .cacheOnly
        }
    }
}

extension Task where Failure == Never {
    /// A task that runs on the caller's thread up to its first wait, where the platform can do that.
    static func starting(
        on executor: (any TaskExecutor)?,
        _ body: sending @escaping @isolated(any) () async -> Success
    ) -> Task {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            // A preference for nothing costs as much as one for something.
            guard let executor else { return Task.immediate(operation: body) }
            return Task.immediate(executorPreference: executor, operation: body)
        }
        return Task(executorPreference: executor, operation: body)
    }
}
