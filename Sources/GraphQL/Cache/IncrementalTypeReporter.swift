import BeagleNet
import BeagleNetHTTP

/// Reports the types in the parts of an incremental response to interceptors, which only see its head.
final class IncrementalTypeReporter: Sendable {
    typealias Subscriber = @Sendable (_ types: Set<String>) async -> Void

    private let subscribers = Lock<[Subscriber]>([])

    /// Whether there are any subscribers.
    var hasSubscribers: Bool { subscribers.withLock { !$0.isEmpty } }

    /// Adds a subscriber. Before each part is delivered, it receives the types that no earlier part contained.
    func subscribe(_ subscriber: @escaping Subscriber) {
        subscribers.withLock { $0.append(subscriber) }
    }

    /// Notifies the subscribers and waits for them.
    func report(_ types: Set<String>) async {
        if types.isEmpty { return }
        for subscriber in subscribers.withLock({ $0 }) { await subscriber(types) }
    }
}

extension NetworkOperation {
    private enum IncrementalTypesKey: ContextKey { static let defaultValue: IncrementalTypeReporter? = nil }

    /// The reporter of the types in an incremental response; `nil` if the response isn't incremental.
    var incrementalTypes: IncrementalTypeReporter? {
        get { context[IncrementalTypesKey.self] }
        set { context[IncrementalTypesKey.self] = newValue }
    }
}
