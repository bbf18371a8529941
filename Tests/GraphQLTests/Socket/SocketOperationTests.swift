@testable import BeagleNetGraphQL
import BeagleNetTesting
import Foundation
import Testing

/// One operation, from its results to its end.
struct SocketOperationTests {
    @Test func onlyTheFirstEndCountsAndNoEventsFollow() async throws {
        let count = Lock(0)
        let operation = SocketOperation(Data()) { _ in count.withLock { $0 += 1 } }
        operation.deliver(.open)
        operation.end(.success(()))
        operation.end(.failure(.operationCancelled))
        operation.deliver(.open)
        try await operation.wait {}
        #expect(count.withLock { $0 } == 1)
    }

    @Test func operationDoesNotEndWhileAnEventIsDelivered() async throws {
        let slot = Lock<SocketOperation?>(nil)
        let steps = Lock<[String]>([])
        let operation = SocketOperation(Data()) { _ in
            slot.withLock { $0 }?.end(.success(()))
            steps.withLock { $0.append("event") }
        }
        slot.withLock { $0 = operation }
        // The waiting task resumes inside the call that ends the wait.
        let waiting = Task(executorPreference: InlineExecutor()) {
            try await operation.wait {}
            steps.withLock { $0.append("over") }
        }
        operation.deliver(.open)
        try await waiting.value
        #expect(steps.withLock { $0 } == ["event", "over"])
        slot.withLock { $0 = nil }
    }

    @Test func cancellingTheTaskEndsTheOperation() async {
        let operation = SocketOperation(Data()) { _ in }
        let task = Task { () -> NetworkError? in
            do throws(NetworkError) {
                try await operation.wait { operation.end(.failure(.operationCancelled)) }
                return nil
            } catch {
                return error
            }
        }
        task.cancel()
        #expect(await task.value?.kind == .cancelled)
    }
}

/// Runs each task on the thread that resumes it.
private final class InlineExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}
