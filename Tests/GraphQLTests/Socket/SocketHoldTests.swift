@testable import BeagleNetGraphQL
import BeagleNetTesting
import Foundation
import Testing

/// WebSockets that the app holds open or terminates.
@Suite(.timeLimit(.minutes(5)))
struct SocketHoldTests {
    /// A server that sends one result for each operation.
    private static func answering() throws -> SocketServer {
        try SocketServer { peer in
            peer.acknowledge()
            while let message = peer.receive() {
                guard message["type"]?.string == "subscribe", let id = message["id"]?.string else { continue }
                peer.next(id, 1)
                peer.complete(id)
            }
        }
    }

    @Test func heldWebSocketIsOpenBeforeTheFirstOperationAndAfterTheLast() async throws {
        let server = try Self.answering()
        var options = GraphQLSocketOptions()
        options.lingerDuration = .zero
        let endpoint = try server.endpoint(options)
        let client = SocketClient()
        let held = try client.client.holdWebSocket(of: endpoint)
        await server.received.until { $0.count("connection_init") == 1 }
        for name in ["a", "b"] { #expect(try await client.subscribe(endpoint, name).numbers == [1]) }
        #expect(server.requests.count == 1)
        #expect(server.received.record.count("subscribe") == 2)
        #expect(server.received.record.closes.isEmpty)
        held.cancel()
        await server.received.until { $0.closes.map(\.code.rawValue) == [1000] }
        #expect(server.received.record.count("complete") == 0)
    }

    @Test func lostHeldWebSocketIsReplaced() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            if peer.request.connection < 3 { return peer.reset() }
            peer.hearAll()
        }
        let client = SocketClient(retries: true)
        let held = try client.client.holdWebSocket(of: server.endpoint())
        await server.received.until { $0.connections == 3 && $0.count("connection_init") == 3 }
        held.cancel()
    }

    @Test func onEndIsCalledIfTheWebSocketIsGivenUp() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            peer.close(4400, "no")
        }
        let ends = AsyncStream.makeStream(of: NetworkError.self)
        let client = SocketClient(retries: true).client
        let held = try client.holdWebSocket(of: server.endpoint(), onEnd: { ends.continuation.yield($0) })
        var received = ends.stream.makeAsyncIterator()
        let error = await received.next()
        #expect(error?.kind == .closed)
        #expect(error?.webSocketClose?.code.rawValue == 4400)
        #expect(server.requests.count == 1)
        held.cancel()
    }

    @Test func onEndIsCalledIfTheScopeIsClosed() async throws {
        let server = try Self.answering()
        let client = SocketClient().client
        let scope = OperationScope()
        client.container.operationScope = scope
        let ends = AsyncStream.makeStream(of: NetworkError.self)
        let held = try client.holdWebSocket(of: server.endpoint(), onEnd: { ends.continuation.yield($0) })
        await server.received.until { $0.count("connection_init") == 1 }
        scope.close()
        var received = ends.stream.makeAsyncIterator()
        #expect(await received.next()?.isCancelled == true)
        held.cancel()
    }

    @Test func onEndIsNotCalledAfterCancelling() async throws {
        let server = try Self.answering()
        var options = GraphQLSocketOptions()
        options.lingerDuration = .zero
        let ends = Lock(0)
        let held = try SocketClient.shared.client.holdWebSocket(
            of: server.endpoint(options),
            onEnd: { _ in ends.withLock { $0 += 1 } }
        )
        await server.received.until { $0.count("connection_init") == 1 }
        held.cancel()
        await server.received.until { $0.ended == 1 }
        #expect(ends.withLock { $0 } == 0)
    }

    /// These failures are not the server's fault.
    @Test func terminatingWebSocketsDoesNotOpenTheCircuit() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            peer.hearAll()
        }
        let endpoint = try server.endpoint()
        let client = SocketClient()
        client.client.container.interceptors = [CircuitBreakerInterceptor(after: 1)]
        for count in 1...3 {
            async let result = client.execute(.query, endpoint)
            await server.received.until { $0.count("subscribe") == count }
            endpoint.terminateWebSockets()
            #expect(try await result.failure?.kind == .network)
        }
    }

    @Test func holdingAnEndpointWithoutWebSocketsThrows() throws {
        var endpoint = try Self.answering().endpoint()
        endpoint.subscriptions = [.events()]
        let error = #expect(throws: NetworkError.self) { try SocketClient.shared.client.holdWebSocket(of: endpoint) }
        #expect(error?.kind == .badConfiguration)
    }

    @Test func retiredHeldWebSocketIsReplaced() async throws {
        let server = try Self.answering()
        let endpoint = try server.endpoint()
        let client = SocketClient(retries: true)
        let held = try client.client.holdWebSocket(of: endpoint)
        await server.received.until { $0.count("connection_init") == 1 }
        endpoint.retireConnections()
        await server.received.until { $0.closes.map(\.code.rawValue) == [1000] && $0.count("connection_init") == 2 }
        #expect(endpoint.state.sockets.count == 1)
        held.cancel()
    }

    @Test func subscriptionIsRetriedIfTheAppTerminatesItsWebSocket() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, peer.request.connection)
            if peer.request.connection > 1 { peer.complete(id) }
            peer.hearAll()
        }
        let endpoint = try server.endpoint()
        let outcome = try await SocketClient(retries: true).subscribe(endpoint) { event in
            if case .response(let response) = event, response.data?["n"] == 1 { endpoint.terminateWebSockets() }
        }
        #expect(outcome.numbers == [1, 2])
        #expect(outcome.interruptions.map(\.kind) == [.network])
        #expect(server.received.record.closes.isEmpty)
        await server.received.until { $0.ended == 1 }
    }

    @Test func mutationIsNotRetriedIfTheAppTerminatesItsWebSocket() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            peer.hearAll()
        }
        let endpoint = try server.endpoint()
        async let result = SocketClient(retries: true).execute(.mutation, endpoint)
        await server.received.until { $0.count("subscribe") == 1 }
        endpoint.terminateWebSockets()
        let error = try #require(try await result.failure)
        #expect(error.kind == .network)
        #expect(error.mayHaveReachedServer)
        #expect(server.requests.count == 1)
    }
}
