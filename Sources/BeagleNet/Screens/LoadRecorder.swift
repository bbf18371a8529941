import BeagleNetDependencies
import BeagleNetHTTP

/// The times of a scope's loads, until its screen is ready.
final class LoadRecorder: Sendable {
    typealias Load = ViewClient.Scope.Timing.Load

    private struct State {
        var loads: [Load] = []
        var isReady = false
        /// Completed when no load is running; `nil` if no task waits for it.
        var whenReady: Promise<Void>?

        /// Removes the promise if no load is running.
        mutating func takePromise() -> Promise<Void>? {
            guard whenReady != nil, !loads.contains(where: \.isRunning) else { return nil }
            isReady = !loads.isEmpty
            return whenReady.take()
        }
    }

    /// The maximum number of loads: an app that never reads the timing may load any number of images.
    private static let maxLoads = 1_000
    private let elapsed: @Sendable () -> Duration
    private let redactor: Redactor
    private let state = Lock(State())

    init(_ container: BeagleDependencies) {
        elapsed = container.clock.stopwatch()
        redactor = container.redactor
    }

    /// Begins a load.
    ///
    /// - Returns: `nil` if the timing is complete.
    func begin(_ target: any Request.Target, isImage: Bool = false) -> LoadRecord? {
        let text = target as? String ?? "\(target)"
        let now = elapsed()
        return state.withLock { state in
            guard !state.isReady, state.loads.count < Self.maxLoads else { return nil }
            let hasScreen = isImage || state.loads.contains { $0.kind == .screen && $0.error == nil }
            let kind: Load.Kind = isImage ? .image : hasScreen ? .lazy : .screen
            state.loads.append(Load(kind, DataURL.isOne(text) ? "data:" : text, begin: now))
            return LoadRecord(recorder: self, index: state.loads.count - 1)
        }
    }

    /// Changes a load that is running.
    fileprivate func update(_ index: Int, _ change: (inout Load, _ now: Duration) -> Void) {
        let now = elapsed()
        let whenReady: Promise<Void>? = state.withLock { state in
            guard state.loads[index].isRunning else { return nil }
            change(&state.loads[index], now)
            return state.loads[index].isRunning ? nil : state.takePromise()
        }
        whenReady?.complete()
    }

    /// Waits until no load is running. Later loads aren't recorded.
    ///
    /// - Returns: The loads; `nil` if the task was cancelled before.
    func loads() async -> [Load]? {
        let (whenReady, ready) = state.withLock { state in
            let whenReady = state.whenReady ?? Promise()
            state.whenReady = whenReady
            return (whenReady, state.takePromise())
        }
        ready?.complete()
        await whenReady.valueUnlessCancelled()
        let loads = state.withLock { $0.loads }
        if loads.contains(where: \.isRunning) { return nil }
        return loads.map { load in
            var load = load
            load.target = redactor.redact(url: load.target)
            return load
        }
    }
}

/// The times of one load.
struct LoadRecord: Sendable {
    fileprivate let recorder: LoadRecorder
    fileprivate let index: Int

    /// Notes that a stored result was delivered that may be outdated.
    func noteStored() { recorder.update(index) { $0.stored = $0.stored ?? $1 } }

    /// Notes that the load has taken over a prefetch.
    func noteAdoption() { recorder.update(index) { load, _ in load.cause = .prefetch } }

    /// Notes a wait for a connection.
    func noteWait(_ wait: Duration) { recorder.update(index) { load, _ in load.waiting += wait } }

    /// Notes whether the load is in the loader's queue.
    func noteQueue(_ isWaiting: Bool) { recorder.update(index) { $0.noteQueue(isWaiting, $1) } }

    /// Ends the load.
    func end(_ outcome: Result<ViewClient.Scope.Timing.Load.Cause, NetworkError>) {
        recorder.update(index) { load, now in
            load.noteQueue(false, now)
            load.end = now
            load.waiting = min(load.waiting, load.duration)
            switch outcome {
            case .success(let cause): load.cause = load.cause ?? cause
            case .failure(let error): (load.cause, load.error) = (nil, error)
            }
            load.isRunning = false
        }
    }
}
