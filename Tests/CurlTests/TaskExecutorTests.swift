@testable import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Tasks that run on the transport's own thread.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct TaskExecutorTests {
    let transport = CurlTransport()

    @Test func taskRunsOnTheThreadOfTheCompletions() async throws {
        let server = try LoopbackServer(.response(200))
        let request = try server.request()
        let ofCompletion = await withCheckedContinuation { continuation in
            transport.perform(request) { _ in continuation.resume(returning: currentThread()) }
        }

        let (before, after) = try await withTaskExecutorPreference(transport) {
            let before = currentThread()
            _ = try await transport.perform(request)
            return (before, currentThread())
        }

        #expect(before == ofCompletion)
        #expect(after == ofCompletion)
        #expect(currentThread() != ofCompletion)
    }

    @Test func concurrentTasksReceiveTheirResponses() async throws {
        let server = try LoopbackServer(.response(200, [:], "here"))
        let request = try server.request()
        let answers = try await withTaskExecutorPreference(transport) {
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<16 { group.addTask { try await transport.perform(request).text() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(answers == Array(repeating: "here", count: 16))
    }

    @Test func taskContinuesAfterTheTransportIsShutDown() async throws {
        let server = try LoopbackServer(.stall)
        let request = try server.request()
        let failure = try await withTaskExecutorPreference(transport) {
            async let failure = transport.failure(of: request)
            await server.until { $0.requestCount == 1 }
            transport.shutDown()
            return try await failure
        }
        #expect(failure.kind == .shutdown)
    }

    /// A thread that a job started would never end.
    @Test func jobDoesNotStartTheTransportsThread() async throws {
        let server = try LoopbackServer(.response(200))
        let request = try server.request()
        await withTaskExecutorPreference(transport) {
            await Task.yield()
            #expect(transport.runningOwner(for: .ordinary) == nil)
        }
        try await withTaskExecutorPreference(transport) {
            _ = try await transport.perform(request)
            #expect(transport.runningOwner(for: .ordinary) != nil)
            transport.shutDown()
            for _ in 0..<3 { await Task.yield() }
            #expect(transport.runningOwner(for: .ordinary) == nil)
            #expect(try await transport.perform(request).status == .ok)
        }
    }
}

/// Returns the current thread as text, because its type depends on the platform.
private func currentThread() -> String {
    "\(pthread_self())"
}
