import BeagleNetDependencies
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The prefetches of a `ViewClient`: those that wait for their turn, are running, or weren't used yet.
final class PrefetchQueue: Sendable {
    /// A prefetch that a fetch has taken out of the queue.
    enum Taken {
        case result(NetworkOperation.Result)
        /// Nothing was sent yet.
        case waiting
    }

    private struct State {
        var prefetches: [Prefetch.Key: Prefetch] = [:]
        /// The keys in the order in which they were requested.
        var order: [Prefetch.Key] = []
        var pauses: [Origin: ContinuousClock.Instant] = [:]
        var reports: [String: ViewClient.PrefetchReport] = [:]
        /// The prefetches that are to be cancelled after unlocking.
        var removed: [Prefetch] = []
        /// The task that waits until the first waiting prefetch may start.
        var idleWait: Task<Void, Never>?
    }

    private let rules: ViewClient.PrefetchRules
    private let state = Lock(State())

    init(_ rules: ViewClient.PrefetchRules) { self.rules = rules }

    deinit {
        removeAll()
        state.withLock { $0.idleWait }?.cancel()
    }

    /// Reads or changes the state, and cancels the prefetches that were removed.
    private func withState<R>(_ body: (inout State) -> R) -> R {
        let (result, removed) = state.withLock { state in
            defer { state.removed = [] }
            return (body(&state), state.removed)
        }
        for prefetch in removed { prefetch.cancel() }
        return result
    }

    // MARK: - Adding

    /// Adds a prefetch, unless the rules forbid it or it is there already.
    ///
    /// - Returns: Whether the screen will be prefetched, or is already.
    func add(_ request: ScreenRequest, from source: Prefetch.Source, _ client: any NetworkClient) -> Bool {
        let prefetch = makePrefetch(request, source, client)
        let (isAccepted, isNew) = withState { state in
            removeOutdated(from: &state)
            state.reports[source.name, default: ViewClient.PrefetchReport()].requested += 1
            if let present = prefetch.flatMap({ state.prefetches[$0.key] }), !present.isOutdated(rules.lifetime) {
                present.sources.withLock { _ = $0.insert(source) }
                // It counts once.
                state.reports[source.name, default: ViewClient.PrefetchReport()].requested -= 1
                return (true, false)
            }
            guard let prefetch, state.prefetches.values.count(where: \.isPending) < rules.maxPending,
                prefetch.origin.map({ allows($0, state) }) ?? true
            else {
                state.reports[source.name, default: ViewClient.PrefetchReport()].refused += 1
                return (false, false)
            }
            remove(prefetch.key, from: &state)
            state.prefetches[prefetch.key] = prefetch
            state.order.append(prefetch.key)
            return (true, true)
        }
        if isNew, let prefetch { start(prefetch) }
        return isAccepted
    }

    private func makePrefetch(
        _ request: ScreenRequest,
        _ source: Prefetch.Source,
        _ client: any NetworkClient
    ) -> Prefetch? {
        guard request.isGet, rules.isNetworkSuitable() else { return nil }
        do throws(NetworkError) {
            let key = Prefetch.Key(request, try request.operation(client), client)
            var sent = request
            sent.additionalData.headers["Sec-Purpose"] = "prefetch"
            // A stale screen in the place of a failure would look like a success.
            sent.policy = .http
            let operation = try sent.operation(client)
            guard rules.allows(operation.request.url) else { return nil }
            return Prefetch(key, request, operation, from: source, client)
        } catch {
            // The app learns it when it fetches the screen.
            return nil
        }
    }

    // MARK: - Running

    /// Starts the task of a prefetch, which inherits the task-local values of the caller.
    private func start(_ prefetch: Prefetch) {
        let task = Task { [weak self] in
            var outcome = Prefetch.Outcome.failure(.cancelledBeforeStart)
            if await prefetch.waitForTurn(), self?.maySend(prefetch) == true {
                outcome = await .catching { () throws(NetworkError) in
                    try await prefetch.client.run(prefetch.operation)
                }
            }
            prefetch.end(outcome)
            self?.ended(prefetch, outcome)
        }
        prefetch.start(task)
        let isRemoved = state.withLock { $0.prefetches[prefetch.key] !== prefetch }
        if isRemoved { prefetch.cancel() }
        startNext()
    }

    /// Returns whether the network is suitable and the request belongs to the same user as when it was requested. If
    /// not, the prefetch is removed.
    private func maySend(_ prefetch: Prefetch) -> Bool {
        do throws(NetworkError) {
            let operation = try prefetch.request.operation(prefetch.client)
            let key = Prefetch.Key(prefetch.request, operation, prefetch.client)
            if key == prefetch.key, rules.isNetworkSuitable() { return true }
        } catch {
            // The app learns it when it fetches the screen.
        }
        withState { state in
            if take(prefetch, from: &state) { count(prefetch, &state) { $0.dropped += 1 } }
        }
        return false
    }

    /// Starts waiting prefetches, in order, as far as the rules and the loads in flight allow it.
    private func startNext() {
        withState { state in
            removeOutdated(from: &state)
            while state.prefetches.values.count(where: \.isRunning) < rules.maxRunning {
                guard let key = state.order.first(where: { state.prefetches[$0]?.isWaiting == true }),
                    let next = state.prefetches[key]
                else { return }
                guard next.loads.isIdle(rules) else {
                    if state.idleWait == nil { state.idleWait = waitUntilIdle(next.loads) }
                    return
                }
                _ = next.begin()
            }
        }
    }

    /// Calls `startNext` when no load is in flight.
    private func waitUntilIdle(_ loads: InteractiveLoads) -> Task<Void, Never> {
        Task.detached { [weak self, rules] in
            await loads.waitUntilIdle(rules)
            self?.state.withLock { $0.idleWait = nil }
            self?.startNext()
        }
    }

    private func ended(_ prefetch: Prefetch, _ outcome: Prefetch.Outcome) {
        pause(prefetch.origin, after: outcome)
        withState { state in
            if state.prefetches[prefetch.key] === prefetch, prefetch.isOutdated(rules.lifetime) {
                remove(prefetch.key, from: &state)
            }
            var bytes = state.prefetches.values.reduce(0) { $0 + $1.bytes }
            while bytes > rules.maxBytes, let key = state.order.first(where: { state.prefetches[$0]?.bytes ?? 0 > 0 }) {
                bytes -= state.prefetches[key]?.bytes ?? 0
                remove(key, from: &state)
            }
        }
        startNext()
    }

    /// Sends no prefetches to an origin for the time that an outcome asks for.
    func pause(_ origin: Origin?, after outcome: Prefetch.Outcome) {
        guard let origin, let pause = outcome.pause else { return }
        withState { state in
            state.pauses[origin] = .now.advanced(by: pause)
            // Waiting prefetches of the same origin would be refused now.
            for waiting in state.prefetches.values where waiting.isWaiting && waiting.origin == origin {
                remove(waiting.key, from: &state)
            }
        }
    }

    // MARK: - Taking

    /// Takes a prefetch of the same request: its result, if it succeeds, or its place in the queue.
    func take(_ request: ScreenRequest, _ operation: NetworkOperation, _ client: any NetworkClient) async -> Taken? {
        guard request.isGet, request.policy != .networkOnly, request.policy != .cacheOnly else { return nil }
        let key = Prefetch.Key(request, operation, client)
        let (prefetch, isWaiting): (Prefetch?, Bool) = withState { state in
            guard let prefetch = state.prefetches[key] else { return (nil, false) }
            guard !prefetch.isOutdated(rules.lifetime) else {
                remove(key, from: &state)
                return (nil, false)
            }
            let isWaiting = prefetch.isWaiting
            if isWaiting, take(prefetch, from: &state) { count(prefetch, &state) { $0.overtaken += 1 } }
            return (prefetch, isWaiting)
        }
        guard let prefetch else { return nil }
        if isWaiting {
            prefetch.cancel()
            return .waiting
        }
        prefetch.control.raise(to: .interactive)
        guard case .success(let result)? = await prefetch.outcome.valueUnlessCancelled(),
            !prefetch.isOutdated(rules.lifetime)
        else { return nil }
        return withState { state in
            guard take(prefetch, from: &state) else { return nil }
            count(prefetch, &state) { report in
                report.used += 1
                report.usedBytes += prefetch.bytes
            }
            return .result(result)
        }
    }

    // MARK: - Removing

    /// Removes all prefetches and cancels those that are running.
    func removeAll() {
        withState { state in
            for prefetch in state.prefetches.values { remove(prefetch.key, from: &state) }
        }
    }

    /// Cancels the pending prefetches that only this screen wants.
    func cancel(from source: Prefetch.Source) {
        withState { state in
            for prefetch in state.prefetches.values {
                let isUnwanted = prefetch.sources.withLock { $0.remove(source) != nil && $0.isEmpty }
                if isUnwanted, prefetch.isPending, prefetch.waitingFetches == 0 { remove(prefetch.key, from: &state) }
            }
        }
        startNext()
    }

    /// Removes the waiting prefetches that are too old.
    private func removeOutdated(from state: inout State) {
        for prefetch in state.prefetches.values where prefetch.isWaiting && prefetch.isOutdated(rules.lifetime) {
            remove(prefetch.key, from: &state)
        }
    }

    /// Removes and cancels a prefetch that wasn't used.
    private func remove(_ key: Prefetch.Key, from state: inout State) {
        guard let prefetch = state.prefetches[key], take(prefetch, from: &state) else { return }
        count(prefetch, &state) { report in
            if prefetch.isWaiting {
                report.dropped += 1
            } else {
                report.wasted += 1
                report.wastedBytes += prefetch.bytes
            }
        }
        state.removed.append(prefetch)
    }

    /// Takes a prefetch out of the queue.
    ///
    /// - Returns: Whether it was there.
    private func take(_ prefetch: Prefetch, from state: inout State) -> Bool {
        guard state.prefetches[prefetch.key] === prefetch else { return false }
        state.prefetches[prefetch.key] = nil
        state.order.removeAll { $0 == prefetch.key }
        return true
    }

    // MARK: - Reports

    /// The outcomes of the prefetches that a screen has requested.
    func report(of source: String) -> ViewClient.PrefetchReport {
        withState { state in
            removeOutdated(from: &state)
            return state.reports[source] ?? ViewClient.PrefetchReport()
        }
    }

    /// The number of prefetches that wait or are running.
    var pendingCount: Int {
        withState { state in
            removeOutdated(from: &state)
            return state.prefetches.values.count(where: \.isPending)
        }
    }

    /// The number of fetches that wait for a prefetch.
    var waitingFetches: Int { withState { $0.prefetches.values.reduce(0) { $0 + $1.waitingFetches } } }

    private func count(_ prefetch: Prefetch, _ state: inout State, _ change: (inout ViewClient.PrefetchReport) -> Void)
    {
        change(&state.reports[prefetch.source, default: ViewClient.PrefetchReport()])
    }

    // MARK: - Hints

    /// Returns whether an image that a response names may be loaded now.
    func allowsHint(_ url: URL) -> Bool {
        guard let origin = Origin(url), rules.allows(url), rules.isNetworkSuitable() else { return false }
        return withState { allows(origin, $0) }
    }

    /// Counts a hinted image in the report of the unnamed screen.
    func countHint(_ count: (inout ViewClient.PrefetchReport) -> Void) {
        withState { count(&$0.reports["", default: ViewClient.PrefetchReport()]) }
    }

    /// Returns whether no response has paused the prefetches of an origin.
    private func allows(_ origin: Origin, _ state: State) -> Bool { state.pauses[origin].map { $0 < .now } ?? true }
}

extension Prefetch.Key {
    init(_ request: ScreenRequest, _ operation: NetworkOperation, _ client: any NetworkClient) {
        self.init(
            url: operation.request.url.absoluteString,
            additionalData: request.additionalData,
            partition: client.container.partition(or: request.partition),
            timeout: request.timeout,
            container: ObjectIdentifier(client.container),
            credentialOwner: client.container.credentialOwner,
            message: client.messageKey(of: operation)
        )
    }
}

extension Prefetch.Outcome {
    /// The time for which the origin wants no prefetches; `nil` if it doesn't mind.
    fileprivate var pause: Duration? {
        let head: HTTPResponse? =
            switch self {
            case .success(let result): result.response?.response
            case .failure(let error): error.response
            }
        guard let head else { return nil }
        let isBusy = head.status == .tooManyRequests || head.status == .serviceUnavailable
        return head.retryAfter ?? (isBusy ? .seconds(60) : nil)
    }
}
