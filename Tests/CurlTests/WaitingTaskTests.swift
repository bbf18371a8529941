@testable import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct WaitingTaskTests {
    @Test func taskOfThePoolHasItsPriority() async {
        // Higher than the priority of this task, which the awaited task would otherwise inherit.
        #expect(await Task.detached(priority: .high) { await poolPriority() }.value == .high)
    }

    @Test func taskOfAnActorHasNoPoolPriority() async {
        #expect(await onTheMainActor() == nil)
    }

    @Test func taskWithItsOwnExecutorHasNoPoolPriority() async {
        let transport = CurlTransport()
        #expect(await withTaskExecutorPreference(transport) { await poolPriority() } == nil)
    }

    @Test func tasksOfAllKindsReceiveTheirResponses() async throws {
        let server = try LoopbackServer(.response(200, [:], "here"))
        let request = try server.request()
        let transport = CurlTransport()
        let ask: @Sendable () async throws -> String = { try await transport.perform(request).text() }
        var tasks: [Task<String, any Error>] = []
        for _ in 0..<16 {
            tasks.append(Task { try await ask() })
            tasks.append(Task { @MainActor in try await ask() })
            tasks.append(Task(executorPreference: transport) { try await ask() })
        }
        var answers: [String] = []
        for task in tasks { answers.append(try await task.value) }
        #expect(answers == Array(repeating: "here", count: 48))
    }

    /// A task that is resumed inside of the loop can resume another task, which is not lost.
    @Test func taskResumedInlineCanResumeAnother() async throws {
        let server = try LoopbackServer(.response(200, [:], "here"))
        let transport = CurlTransport()
        _ = try await transport.perform(try server.request())
        let (first, other) = (Lock<WaitingTask?>(nil), Lock<WaitingTask?>(nil))
        let resumed = Task { @MainActor in await wait(other) }
        let resuming = Task(executorPreference: InlineExecutor()) {
            await wait(first)
            other.withLock { $0 }?.resume()
        }
        while first.withLock({ $0 == nil }) || other.withLock({ $0 == nil }) { await Task.yield() }
        await Task(executorPreference: transport) { first.withLock { $0 }?.resume() }.value
        await resuming.value
        await resumed.value
    }

    @MainActor private func onTheMainActor() async -> TaskPriority? { await poolPriority() }
}

/// Returns the pool priority of the calling task, as seen while it is suspended.
nonisolated(nonsending) private func poolPriority() async -> TaskPriority? {
    let actor = #isolation
    var priority: TaskPriority?
    await suspend {
        priority = WaitingTask($0, on: actor).poolPriority.map { TaskPriority(rawValue: $0) }
        $0.resume()
    } onCancel: {
    }
    return priority
}

/// Stores the calling task in a place and suspends it until it is resumed.
nonisolated(nonsending) private func wait(_ place: Lock<WaitingTask?>) async {
    let actor = #isolation
    await suspend { continuation in
        place.withLock { $0 = WaitingTask(continuation, on: actor) }
    } onCancel: {
    }
}

/// An executor that runs a job immediately on the thread that enqueues it.
private final class InlineExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}
