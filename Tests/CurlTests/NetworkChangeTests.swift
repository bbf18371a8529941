import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// A transport that is notified of a network change.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct NetworkChangeTests {
    private func makeTransport() -> (CurlTransport, AsyncStream<Void>.Continuation) {
        let (changes, continuation) = AsyncStream<Void>.makeStream()
        var configuration = CurlTransport.Configuration()
        configuration.networkChanges = changes
        return (CurlTransport(configuration), continuation)
    }

    @Test func networkChangeClosesIdleConnections() async throws {
        let server = try LoopbackServer(.response(200))
        let (transport, changes) = makeTransport()
        for round in 1...3 {
            let first = try await transport.perform(server.request())
            let second = try await transport.perform(server.request())
            #expect(!first.metrics.isConnectionReused && second.metrics.isConnectionReused)
            changes.yield()
            #expect(await server.until { $0.connections == round && $0.openConnections == 0 })
        }
    }

    @Test(arguments: [false, true])
    func runningTransferCompletesAndItsConnectionIsNotReused(isRedirected: Bool) async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer { request in
            guard request.target == "/slow" else { return .response(200, [:], "ok") }
            let answer =
                isRedirected ? LoopbackServer.Response.response(302, ["Location": "/on"]) : .response(200, [:], "ok")
            return .sequence([.gate(gate), answer])
        }
        let (transport, changes) = makeTransport()
        async let slow = transport.perform(server.request(.get, "/slow"))
        await server.until { $0.requestCount == 1 }
        _ = try await transport.perform(server.request(.get, "/idle"))
        changes.yield()
        // The idle connection is closed, the busy one is not.
        #expect(await server.until { $0.connections == 2 && $0.openConnections == 1 })
        gate.open()
        #expect(try await slow.text() == "ok")
        #expect(try await slow.metrics.isConnectionReused == false)
        #expect(await server.until { $0.openConnections == 0 })
        #expect(server.record.connections == (isRedirected ? 3 : 2))
    }

    @Test func listeningForChangesDoesNotRetainTheTransport() async throws {
        let server = try LoopbackServer(.response(200))
        weak var released: CurlTransport?
        let changes: AsyncStream<Void>.Continuation
        do {
            let (transport, continuation) = makeTransport()
            changes = continuation
            released = transport
            _ = try await transport.perform(server.request())
        }
        #expect(released == nil)
        #expect(await server.until { $0.openConnections == 0 })
        changes.yield()
    }
}
