@testable import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(1)))
struct WaitingTaskTests {
    @Test func aTaskOfThePoolHasItsPriority() async {
        // Above ours, which it would be given while it is waited for.
        #expect(await Task.detached(priority: .high) { await poolPriority() }.value == .high)
    }

    @Test func aTaskOfAnActorHasNone() async {
        #expect(await onTheMainActor() == nil)
    }

    @Test func aTaskWithAnExecutorOfItsOwnHasNone() async {
        let transport = CurlTransport()
        #expect(await withTaskExecutorPreference(transport) { await poolPriority() } == nil)
    }

    @Test func tasksOfAllKindsGetTheAnswersOfOneTurn() async throws {
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

    /// One that is resumed inside of the loop may resume another, which is not forgotten.
    @Test func whoIsResumedAtOnceMayResumeAnother() async throws {
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

/// What is seen of the task that calls this, while it waits.
nonisolated(nonsending) private func poolPriority() async -> TaskPriority? {
    let actor = #isolation
    var priority: TaskPriority?
    await suspend {
        priority = WaitingTask($0, on: actor).poolPriority
        $0.resume()
    } onCancel: {
    }
    return priority
}

/// Waits until what it puts there is resumed.
nonisolated(nonsending) private func wait(_ place: Lock<WaitingTask?>) async {
    let actor = #isolation
    await suspend { continuation in
        place.withLock { $0 = WaitingTask(continuation, on: actor) }
    } onCancel: {
    }
}

/// Runs what is resumed at once, where it is resumed.
private final class InlineExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}
