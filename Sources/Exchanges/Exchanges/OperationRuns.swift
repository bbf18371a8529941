import BeagleNetHTTP
import Synchronization

/// The operations that an exchange has under way, each in a task of its own, by id.
final class OperationRuns: Sendable {
    private struct Run: Sendable {
        let number: Int
        let task: Task<Void, Never>?
    }

    private let runs = Lock<[String: [Run]]>([:])
    private let numbers = Atomic(0)

    /// How many are under way.
    var count: Int { runs.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    /// Whether one of this id is under way.
    func contains(_ id: String) -> Bool { runs.withLock { $0[id] != nil } }

    /// Does something for an operation, until it is torn down.
    ///
    /// - Parameter body: is told whether it is still wanted when it has something to give.
    func start(_ id: String, _ body: @escaping @Sendable (_ isWanted: @escaping @Sendable () -> Bool) async -> Void) {
        start(id) { isWanted, _ in await body(isWanted) }
    }

    /// Does something for an operation, until it is torn down.
    ///
    /// - Parameter body: is told whether it is still wanted, and can end it before it gives the last: then the same may be
    ///   started at once.
    func start(
        _ id: String,
        _ body:
            @escaping @Sendable (
                _ isWanted: @escaping @Sendable () -> Bool,
                _ end: @escaping @Sendable () -> Void
            ) async -> Void
    ) {
        let number = numbers.add(1, ordering: .relaxed).newValue
        // Noted before it begins: it may give something at once.
        runs.withLock { $0[id, default: []].append(Run(number: number, task: nil)) }
        let task = Task.begun { [self] in
            await body({ self.isWanted(id, number) }, { self.remove(id, number) })
            remove(id, number)
        }
        let isWanted = runs.withLock { runs in
            guard let index = runs[id]?.firstIndex(where: { $0.number == number }) else { return false }
            runs[id]?[index] = Run(number: number, task: task)
            return true
        }
        if !isWanted { task.cancel() }
    }

    /// Ends what is under way of this id.
    func teardown(_ id: String) {
        for run in runs.withLock({ $0.removeValue(forKey: id) }) ?? [] { run.task?.cancel() }
    }

    /// Ends everything.
    func teardownAll() {
        let all = runs.withLock { runs in
            let all = runs.values.flatMap(\.self)
            runs = [:]
            return all
        }
        for run in all { run.task?.cancel() }
    }

    private func isWanted(_ id: String, _ number: Int) -> Bool {
        runs.withLock { $0[id]?.contains { $0.number == number } == true }
    }

    private func remove(_ id: String, _ number: Int) {
        runs.withLock { runs in
            runs[id]?.removeAll { $0.number == number }
            if runs[id]?.isEmpty == true { runs[id] = nil }
        }
    }
}
