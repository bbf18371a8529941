import BeagleNetDependencies
import BeagleNetHTTP
import Synchronization

/// The loads in flight that a user may wait for, through all clients and image loaders of a container.
///
/// Fetches of screens and images note themselves. Other requests, such as forms and actions, are noted before the
/// transport once a screen was fetched, or a screen or image prefetched. Streams and downloads to files may take any
/// time, so they don't count.
final class InteractiveLoads: RequestObserver {
    private struct State {
        /// The times at which the loads in flight began.
        var begins: [ObjectIdentifier: Duration] = [:]
        var lastEnd: Duration?
        /// The waits that end when no load is in flight.
        var waits: [Promise<Void>] = []

        /// The time until prefetches may start if no load begins or ends; `nil` if they may start now.
        func delay(_ now: Duration, _ rules: ViewClient.PrefetchRules) -> Duration? {
            let idle = lastEnd.map { $0 + rules.idleTime } ?? now
            let due = begins.values.reduce(idle) { max($0, $1 + rules.maxHoldTime) }
            return due > now ? due - now : nil
        }
    }

    private let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration
    private let isWatched = Atomic(false)
    private let state = Lock(State())

    init(_ clock: any Clock<Duration>) {
        self.clock = clock
        elapsed = clock.stopwatch()
    }

    /// Begins a load.
    func begin() -> InteractiveLoad {
        isWatched.store(true, ordering: .relaxed)
        let load = InteractiveLoad(self)
        load.begin()
        return load
    }

    fileprivate func add(_ load: InteractiveLoad) {
        let now = elapsed()
        state.withLock { $0.begins[ObjectIdentifier(load)] = now }
    }

    fileprivate func remove(_ load: InteractiveLoad) {
        let now = elapsed()
        let waits: [Promise<Void>] = state.withLock { state in
            state.begins[ObjectIdentifier(load)] = nil
            state.lastEnd = now
            guard state.begins.isEmpty else { return [] }
            defer { state.waits = [] }
            return state.waits
        }
        for wait in waits { wait.complete() }
    }

    // MARK: - Waiting

    /// Whether prefetches may start.
    func isIdle(_ rules: ViewClient.PrefetchRules) -> Bool {
        isWatched.store(true, ordering: .relaxed)
        let now = elapsed()
        return state.withLock { $0.delay(now, rules) == nil }
    }

    /// Waits until prefetches may start, or the task is cancelled.
    func waitUntilIdle(_ rules: ViewClient.PrefetchRules) async {
        while !Task.isCancelled {
            let wait = Promise<Void>()
            let now = elapsed()
            let delay = state.withLock { state in
                let delay = state.delay(now, rules)
                if delay != nil, !state.begins.isEmpty { state.waits.append(wait) }
                return delay
            }
            guard let delay else { return }
            let timer = Task { [clock] in
                // The sleep throws only if the timer isn't needed any more.
                do { try await clock.sleep(for: delay) } catch { return }
                wait.complete()
            }
            await wait.valueUnlessCancelled()
            timer.cancel()
        }
    }

    // MARK: - Requests of clients

    func applies(to operation: NetworkOperation) -> Bool {
        isWatched.load(ordering: .relaxed) && operation.transfer.delivery == .collect && !operation.readsOnlyStore
            && operation.isTransfer
    }

    func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        let priority = operation.transfer.priorityControl?.priority ?? operation.transfer.options.priority
        return priority > .prefetch ? begin() : nil
    }
}

/// One of the `InteractiveLoads`.
final class InteractiveLoad: RequestObservation {
    private enum State { case new, running, ended }

    private let loads: InteractiveLoads
    private let state = Lock(State.new)

    init(_ loads: InteractiveLoads) { self.loads = loads }

    deinit { end() }

    /// Begins the load, unless it has begun before.
    func begin() {
        state.withLock { state in
            guard case .new = state else { return }
            state = .running
            loads.add(self)
        }
    }

    /// Ends the load.
    func end() {
        state.withLock { state in
            if case .running = state { loads.remove(self) }
            state = .ended
        }
    }

    func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) { end() }
}

extension InteractiveLoads {
    enum Key: DependencyDefault {
        static func live(_ dependencies: BeagleDependencies) -> InteractiveLoads {
            InteractiveLoads(dependencies.clock)
        }
    }
}

extension BeagleDependencies {
    /// The loads of the container's clients and image loaders that a user may wait for.
    var interactiveLoads: InteractiveLoads { self[InteractiveLoads.Key.self] }
}
