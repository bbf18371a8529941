import BeagleNet
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoadGroupTests {
    /// A load that ends when the test says so.
    private final class HeldLoad: Sendable {
        let began = AsyncStream.makeStream(of: Void.self)
        let end = AsyncStream.makeStream(of: Void.self)

        func run(_ text: String) async throws -> String {
            began.continuation.yield()
            for await _ in end.stream { return text }
            throw CancellationError()
        }

        func hasBegun() async { for await _ in began.stream { break } }
    }

    @Test func loadBesideARunningOneIsDropped() async throws {
        let (group, held) = (ViewClient.LoadGroup(.drop), HeldLoad())
        let first = Task { try await group.run { try await held.run("first") } }
        await held.hasBegun()
        #expect(group.isLoading)
        #expect(try await group.run { "second" } == nil)
        held.end.continuation.yield()
        #expect(try await first.value == "first")
        #expect(!group.isLoading)
        #expect(try await group.run { "third" } == "third")
    }

    @Test func runningLoadIsReplaced() async throws {
        let (group, held) = (ViewClient.LoadGroup(.replace), HeldLoad())
        let first = Task { try await group.run { try await held.run("first") } }
        await held.hasBegun()
        #expect(try await group.run { "second" } == "second")
        #expect(try await first.value == nil)
        #expect(!group.isLoading)
    }

    @Test func loadsAreQueuedInOrder() async throws {
        let (group, held) = (ViewClient.LoadGroup(.queue), HeldLoad())
        let order = Lock<[String]>([])
        let first = Task { try await group.run { try await held.run("first") } }
        await held.hasBegun()
        let others = ["second", "third"].map { name in
            Task {
                try await group.run {
                    order.withLock { $0.append(name) }
                    return name
                }
            }
        }
        held.end.continuation.yield()
        #expect(try await first.value == "first")
        for other in others { _ = try await other.value }
        #expect(Set(order.withLock { $0 }) == ["second", "third"])
        #expect(!group.isLoading)
    }

    @Test(arguments: [ViewClient.LoadGroup.Rule.drop, .replace, .queue]) func failureDoesNotAffectTheNextLoad(
        _ rule: ViewClient.LoadGroup.Rule
    ) async throws {
        let group = ViewClient.LoadGroup(rule)
        for _ in 0..<3 {
            await #expect(throws: NetworkError.self) {
                _ = try await group.run { () -> Int in throw NetworkError(.network, during: .body, "lost") }
            }
        }
        #expect(try await group.run { 1 } == 1)
        #expect(!group.isLoading)
    }

    @Test func cancelledCallerCancelsItsLoad() async throws {
        let (group, held) = (ViewClient.LoadGroup(.queue), HeldLoad())
        let first = Task { try await group.run { try await held.run("first") } }
        await held.hasBegun()
        first.cancel()
        await #expect(throws: NetworkError.self) { _ = try await first.value }
        #expect(!group.isLoading)
    }

    @Test func cancelledLoadInTheQueueNeverRuns() async throws {
        let (group, held) = (ViewClient.LoadGroup(.queue), HeldLoad())
        let first = Task { try await group.run { try await held.run("first") } }
        await held.hasBegun()
        let hasRun = Lock(false)
        let second = Task { try await group.run { hasRun.withLock { $0 = true } } }
        second.cancel()
        await #expect(throws: NetworkError.self) { _ = try await second.value }
        held.end.continuation.yield()
        #expect(try await first.value == "first")
        #expect(!hasRun.withLock { $0 })
        #expect(!group.isLoading)
    }

    @Test(arguments: [ViewClient.LoadGroup.Rule.drop, .replace, .queue]) func everyLoadEndsOnce(
        _ rule: ViewClient.LoadGroup.Rule
    ) async {
        let group = ViewClient.LoadGroup(rule)
        let ends = Lock(0)
        await withTaskGroup { tasks in
            for number in 0..<60 {
                tasks.addTask {
                    do {
                        _ = try await group.run {
                            await Task.yield()
                            if number % 3 == 0 { throw NetworkError(.network, during: .body, "lost") }
                        }
                    } catch {}
                    ends.withLock { $0 += 1 }
                }
            }
        }
        #expect(ends.withLock { $0 } == 60)
        #expect(!group.isLoading)
    }
}
