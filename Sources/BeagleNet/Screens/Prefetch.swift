import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A screen that is prefetched.
final class Prefetch: Sendable {
    typealias Outcome = Result<NetworkOperation.Result, NetworkError>

    /// The whole request and the user: a screen is used only for a request that would have the same response.
    struct Key: Hashable, Sendable {
        let url: String
        let additionalData: HttpAdditionalData
        let partition: String
        let timeout: Duration?
        let container: ObjectIdentifier
        let credentialOwner: Int
        /// The message as the client builds it, with the credentials that it adds.
        let message: NetworkOperation.Key?
    }

    /// A screen that wants the prefetch.
    struct Source: Hashable, Sendable {
        /// The name of the screen, for reports.
        let name: String
        /// The identity of its scope; `nil` if the app prefetches without one.
        var scope: UUID?
    }

    enum State {
        case waiting, running
        case ended(Outcome, at: Duration)
    }

    let key: Key
    let request: ScreenRequest
    let origin: Origin?
    /// The name of the screen that requested it first.
    let source: String
    /// The screens that want it and are open.
    let sources: Lock<Set<Source>>
    let operation: NetworkOperation
    let client: any NetworkClient
    /// The loads that it waits for.
    let loads: InteractiveLoads
    let control = Priority.Control(.prefetch)
    let outcome = Promise<Outcome>()
    /// The time since it was requested.
    private let age: @Sendable () -> Duration
    private let state = Lock(State.waiting)
    /// The number of the last change of any origin before it was sent.
    private let change = Lock(Int.max)
    /// Whether it may be sent.
    private let turn = Promise<Bool>()
    private let work = Lock<Task<Void, Never>?>(nil)

    init(
        _ key: Key,
        _ request: ScreenRequest,
        _ operation: NetworkOperation,
        from source: Source,
        _ client: any NetworkClient
    ) {
        self.key = key
        self.request = request
        self.source = source.name
        sources = Lock([source])
        self.client = client
        loads = client.container.interactiveLoads
        age = client.container.clock.stopwatch()
        origin = Origin(operation.request.url)
        var operation = operation
        operation.priorityControl = control
        self.operation = operation
    }

    var isWaiting: Bool { state.withLock { if case .waiting = $0 { true } else { false } } }
    var isRunning: Bool { state.withLock { if case .running = $0 { true } else { false } } }
    var isPending: Bool { isWaiting || isRunning }

    /// The size of the screen in bytes; 0 before it is there.
    var bytes: Int {
        state.withLock { state in
            guard case .ended(.success(let result), _) = state else { return 0 }
            return result.response?.data.count ?? 0
        }
    }

    /// Whether the screen may no longer be used: it is too old, failed, or a request has changed its origin.
    func isOutdated(_ lifetime: Duration) -> Bool {
        let change = change.withLock { $0 }
        if let origin, (client.container.originChanges?.number(of: origin) ?? 0) > change { return true }
        let age = age()
        return state.withLock { state in
            switch state {
            case .waiting: return age > lifetime
            case .running: return false
            case .ended(let outcome, let time):
                // A stale screen took the place of a failure.
                guard case .success(let result) = outcome, !result.isStale, result.response?.mayBeKept == true else {
                    return true
                }
                return age - time > lifetime
            }
        }
    }

    /// The number of fetches that wait for the outcome.
    var waitingFetches: Int { outcome.waiterCount }

    /// Sets the task that performs the prefetch when its turn comes.
    func start(_ task: Task<Void, Never>) { work.withLock { $0 = task } }

    /// Waits until the prefetch may be sent.
    ///
    /// - Returns: Whether it may; `false` if it was cancelled before.
    func waitForTurn() async -> Bool { await turn.valueUnlessCancelled() ?? false }

    /// Lets a waiting prefetch be sent.
    ///
    /// - Returns: Whether it was waiting.
    func begin() -> Bool {
        let isFirst = state.withLock { state in
            guard case .waiting = state else { return false }
            state = .running
            return true
        }
        guard isFirst else { return false }
        change.withLock { $0 = client.container.originChanges?.lastNumber ?? 0 }
        turn.complete(true)
        return true
    }

    func end(_ outcome: Outcome) {
        let now = age()
        state.withLock { $0 = .ended(outcome, at: now) }
        self.outcome.complete(outcome)
    }

    func cancel() {
        turn.complete(false)
        work.withLock { $0 }?.cancel()
    }
}

extension NetworkResponse {
    /// Whether a prefetched response may be kept until it is used: servers forbid that with `no-store`, and with
    /// `Clear-Site-Data` of the cache or of prefetches.
    fileprivate var mayBeKept: Bool {
        let fields = response.headerFields
        return !(fields[.cacheControl] ?? "").lowercased().contains("no-store")
    }
}
