import BeagleNetCache
import BeagleNetDependencies
import BeagleNetHTTP

/// The validations that run in the background, one for each key.
final class Revalidations: Sendable {
    private let tasks = Lock<[ResponseKey: Task<Void, Never>]>([:])

    /// Runs a validation, unless one of the same key is running.
    func start(_ key: ResponseKey, _ work: @escaping @Sendable () async -> Void) {
        tasks.withLock { tasks in
            guard tasks[key] == nil else { return }
            tasks[key] = Task {
                await work()
                self.end(key)
            }
        }
    }

    private func end(_ key: ResponseKey) { tasks.withLock { $0[key] = nil } }

    /// Waits for the validations that are running.
    func finish() async {
        for task in tasks.withLock({ Array($0.values) }) { await task.value }
    }
}

/// Logged if a validation in the background fails.
struct RevalidationMessage: LogType {
    let error: NetworkError
    var category: String { "Cache" }
    var level: LogLevel { .debug }
    var message: String { "Validation in the background failed: \(error.message)" }
}
