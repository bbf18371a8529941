import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

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

    enum State {
        case waiting
        /// The fetches that wait, by number.
        case running([Int: CheckedContinuation<Outcome?, Never>])
        case ended(Outcome, at: ContinuousClock.Instant)
    }

    let key: Key
    let origin: Origin?
    /// The screen that requested it first.
    let source: String
    /// The screens that want it and are open.
    let sources: Lock<Set<String>>
    /// The number of the last change of the origin before the prefetch.
    let change: Int
    let operation: NetworkOperation
    let client: any NetworkClient
    let control = PriorityControl(.prefetch)
    let state = Lock(State.waiting)
    let work = Lock<Task<Void, Never>?>(nil)
    private let lastID = Lock(0)

    init(_ key: Key, _ operation: NetworkOperation, from source: String, _ client: any NetworkClient) {
        self.key = key
        self.source = source
        sources = Lock([source])
        self.client = client
        origin = Origin(operation.request.url)
        change = client.container.originChanges?.lastNumber ?? 0
        var operation = operation
        operation.priorityControl = control
        self.operation = operation
    }

    var isRunning: Bool { state.withLock { if case .running = $0 { true } else { false } } }

    /// The size of the screen in bytes; 0 before it is there.
    var bytes: Int {
        state.withLock { state in
            guard case .ended(.success(let result), _) = state else { return 0 }
            return result.response?.data.count ?? 0
        }
    }

    /// Whether the screen may no longer be used: it is too old, failed, or a request has changed its origin.
    func isOutdated(_ lifetime: Duration) -> Bool {
        if let origin, (client.container.originChanges?.number(of: origin) ?? 0) > change { return true }
        return state.withLock { state in
            guard case .ended(let outcome, let time) = state else { return false }
            // A stale screen took the place of a failure.
            guard case .success(let result) = outcome, !result.isStale, result.response?.mayBeKept == true else {
                return true
            }
            return time.duration(to: .now) > lifetime
        }
    }

    /// The number of fetches that wait for the outcome.
    var waitingFetches: Int {
        state.withLock { state in
            if case .running(let waiting) = state { return waiting.count }
            return 0
        }
    }

    /// Waits for the outcome.
    ///
    /// - Returns: `nil` if the task was cancelled before.
    func outcome() async -> Outcome? {
        let id = lastID.withLock { id in
            id += 1
            return id
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome: Outcome?? = state.withLock { state in
                    if case .ended(let outcome, _) = state { return .some(outcome) }
                    if Task.isCancelled { return .some(nil) }
                    var waiting: [Int: CheckedContinuation<Outcome?, Never>] = [:]
                    if case .running(let present) = state { waiting = present }
                    waiting[id] = continuation
                    state = .running(waiting)
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            let left: CheckedContinuation<Outcome?, Never>? = state.withLock { state in
                guard case .running(var waiting) = state else { return nil }
                let left = waiting.removeValue(forKey: id)
                state = .running(waiting)
                return left
            }
            left?.resume(returning: nil)
        }
    }

    /// Marks a waiting prefetch as running.
    ///
    /// - Returns: Whether it was waiting.
    func begin() -> Bool {
        state.withLock { state in
            guard case .waiting = state else { return false }
            state = .running([:])
            return true
        }
    }

    func end(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            defer { state = .ended(outcome, at: .now) }
            if case .running(let waiting) = state { return waiting }
            return [:]
        }
        for waiting in waiting.values { waiting.resume(returning: outcome) }
    }

    func cancel() { work.withLock { $0 }?.cancel() }
}

extension NetworkResponse {
    /// Whether a prefetched response may be kept until it is used: servers forbid that with `no-store`, and with
    /// `Clear-Site-Data` of the cache or of prefetches.
    fileprivate var mayBeKept: Bool {
        let fields = response.headerFields
        return !(fields[.cacheControl] ?? "").lowercased().contains("no-store")
    }
}
