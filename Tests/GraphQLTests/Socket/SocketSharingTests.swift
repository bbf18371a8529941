@testable import BeagleNetGraphQL
import BeagleNetCurl
import BeagleNetReplay
import BeagleNetTesting
import Foundation
import Testing

/// When connections open, which operations share them, and when they close.
@Suite(.timeLimit(.minutes(5)))
struct SocketSharingTests {
    /// A server that sends each operation the results 1 to `count`.
    private static func counting(_ count: Int, _ subprotocol: String = "graphql-transport-ws") throws -> SocketServer {
        let isOlder = subprotocol == "graphql-ws"
        return try SocketServer(subprotocol) { peer in
            peer.acknowledge()
            while let message = peer.receive() {
                guard message["type"]?.string == (isOlder ? "start" : "subscribe"), let id = message["id"]?.string
                else {
                    continue
                }
                for number in 0..<count { peer.next(id, number + 1, isOlder ? "data" : "next") }
                peer.complete(id)
            }
        }
    }

    @Test func connectionOpensWhenTheFirstResultIsRequested() async throws {
        let server = try Self.counting(1)
        let client = SocketClient().client
        let subscription = try client.subscribe(to: SocketClient.request(), at: server.endpoint())
        #expect(server.requests.isEmpty)
        var results = subscription.makeAsyncIterator()
        #expect(server.requests.isEmpty)
        #expect(try await results.next()?.data?["n"] == 1)
        #expect(try await results.next() == nil)
    }

    @Test func connectionsAreNotSharedAcrossCredentialsOfTheOptions() async throws {
        let server = try Self.counting(1)
        let client = SocketClient().client
        var endpoint = try server.endpoint()
        for token in ["a", "b", "a"] {
            var options = TransferOptions()
            options.authentication = .bearer(token)
            endpoint.options = options
            // Timeouts belong to each operation and don't separate connections.
            endpoint.options?.timeouts.firstByte = token == "a" ? .seconds(7) : .seconds(8)
            var results = try client.subscribe(to: SocketClient.request(), at: endpoint).makeAsyncIterator()
            #expect(try await results.next()?.data?["n"] == 1)
        }
        #expect(server.requests.map { $0["Authorization"] } == ["Bearer a", "Bearer b"])
    }

    @Test func getQueriesShareTheWebSocket() async throws {
        let server = try Self.counting(1)
        let client = SocketClient().client
        var endpoint = try server.endpoint()
        endpoint.queryMethod = .get
        endpoint.documentStyle = .automatic
        for name in ["a", "b"] {
            let response = try await client.response(to: SocketClient.request(.query, name), at: endpoint)
            #expect(try JSONValue(parsing: response.data)["data"]?["n"] == 1)
        }
        #expect(server.requests.map(\.target) == ["/graphql"])
    }

    @Test func idleConnectionLingersAndThenCloses() async throws {
        let clock = ManualClock()
        let server = try Self.counting(1)
        let endpoint = try server.endpoint(GraphQLSocketOptions())
        let client = SocketClient(clock: clock)
        #expect(try await client.subscribe(endpoint, "a").numbers == [1])
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(5))
        clock.advance(by: .seconds(4))
        // An operation that starts meanwhile uses the connection, and the linger time restarts.
        #expect(try await client.subscribe(endpoint, "b").numbers == [1])
        #expect(endpoint.state.sockets.count == 1)
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(5))
        clock.advance(by: .seconds(5))
        await server.received.until { $0.closes.map(\.code.rawValue) == [1000] && $0.ended == 1 }
        #expect(endpoint.state.sockets.count == 0)
        #expect(server.requests.count == 1)
        #expect(try await client.subscribe(endpoint, "c").numbers == [1])
        #expect(server.requests.count == 2)
    }

    @Test func olderProtocolSendsConnectionTerminate() async throws {
        var options = GraphQLSocketOptions()
        options.subprotocol = .graphQLWS
        options.lingerDuration = .zero
        let server = try Self.counting(2, "graphql-ws")
        let client = SocketClient()
        #expect(try await client.subscribe(server.endpoint(options)).numbers == [1, 2])
        await server.received.until { $0.closes.map(\.code.rawValue) == [1000] }
        #expect(server.received.record.messages.last == #"{"type":"connection_terminate"}"#)
    }

    @Test func olderProtocolRunsQueriesAndMutations() async throws {
        var options = GraphQLSocketOptions()
        options.subprotocol = .graphQLWS
        let server = try Self.counting(1, "graphql-ws")
        #expect(try await SocketClient().execute(.query, server.endpoint(options)).get()?["n"] == 1)
        #expect(try await SocketClient().execute(.mutation, server.endpoint(options)).get()?["n"] == 1)
    }

    @Test func lingeringConnectionDoesNotRetainTransportOrClient() async throws {
        let clock = ManualClock()
        let server = try Self.counting(1)
        let endpoint = try server.endpoint(GraphQLSocketOptions())
        weak var transport: CurlTransport?
        weak var client: NetworkClientDefault?
        weak var socket: GraphQLSocket?
        do {
            let own = CurlTransport()
            let one = SocketClient(clock: clock, transport: own)
            (transport, client) = (own, one.client)
            #expect(try await one.subscribe(endpoint).numbers == [1])
            socket = endpoint.state.sockets.all.first
            #expect(socket != nil)
        }
        #expect(transport == nil)
        #expect(client == nil)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        await server.received.until { $0.ended == 1 }
        while socket != nil { await Task.yield() }
        #expect(endpoint.state.sockets.count == 0)
    }

    @Test func differentCredentialsNeverShareAConnection() async throws {
        let server = try Self.counting(1)
        let memory = try server.endpoint()
        for name in ["Ann", "Bob", "Ann"] {
            var endpoint = memory
            endpoint.headers = ["Authorization": "Bearer \(name)"]
            #expect(try await SocketClient.shared.subscribe(endpoint, name).numbers == [1])
        }
        let credentials = server.requests.map { $0["Authorization"] }
        #expect(credentials == ["Bearer Ann", "Bearer Bob"])
        #expect(server.requests.allSatisfy { $0["Content-Type"] == nil && $0["Accept"] == nil })
    }

    @Test func partitionsNeverShareAConnection() async throws {
        let server = try Self.counting(1)
        let endpoint = try server.endpoint()
        for name in ["Ann", "Bob", "Ann"] {
            let subscription = try SocketClient.shared.client.subscribe(to: SocketClient.request(), at: endpoint) {
                $0.partition = name
            }
            for try await _ in subscription {}
        }
        #expect(server.requests.count == 2)
    }

    @Test func differentOptionsNeverShareAConnection() async throws {
        let server = try Self.counting(1)
        let endpoint = try server.endpoint()
        var options = GraphQLSocketOptions()
        options.parameters = { ["who": "Bob"] }
        var other = endpoint
        other.subscriptions = [.webSocket(options)]
        #expect(try await SocketClient.shared.subscribe(endpoint).numbers == [1])
        #expect(try await SocketClient.shared.subscribe(other, "b").numbers == [1])
        #expect(server.requests.count == 2)
        #expect(server.received.record.messages.contains(#"{"type":"connection_init","payload":{"who":"Bob"}}"#))
    }

    @Test func retiredConnectionFinishesItsOperationsAndAcceptsNoMore() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, peer.request.connection)
            if peer.request.connection == 1 { peer.wait(for: gate) }
            peer.complete(id)
            peer.hearAll()
        }
        let endpoint = try server.endpoint()
        let first = Latch()
        async let one = SocketClient.shared.subscribe(endpoint, "a") { event in
            if case .response = event { first.open() }
        }
        await first.wait()
        endpoint.retireConnections()
        #expect(try await SocketClient.shared.subscribe(endpoint, "b").numbers == [2])
        gate.open()
        #expect(try await one.numbers == [1])
        await server.received.until { $0.closes.map(\.code.rawValue) == [1000] }
        endpoint.retireConnections()
        await server.received.until { $0.closes.map(\.code.rawValue) == [1000, 1000] }
    }

    @Test func transportsNeverShareAConnection() async throws {
        let server = try Self.counting(1)
        let endpoint = try server.endpoint()
        #expect(try await SocketClient().subscribe(endpoint).numbers == [1])
        #expect(try await SocketClient().subscribe(endpoint).numbers == [1])
        #expect(server.requests.count == 2)
    }

    @Test func recordingTransportsWithTheSameLogShareAConnection() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sockets-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var logs: [String: RequestLog] = [:]
        for name in ["one", "other"] {
            logs[name] = try RequestLog(directory: folder.appending(path: "\(name).bglog").path)
        }
        let server = try Self.counting(1)
        let endpoint = try server.endpoint()
        let base = CurlTransport()
        for (name, path) in [("a", "one"), ("b", "one"), ("c", "other")] {
            let client = SocketClient(transport: RecordingTransport(base, log: try #require(logs[path])))
            #expect(try await client.subscribe(endpoint, name).numbers == [1])
        }
        #expect(server.requests.count == 2)
    }

    @Test func urlAndParametersAreEvaluatedForEachConnection() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, peer.request.connection)
            if peer.request.connection < 3 { return }
            peer.complete(id)
            peer.hearAll()
        }
        let attempts = Lock(0)
        var options = GraphQLSocketOptions()
        let authority = server.authority
        options.url = {
            let count = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            guard let url = URL(string: "ws://\(authority)/live?attempt=\(count)") else { throw URLError(.badURL) }
            return url
        }
        options.parameters = { ["attempt": .integer(Int64(attempts.withLock { $0 }))] }
        let outcome = try await SocketClient(retries: true).subscribe(server.endpoint(options))
        #expect(outcome.numbers == [1, 2, 3])
        #expect(server.requests.map(\.target) == (1...3).map { "/live?attempt=\($0)" })
        let parameters = server.received.record.messages.filter { $0.contains("connection_init") }
        #expect(parameters == (1...3).map { #"{"type":"connection_init","payload":{"attempt":\#($0)}}"# })
    }

    @Test func credentialsAreNotSentToAnotherOrigin() async throws {
        let server = try Self.counting(1)
        var options = GraphQLSocketOptions()
        let authority = server.authority
        options.url = { try #require(URL(string: "ws://\(authority)/")) }
        let headers = ["Authorization": "Bearer Ann", "X-App": "a"]
        var endpoint = GraphQLEndpoint(try #require(URL(string: "http://example.invalid/graphql")), headers: headers)
        endpoint.subscriptions = [.webSocket(options)]
        #expect(try await SocketClient().subscribe(endpoint).numbers == [1])
        #expect(server.requests.map { $0["Authorization"] } == [nil])
        #expect(server.requests.map { $0["X-App"] } == ["a"])
    }

    @Test func parametersAreNotSentToAnotherOrigin() async throws {
        var options = GraphQLSocketOptions.lasting
        options.parameters = { ["who": "Ann"] }
        let (home, elsewhere) = (try Self.counting(1), try Self.counting(1))
        for server in [home, elsewhere] {
            let dependencies = BeagleDependencies()
            dependencies.logger = OffLogger()
            dependencies.interceptors = [TransformInterceptor { $0.head.authority = server.authority }]
            let client = NetworkClientDefault(dependencies: dependencies)
            for try await _ in try client.subscribe(to: SocketClient.request(), at: home.endpoint(options)) {}
        }
        #expect(home.received.record.messages.first == #"{"type":"connection_init","payload":{"who":"Ann"}}"#)
        #expect(elsewhere.received.record.messages.first == #"{"type":"connection_init"}"#)
    }

    @Test func connectionWithoutParametersIsNotSharedWithOneThatHasThem() async throws {
        var options = GraphQLSocketOptions.lasting
        options.parameters = { ["who": "Ann"] }
        let (home, elsewhere) = (try Self.counting(1), try Self.counting(1))
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        let (from, to) = (home.authority, elsewhere.authority)
        dependencies.interceptors = [
            TransformInterceptor { if $0.head.authority == from { $0.head.authority = to } }
        ]
        let client = NetworkClientDefault(dependencies: dependencies)
        var endpoint = try home.endpoint(options)
        for try await _ in try client.subscribe(to: SocketClient.request(), at: endpoint) {}
        endpoint.target = try elsewhere.endpoint(options).target
        for try await _ in try client.subscribe(to: SocketClient.request(), at: endpoint) {}
        let messages = elsewhere.received.record.messages
        #expect(messages.contains(#"{"type":"connection_init"}"#))
        #expect(messages.contains(#"{"type":"connection_init","payload":{"who":"Ann"}}"#))
    }

    @Test func errorOfTheParametersFunctionIsReported() async throws {
        struct NoToken: Error {}
        let server = try Self.counting(1)
        var options = GraphQLSocketOptions()
        options.parameters = { throw NoToken() }
        let error = try #require(try await SocketClient().execute(.mutation, server.endpoint(options)).failure)
        #expect(error.underlying is NoToken)
        #expect(!error.mayHaveReachedServer)
        options.parameters = { [1, 2] }
        let other = try #require(try await SocketClient().execute(.mutation, server.endpoint(options)).failure)
        #expect(other.kind == .badConfiguration)
        #expect(server.requests.isEmpty)
    }

    @Test func manyOperationsShareOneConnection() async throws {
        let server = try Self.counting(3)
        let endpoint = try server.endpoint()
        let client = SocketClient()
        try await withThrowingTaskGroup(of: [Int].self) { group in
            for number in 0..<1000 {
                group.addTask { try await client.subscribe(endpoint, "operation\(number)").numbers }
            }
            for try await numbers in group { #expect(numbers == [1, 2, 3]) }
        }
        #expect(server.requests.count == 1)
        let ids = server.received.record.messages.compactMap { try? JSONValue(parsing: $0)["id"]?.string }
        #expect(ids.count == 1000)
        #expect(Set(ids).count == 1000)
    }

    @Test func cancellingSendsCompleteAndEndsDelivery() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, 1)
            peer.receive("complete")
            peer.next(id, 2)
            let other = peer.operation()
            peer.next(other, 3)
            peer.complete(other)
            peer.hearAll()
        }
        let endpoint = try server.endpoint()
        let client = SocketClient()
        let received = Lock(0)
        let first = Latch()
        let operation = try client.client.operationOverSubscriptionTransport(SocketClient.request(), at: endpoint)
        let task = Task {
            try await client.client.run(operation) { result in
                guard result.response != nil else { return }
                received.withLock { $0 += 1 }
                first.open()
            }
        }
        await first.wait()
        task.cancel()
        await #expect(throws: NetworkError.self) { try await task.value }
        #expect(try await client.subscribe(endpoint, "b").numbers == [3])
        #expect(received.withLock { $0 } == 1)
        #expect(server.received.record.messages.contains(#"{"id":"1","type":"complete"}"#))
        #expect(server.requests.count == 1)
    }

    @Test func completeMessagesOfBothSidesMayCross() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, 1)
            peer.wait(for: gate)
            // The client has sent `complete`, which the server hasn't read yet.
            peer.next(id, 2)
            peer.complete(id)
            let other = peer.operation()
            peer.next(other, 3)
            peer.complete(other)
            peer.hearAll()
        }
        let endpoint = try server.endpoint()
        let client = SocketClient()
        let received = Lock(0)
        let first = Latch()
        let operation = try client.client.operationOverSubscriptionTransport(SocketClient.request(), at: endpoint)
        let task = Task {
            try await client.client.run(operation) { result in
                guard result.response != nil else { return }
                received.withLock { $0 += 1 }
                first.open()
            }
        }
        await first.wait()
        task.cancel()
        await #expect(throws: NetworkError.self) { try await task.value }
        async let other = client.subscribe(endpoint, "b")
        gate.open()
        #expect(try await other.numbers == [3])
        #expect(received.withLock { $0 } == 1)
        #expect(server.received.record.messages.contains(#"{"id":"1","type":"complete"}"#))
        #expect(server.received.record.connections == 1)
    }

    @Test func cancellingWhileConnectingClosesTheConnection() async throws {
        let server = try LoopbackServer { _ in .stall }
        var endpoint = GraphQLEndpoint(try #require(URL(string: server.url + "/graphql")))
        var options = GraphQLSocketOptions()
        options.lingerDuration = .zero
        endpoint.subscriptions = [.webSocket(options)]
        let client = SocketClient(retries: true)
        let task = Task { [endpoint] in try await client.subscribe(endpoint) }
        #expect(await server.until { $0.requestCount == 1 })
        task.cancel()
        #expect(try await task.value.error?.kind == .cancelled)
        #expect(await server.until { $0.openConnections == 0 })
        #expect(server.requests.count == 1)
        while endpoint.state.sockets.count > 0 { await Task.yield() }
    }

    @Test func incrementalResultsAreMerged() async throws {
        let pieces = [
            #"{"data":{"n":1},"pending":[{"id":"0","path":[]}],"hasNext":true}"#,
            #"{"incremental":[{"id":"0","data":{"late":2}}],"completed":[{"id":"0"}],"hasNext":false}"#,
            #"{"data":{"n":3},"hasNext":false}"#,
        ]
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            for piece in pieces { peer.say(#"{"id":"\#(id)","type":"next","payload":\#(piece)}"#) }
            peer.complete(id)
            peer.hearAll()
        }
        let request = GraphQLRequest(query: "subscription { n ... @defer { late } }", kind: .subscription)
        let received = await EventTexts(
            try SocketClient.shared.client.subscribe(to: request, at: server.endpoint()).events
        )
        #expect(received.events == ["open", #"{"n":1}"#, #"{"late":2,"n":1}"#, #"{"n":3}"#])
        #expect(received.error == nil)
    }

    @Test func acknowledgementIsReportedOncePerConnectionBeforeItsOperations() async throws {
        let server = try SocketServer { peer in
            peer.receive("connection_init")
            let isFirst = peer.received.record.connections == 1
            peer.say(#"{"type":"connection_ack"\#(isFirst ? #","payload":{"session":[1]}"# : "")}"#)
            if isFirst { peer.say(#"{"type":"connection_ack","payload":{"session":[2]}}"#) }
            let id = peer.operation()
            peer.next(id, 1)
            if isFirst { return peer.reset() }
            peer.complete(id)
            peer.hearAll()
        }
        let received = Lock<[String]>([])
        var options = GraphQLSocketOptions.lasting
        options.onEvent = { event in
            if case .connected(let payload, _) = event { received.withLock { $0.append(payload?.words ?? "nothing") } }
        }
        let outcome = try await SocketClient(retries: true).subscribe(server.endpoint(options)) { event in
            if case .open = event { received.withLock { $0.append("open") } }
        }
        #expect(outcome.error == nil)
        #expect(outcome.numbers == [1, 1])
        #expect(received.withLock { $0.filter { $0 != "open" } } == [#"{"session":[1]}"#, "nothing"])
        #expect(received.withLock { $0.first } == #"{"session":[1]}"#)
    }

    /// A server that cannot parse one operation may close the connection of all.
    @Test func invalidDocumentIsNotSent() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, 1)
            peer.complete(id)
            peer.hearAll()
        }
        let endpoint = try server.endpoint()
        let client = SocketClient()
        let held = try client.client.holdWebSocket(of: endpoint)
        await server.received.until { $0.count("connection_init") == 1 }
        let broken = GraphQLRequest(query: "subscription { n", kind: .subscription)
        let error = await #expect(throws: NetworkError.self) {
            for try await _ in try client.client.subscribe(to: broken, at: endpoint) {}
        }
        #expect(error?.kind == .badRequest)
        #expect(try await client.subscribe(endpoint).numbers == [1])
        #expect(server.received.record.count("subscribe") == 1)
        #expect(server.requests.count == 1)
        held.cancel()
    }

    /// Each reader has its own buffer.
    @Test func slowReaderDoesNotBlockOthers() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let slow = peer.operation()
            let quick = peer.operation()
            for number in 1...50 {
                peer.next(slow, number)
                peer.next(quick, number)
            }
            peer.complete(slow)
            peer.complete(quick)
            peer.hearAll()
        }
        let endpoint = try server.endpoint()
        let client = SocketClient()
        let request = SocketClient.request(.subscription, "slow")
        let subscription = try client.client.subscribe(to: request, at: endpoint, buffering: .newest(2))
        var slow = subscription.events.makeAsyncIterator()
        #expect(try await slow.next()?.words == "open")
        #expect(try await client.subscribe(endpoint, "quick").numbers == Array(1...50))
        var words: [String] = []
        while let event = try await slow.next() { words.append(event.words) }
        #expect(words == ["missed 48", #"{"n":49}"#, #"{"n":50}"#])
    }

    @Test(arguments: [300]) func operationsOfALostConnectionShareEachRetryAttempt(count: Int) async throws {
        let attempts = 6
        let server = try SocketServer { peer in
            if peer.received.record.connections > 1 { return }
            peer.acknowledge()
            for _ in 0..<count { _ = peer.operation() }
            peer.reset()
        }
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        let backoff = Backoff(base: .milliseconds(50), cap: .milliseconds(400), limit: attempts)
        dependencies.interceptors = [RetryInterceptor(backoff: backoff, subscriptionBackoff: backoff)]
        let client = NetworkClientDefault(dependencies: dependencies)
        let endpoint = try server.endpoint()
        let heards = try await withThrowingTaskGroup(of: EventTexts.self) { group in
            for number in 0..<count {
                group.addTask {
                    let request = SocketClient.request(.subscription, "n\(number)")
                    return await EventTexts(try client.subscribe(to: request, at: endpoint).events)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(heards.count == count)
        #expect(heards.allSatisfy { $0.error?.kind == .network })
        // A single operation makes this many attempts. A few more are possible if threads wake up late.
        #expect(server.requests.count <= attempts + 4)
    }

    @Test func operationCancelledBeforeTheAcknowledgementIsNotSent() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try SocketServer { peer in
            peer.receive("connection_init")
            peer.wait(for: gate)
            peer.say(#"{"type":"connection_ack"}"#)
            let id = peer.operation()
            peer.next(id, 1)
            peer.complete(id)
            peer.hearAll()
        }
        let endpoint = try server.endpoint()
        let client = SocketClient()
        let cancelled = Task { try await client.execute(.mutation, endpoint) }
        await server.received.until { $0.count("connection_init") == 1 }
        async let other = client.subscribe(endpoint)
        cancelled.cancel()
        #expect(try await cancelled.value.failure?.kind == .cancelled)
        gate.open()
        #expect(try await other.numbers == [1])
        #expect(server.received.record.count("subscribe") == 1)
        #expect(server.received.record.count("complete") == 0)
    }

    @Test func manyResultsArriveCompleteAndInOrder() async throws {
        let server = try Self.counting(20_000)
        let subscription = try SocketClient().client.subscribe(
            to: SocketClient.request(),
            at: server.endpoint(),
            buffering: .failing(20_000)
        )
        var expected: Int64 = 1
        for try await result in subscription {
            guard result.data?["n"]?.integer == expected else { break }
            expected += 1
        }
        #expect(expected == 20_001)
    }

    @Test func manyPingsGetPongsWhileTheServerDoesNotRead() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            // The server reads no pongs until all pings are sent.
            for number in 1...20_000 { peer.say(#"{"type":"ping","payload":{"n":\#(number)}}"#) }
            while let message = peer.receive(), message["payload"]?["n"]?.integer != 20_000 {}
            peer.complete(id)
            peer.hearAll()
        }
        #expect(try await SocketClient().subscribe(server.endpoint()).error == nil)
    }
}
