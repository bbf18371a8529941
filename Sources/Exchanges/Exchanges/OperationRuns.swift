import BeagleNetHTTP
import Synchronization

/// The operations that an exchange is running, by id, each in a task of its own.
final class OperationRuns: Sendable {
    private struct Run: Sendable {
        let number: Int
        let task: Task<Void, Never>?
    }

    private let runs = Lock<[String: [Run]]>([:])
    private let numbers = Atomic(0)

    /// The number of running operations.
    var count: Int { runs.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    /// Returns whether an operation with this id is running.
    func contains(_ id: String) -> Bool { runs.withLock { $0[id] != nil } }

    /// Runs work for an operation until it is torn down.
    ///
    /// - Parameter body: The work. It calls `isActive` before it delivers a result.
    func start(_ id: String, _ body: @escaping @Sendable (_ isActive: @escaping @Sendable () -> Bool) async -> Void) {
        start(id) { isActive, _ in await body(isActive) }
    }

    /// Runs work for an operation until it is torn down.
    ///
    /// - Parameter body: The work. It calls `isActive` before it delivers a result, and may call `end` before its last
    ///   result, so that an operation with the same id can start immediately.
    func start(
        _ id: String,
        _ body:
            @escaping @Sendable (
                _ isActive: @escaping @Sendable () -> Bool,
                _ end: @escaping @Sendable () -> Void
            ) async -> Void
    ) {
        let number = numbers.add(1, ordering: .relaxed).newValue
        // Added before the work starts, which may deliver a result synchronously.
        runs.withLock { $0[id, default: []].append(Run(number: number, task: nil)) }
        let task = Task.startedImmediately { [self] in
            await body({ self.isActive(id, number) }, { self.remove(id, number) })
            remove(id, number)
        }
        let isActive = runs.withLock { runs in
            guard let index = runs[id]?.firstIndex(where: { $0.number == number }) else { return false }
            runs[id]?[index] = Run(number: number, task: task)
            return true
        }
        if !isActive { task.cancel() }
    }

    /// Cancels the running operations with this id.
    func teardown(_ id: String) {
        for run in runs.withLock({ $0.removeValue(forKey: id) }) ?? [] { run.task?.cancel() }
    }

    /// Cancels all running operations.
    func teardownAll() {
        let all = runs.withLock { runs in
            let all = runs.values.flatMap(\.self)
            runs = [:]
            return all
        }
        for run in all { run.task?.cancel() }
    }

    private func isActive(_ id: String, _ number: Int) -> Bool {
        runs.withLock { $0[id]?.contains { $0.number == number } == true }
    }

    private func remove(_ id: String, _ number: Int) {
        runs.withLock { runs in
            runs[id]?.removeAll { $0.number == number }
            if runs[id]?.isEmpty == true { runs[id] = nil }
        }
    }
}
