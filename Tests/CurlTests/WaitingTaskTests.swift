@testable import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
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
