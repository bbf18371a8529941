@testable import BeagleNetGraphQL
import BeagleNetHTTP
@testable import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Misbehaving servers and lost connections.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct SocketFaultTests {
    // MARK: Connecting

    @Test func missingAcknowledgementTimesOut() async throws {
        let clock = ManualClock()
        let server = try SocketServer { $0.hearAll() }
        let endpoint = try server.endpoint()
        async let outcome = SocketClient(clock: clock).subscribe(endpoint)
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(10))
        clock.advance(by: .seconds(10))
        let error = try #require(try await outcome.error)
        #expect(error.kind == .timeout)
        #expect(!error.mayHaveReachedServer)
        await server.received.until { $0.closes.map(\.code.rawValue) == [4504] }
        #expect(server.received.record.count("subscribe") == 0)
        #expect(endpoint.state.sockets.count == 0)
    }

    @Test func secondAcknowledgementIsIgnored() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, 1)
            peer.say(#"{"type":"connection_ack"}"#)
            peer.next(id, 2)
            peer.complete(id)
            peer.hearAll()
        }
        let outcome = try await SocketClient().subscribe(server.endpoint())
        #expect(outcome.numbers == [1, 2])
        #expect(server.received.record.count("subscribe") == 1)
    }

    @Test func resultBeforeTheAcknowledgementIsAProtocolError() async throws {
        let server = try SocketServer { peer in
            peer.receive("connection_init")
            peer.next("1", 1)
            peer.hearAll()
        }
        let outcome = try await SocketClient(retries: true).subscribe(server.endpoint())
        #expect(outcome.error?.kind == .protocol)
        #expect(outcome.error?.mayHaveReachedServer == false)
        #expect(outcome.numbers.isEmpty)
        await server.received.until { $0.closes.map(\.code.rawValue) == [4004] }
    }

    @Test func pongRepeatsThePingPayloadEvenBeforeTheAcknowledgement() async throws {
        let server = try SocketServer { peer in
            peer.receive("connection_init")
            peer.say(#"{"type":"ping","payload":{"a": [1]}}"#)
            peer.receive("pong")
            peer.say(#"{"type":"connection_ack"}"#)
            let id = peer.operation()
            peer.say(#"{"type":"ping"}"#)
            peer.receive("pong")
            peer.complete(id)
            peer.hearAll()
        }
        #expect(try await SocketClient().subscribe(server.endpoint()).error == nil)
        let pongs = server.received.record.messages.filter { $0.contains("pong") }
        #expect(pongs == [#"{"type":"pong","payload":{"a": [1]}}"#, #"{"type":"pong"}"#])
    }

    @Test(arguments: [400, 404, 405, 406, 415, 426, 501, 200])
    func statusOfAServerWithoutWebSocketsIsUnsupported(status: Int) async throws {
        let server = try LoopbackServer(.response(status))
        let error = try #require(try await refusal(of: server))
        #expect(error.kind == .unsupported)
        #expect(error.response?.status.code == status)
    }

    @Test(arguments: [401, 403, 302, 500, 503], [GraphQLSocketOptions.Subprotocol.graphQLTransportWS, .graphQLWS])
    func otherHandshakeStatusIsAStatusError(
        status: Int,
        subprotocol: GraphQLSocketOptions.Subprotocol
    ) async throws {
        let server = try LoopbackServer(.response(status, ["X-Why": "this"], "why"))
        let error = try #require(try await refusal(of: server, to: subprotocol))
        #expect(server.requests.map { $0["Sec-WebSocket-Protocol"] } == [subprotocol.rawValue])
        #expect(error.kind == .status)
        #expect(error.response?.status.code == status)
        #expect(error.message.contains("\(status)"))
        #expect(error.data == Data("why".utf8))
        #expect(!error.mayHaveReachedServer)
    }

    private func refusal(
        of server: LoopbackServer,
        to subprotocol: GraphQLSocketOptions.Subprotocol = .graphQLTransportWS
    ) async throws -> NetworkError? {
        var options = GraphQLSocketOptions()
        options.subprotocol = subprotocol
        var endpoint = GraphQLEndpoint(try #require(URL(string: server.url)))
        endpoint.subscriptions = [.webSocket(options)]
        return try await SocketClient().subscribe(endpoint).error
    }

    @Test(arguments: [nil, "graphql-ws"])
    func otherSubprotocolIsUnsupported(subprotocol: String?) async throws {
        let server = try SocketServer(subprotocol) { $0.hearAll() }
        let error = try #require(try await SocketClient().subscribe(server.endpoint()).error)
        #expect(error.kind == .unsupported)
        #expect(server.received.record.messages.isEmpty)
    }

    @Test func olderProtocolIsTriedIfTheNewerIsUnknown() async throws {
        let server = try SocketServer("graphql-ws") { peer in
            peer.acknowledge()
            let id = peer.operation("start")
            peer.next(id, 1, "data")
            peer.complete(id)
            peer.hearAll()
        }
        var older = GraphQLSocketOptions()
        older.subprotocol = .graphQLWS
        var endpoint = try server.endpoint()
        endpoint.subscriptions = [.webSocket(), .webSocket(older)]
        #expect(try await SocketClient().subscribe(endpoint).numbers == [1])
        #expect(try await SocketClient().subscribe(endpoint).numbers == [1])
        // The refusal is remembered.
        #expect(server.requests.count == 3)
    }

    /// The server speaks only the older protocol: it says so in the handshake or refuses the newer one. It runs
    /// requests for other subscription transports as queries.
    @Test(arguments: [true, false])
    func olderProtocolIsTriedLastByDefault(acceptsAll: Bool) async throws {
        let server = try LoopbackServer { request in
            guard let key = request["Sec-WebSocket-Key"] else {
                return .response(200, ["Content-Type": "application/json"], #"{"data":{"n":null}}"#)
            }
            guard acceptsAll || request["Sec-WebSocket-Protocol"] == "graphql-ws" else { return .response(400) }
            let accept = (try? WebSocketHandshake.accept(key)) ?? ""
            let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            return .sequence([
                .raw(head + "Sec-WebSocket-Protocol: graphql-ws\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"),
                .played { connection in
                    var peer = SocketServer.Peer(connection: connection, request: request, received: .init())
                    peer.acknowledge()
                    let id = peer.operation("start")
                    for number in 1...2 { peer.next(id, number, "data") }
                    peer.complete(id)
                    peer.hearAll()
                    return false
                },
            ])
        }
        let outcome = try await SocketClient().subscribe(GraphQLEndpoint(try #require(URL(string: server.url))))
        #expect(outcome.error == nil)
        #expect(outcome.numbers == [1, 2])
        #expect(
            server.requests.map { $0["Sec-WebSocket-Protocol"] ?? $0["Accept"]?.prefix(4).description } == [
                "graphql-transport-ws", "text", "mult", "graphql-ws",
            ]
        )
    }

    @Test func errorExplainsWhyEachTransportFailed() async throws {
        let server = try LoopbackServer { request in
            request.method == "GET"
                ? .response(404) : .response(200, ["Content-Type": "application/json"], #"{"data":{"n":null}}"#)
        }
        let endpoint = GraphQLEndpoint(try #require(URL(string: server.url)))
        let error = try #require(try await SocketClient().subscribe(endpoint).error)
        #expect(error.kind == .unsupported)
        for way in ["graphql-transport-ws: ", "event streams: ", "multipart: ", "graphql-ws: "] {
            #expect(error.message.contains(way))
        }
        #expect(error.message.contains("404") && error.message.contains("it returned application/json"))
        #expect(server.requests.count == 4)
    }

    @Test func closeWith4406BeforeTheAcknowledgementIsUnsupported() async throws {
        let server = try SocketServer { $0.close(4406) }
        let error = try #require(try await SocketClient(retries: true).subscribe(server.endpoint()).error)
        #expect(error.kind == .unsupported)
    }

    @Test func refusedConnectionIsAConnectError() async throws {
        var endpoint = GraphQLEndpoint(try #require(URL(string: "http://127.0.0.1:1/graphql")))
        endpoint.subscriptions = [.webSocket()]
        let error = try #require(try await SocketClient().subscribe(endpoint).error)
        #expect(error.kind == .connect)
        #expect(!error.mayHaveReachedServer)
    }

    @Test func transportWithoutWebSocketsIsUnsupported() async throws {
        struct Plain: HTTPTransport {
            func perform(
                _ request: TransferRequest,
                completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
            ) -> any RequestToken {
                AnyRequestToken()
            }
        }
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        let client = NetworkClientDefault(dependencies: dependencies, transport: Plain())
        let server = try SocketServer { $0.hearAll() }
        let subscription = try client.subscribe(to: SocketClient.request(), at: server.endpoint())
        let error = await #expect(throws: NetworkError.self) { for try await _ in subscription {} }
        #expect(error?.kind == .unsupported)
    }

    // MARK: Messages

    @Test(arguments: ["999", "x", "01", "1 ", ""])
    func messagesForUnknownOperationsAreIgnored(id: String) async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let own = peer.operation()
            peer.next(id, 7)
            peer.say(#"{"id":"\#(id)","type":"error","payload":[{"message":"no"}]}"#)
            peer.complete(id)
            peer.next(own, 1)
            peer.complete(own)
            peer.next(own, 8)
            peer.complete(own)
            peer.hearAll()
        }
        let outcome = try await SocketClient().subscribe(server.endpoint())
        #expect(outcome.numbers == [1])
        #expect(outcome.error == nil)
    }

    @Test(arguments: SocketMessageTests.malformed)
    func malformedMessageEndsTheConnection(text: String) async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, 1)
            peer.say(text)
            peer.next(id, 2)
            peer.hearAll()
        }
        let outcome = try await SocketClient(retries: true).subscribe(server.endpoint())
        #expect(outcome.numbers == [1])
        #expect(outcome.error?.kind == .protocol)
        #expect(outcome.interruptions.isEmpty)
        await server.received.until { $0.closes.map(\.code.rawValue) == [4004] }
    }

    @Test func binaryMessageEndsTheConnection() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.send(frame: 2, Data(#"{"id":"\#(id)","type":"complete"}"#.utf8))
            peer.hearAll()
        }
        let outcome = try await SocketClient(retries: true).subscribe(server.endpoint())
        #expect(outcome.error?.kind == .protocol)
        await server.received.until { $0.closes.map(\.code.rawValue) == [4004] }
    }

    @Test func invalidUTF8EndsTheConnection() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            _ = peer.operation()
            peer.send(frame: 1, Data([0x7B, 0xFF, 0x7D]))
            peer.hearAll()
        }
        let outcome = try await SocketClient(retries: true).subscribe(server.endpoint())
        #expect(outcome.error?.kind == .protocol)
        await server.received.until { $0.closes.map(\.code.rawValue) == [1007] }
    }

    @Test func tooLargeMessageEndsTheConnection() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.say(#"{"id":"\#(id)","type":"next","payload":{"data":"\#(String(repeating: "a", count: 2000))"}}"#)
            peer.hearAll()
        }
        var endpoint = try server.endpoint()
        endpoint.maxMessageBytes = 1000
        let outcome = try await SocketClient(retries: true).subscribe(endpoint)
        #expect(outcome.error?.kind == .tooLarge)
        #expect(outcome.error?.message.contains("1000 bytes") == true)
        #expect(outcome.error?.advice?.contains("GraphQLEndpoint.maxMessageBytes") == true)
        await server.received.until { $0.closes.map(\.code.rawValue) == [1009] }
    }

    private static let connectionErrorPayloadIsPartOfTheMessageArguments: [(String?, String)] = [
        (#"{"message":"not you"}"#, ": not you"),
        (#"{"reason":"no entry"}"#, #": an error without a message: {"reason":"no entry"}"#),
        (#""no entry""#, ": no entry"), ("[]", ""), ("7", ": an error without a message: 7"),
        (#"[{"message":"one"},{"message":"two"}]"#, ": one: two"), (nil, ""),
    ]

    @Test(arguments: Self.connectionErrorPayloadIsPartOfTheMessageArguments)
    func connectionErrorPayloadIsPartOfTheMessage(payload: String?, text: String) async throws {
        let server = try SocketServer("graphql-ws") { peer in
            peer.receive("connection_init")
            peer.say(#"{"type":"connection_error"\#(payload.map { #","payload":\#($0)"# } ?? "")}"#)
            peer.hearAll()
        }
        let options = GraphQLSocketOptions(subprotocol: .graphQLWS)
        let error = try #require(try await SocketClient().subscribe(server.endpoint(options)).error)
        #expect(error.message.hasPrefix("the server refused the connection\(text)"), "\(error.message)")
        #expect(error.url == "http://\(server.authority)/graphql")
    }

    @Test func connectionErrorEndsTheSubscriptionWithoutARetry() async throws {
        let server = try SocketServer("graphql-ws") { peer in
            peer.receive("connection_init")
            peer.say(#"{"type":"ka"}"#)
            peer.say(#"{"type":"connection_error","payload":{"message":"not you"}}"#)
            peer.hearAll()
        }
        var options = GraphQLSocketOptions()
        options.subprotocol = .graphQLWS
        let outcome = try await SocketClient(retries: true).subscribe(server.endpoint(options))
        #expect(outcome.error?.kind == .closed)
        #expect(outcome.error?.graphQLErrors.map(\.message) == ["not you"])
        #expect(server.requests.count == 1)
    }

    // MARK: End of the connection

    @Test func connectionToAServerThatStopsReadingIsClosedInTime() async throws {
        // More than the system buffers.
        let byteCount = 8 << 20
        let begun = 16 << 10
        let (isSending, isSilent, isClosed) = (Latch(), Latch(), try LoopbackServer.Gate())
        let isLeft = Lock(false)
        let clock = ManualClock()
        let server = try SocketServer { peer in
            peer.keepLittle()
            peer.acknowledge()
            // The server no longer reads but keeps sending, slowly enough not to starve the other tests.
            while !isLeft.withLock({ $0 }), peer.say(#"{"type":"pong"}"#) {
                if peer.hasLeft(begun) { isSending.open() }
                Thread.sleep(forTimeInterval: 0.02)
            }
            isSilent.open()
            // Everything that the client sent before it gave up. If the server read sooner, the rest would follow.
            peer.wait(for: isClosed)
            peer.takeAll()
        }
        var options = GraphQLSocketOptions()
        options.lingerDuration = .zero
        options.onEvent = { event in
            if case .closed = event { isClosed.open() }
        }
        let endpoint = try server.endpoint(options)
        let request = GraphQLRequest(
            query: "subscription a($text: String) { n }",
            kind: .subscription,
            variables: Data(#"{"text":"\#(String(repeating: "a", count: byteCount))"}"#.utf8)
        )
        let client = SocketClient(clock: clock)
        for try await event in try client.client.subscribe(to: request, at: endpoint).events {
            #expect(event.words == "open")
            await isSending.wait()
            break
        }
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(10))
        // Data sent to a closed connection would make the system discard the bytes that are still unread.
        isLeft.withLock { $0 = true }
        await isSilent.wait()
        clock.advance(by: .seconds(10))
        await server.received.until { $0.ended == 1 }
        #expect(server.bytesTaken >= begun)
        #expect(server.bytesTaken < byteCount, "the whole message was sent: the send never stalled")
        withExtendedLifetime(client) {}
    }

    static let codes =
        [UInt16](1000...1003) + [UInt16](1007...1014) + [3000, 4000] + [UInt16](4400...4430)
        + [4004, 4005, 4499, 4500, 4504]
    static let fatal: Set<UInt16> = [
        1002, 1003, 1007, 1008, 1009, 1010, 1011, 4004, 4005, 4400, 4401, 4406, 4409, 4429, 4500,
    ]

    @Test(arguments: codes)
    func closeCodeDecidesWhetherToRetry(code: UInt16) async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, peer.request.connection)
            if peer.request.connection > 1 {
                peer.complete(id)
                peer.hearAll()
            } else {
                peer.close(code, "tell nobody")
            }
        }
        let outcome = try await SocketClient(retries: true).subscribe(server.endpoint())
        let isFatal = Self.fatal.contains(code)
        #expect(outcome.numbers == (isFatal ? [1] : [1, 2]))
        #expect(outcome.opened == (isFatal ? 1 : 2))
        let error = try #require(outcome.error ?? outcome.interruptions.first)
        #expect((outcome.error == nil) != isFatal)
        #expect(error.kind == (isFatal ? .closed : .network))
        #expect(error.webSocketClose == WebSocket.Close(WebSocket.Close.Code(rawValue: code), reason: "tell nobody"))
        #expect(error.message.contains("with code \(code) \"tell nobody\""))
        #expect(error.url == "http://\(server.authority)/graphql")
        #expect(error.mayHaveReachedServer)
    }

    @Test func closeReasonInTheMessageHasNoSecretsOrControlCharacters() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            peer.close(4400, "password=hunter2 \u{1B}[31m")
        }
        let error = try #require(try await SocketClient().subscribe(server.endpoint()).error)
        #expect(error.message.contains("with code 4400 \"password="))
        #expect(!error.message.contains("hunter2") && !error.message.contains("\u{1B}"))
        #expect(error.webSocketClose?.reason == "password=hunter2 \u{1B}[31m")
    }

    @Test func refusedOperationHasItsURLAndNoStatus() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.say(#"{"id":"\#(id)","type":"error","payload":[{"message":"no"}]}"#)
            peer.hearAll()
        }
        let error = try #require(try await SocketClient().subscribe(server.endpoint()).error)
        #expect(error.kind == .graphQL)
        #expect(error.graphQLErrors.map(\.message) == ["no"])
        #expect(error.url == "http://\(server.authority)/graphql")
        #expect(error.response == nil)
    }

    @Test func responsesHaveTheURLOfTheirOperation() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, 1)
            peer.complete(id)
            peer.hearAll()
        }
        let urls = Lock<[String]>([])
        _ = try await SocketClient().subscribe(server.endpoint()) { event in
            if case .response(let response) = event { urls.withLock { $0.append(response.response.url) } }
        }
        #expect(urls.withLock { $0 } == ["http://\(server.authority)/graphql"])
    }

    enum Loss: CaseIterable {
        case reset, end, half, halfClosed, afterClose, midHead
    }

    @Test(arguments: Loss.allCases)
    func lostConnectionIsReportedAndRetried(loss: Loss) async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, 2 * peer.request.connection - 1)
            guard peer.request.connection == 1 else {
                peer.next(id, 4)
                peer.complete(id)
                peer.hearAll()
                return
            }
            switch loss {
            case .reset: peer.reset()
            case .end: break
            case .half: peer.send(Data([0x81, 0x7E, 0x01, 0x00]) + Data(#"{"id":"#.utf8))
            case .halfClosed: peer.finish()
            case .midHead: peer.send(Data([0x81]))
            case .afterClose: peer.send(frame: 8, Data())
            }
        }
        let outcome = try await SocketClient(retries: true).subscribe(server.endpoint())
        #expect(outcome.numbers == [1, 3, 4])
        #expect(outcome.error == nil)
        #expect(outcome.interruptions.map(\.kind) == [.network])
        #expect(outcome.opened == 2)
    }

    @Test func lossBeforeTheAcknowledgementHasNotReachedTheServer() async throws {
        let server = try SocketServer { $0.receive("connection_init") }
        let result = try await SocketClient().execute(.mutation, server.endpoint())
        let error = try #require(result.failure)
        #expect(error.kind == .network)
        #expect(!error.mayHaveReachedServer)
    }

    @Test func missingPongTimesOutAndIsRetried() async throws {
        let clock = ManualClock()
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, peer.request.connection)
            if peer.request.connection > 1 { peer.complete(id) } else { peer.receive("ping") }
            peer.hearAll()
        }
        var options = GraphQLSocketOptions()
        options.keepAlive = .seconds(15)
        options.pongTimeout = .seconds(3)
        let endpoint = try server.endpoint(options)
        let client = SocketClient(retries: true, clock: clock)
        let first = Latch()
        async let outcome = client.subscribe(endpoint) { event in
            if case .response = event { first.open() }
        }
        await first.wait()
        // The acknowledgement and the result arrived in the first interval, and nothing in the second.
        for wait in [15, 15] {
            await clock.waitForSleepers(1)
            #expect(clock.nextWait == .seconds(wait))
            clock.advance(by: .seconds(wait))
        }
        await server.received.until { $0.count("ping") == 1 }
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(3))
        clock.advance(by: .seconds(3))
        await server.received.until { $0.connections == 2 }
        let received = try await outcome
        #expect(received.numbers == [1, 2])
        #expect(received.interruptions.map(\.kind) == [.timeout])
    }

    @Test func pongInTimeKeepsTheConnection() async throws {
        let clock = ManualClock()
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, 1)
            for number in 2...4 {
                peer.receive("ping")
                peer.say(#"{"type":"pong"}"#)
                peer.next(id, number)
            }
            peer.complete(id)
            peer.hearAll()
        }
        var options = GraphQLSocketOptions()
        options.keepAlive = .seconds(15)
        options.pongTimeout = .seconds(3)
        let endpoint = try server.endpoint(options)
        let (results, continuation) = AsyncStream.makeStream(of: Void.self)
        async let outcome = SocketClient(retries: true, clock: clock).subscribe(endpoint) { event in
            if case .response = event { continuation.yield() }
        }
        var result = results.makeAsyncIterator()
        await result.next()
        for waits in [[15, 15], [3, 15], [3, 15]] {
            for wait in waits {
                await clock.waitForSleepers(1)
                #expect(clock.nextWait == .seconds(wait))
                clock.advance(by: .seconds(wait))
            }
            await result.next()
        }
        let received = try await outcome
        #expect(received.numbers == [1, 2, 3, 4])
        #expect(received.interruptions.isEmpty)
    }

    // MARK: Operations in flight

    @Test func mutationInFlightIsNotRetried() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            _ = peer.operation()
        }
        let error = try #require(try await SocketClient(retries: true).execute(.mutation, server.endpoint()).failure)
        #expect(error.kind == .network)
        #expect(error.mayHaveReachedServer)
        #expect(server.received.record.count("subscribe") == 1)
    }

    @Test func unsentMutationIsSentOnceAfterAReconnect() async throws {
        let server = try SocketServer { peer in
            if peer.request.connection == 1 {
                peer.receive("connection_init")
                return
            }
            peer.acknowledge()
            let id = peer.operation()
            peer.next(id, 1)
            peer.complete(id)
            peer.hearAll()
        }
        let result = try await SocketClient(retries: true).execute(.mutation, server.endpoint())
        #expect(try result.get()?["n"] == 1)
        #expect(server.received.record.count("subscribe") == 1)
    }

    @Test func queryInFlightIsRetried() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            if peer.request.connection == 1 { return }
            peer.next(id, 1)
            peer.complete(id)
            peer.hearAll()
        }
        #expect(try await SocketClient(retries: true).execute(.query, server.endpoint()).get()?["n"] == 1)
        #expect(server.received.record.count("subscribe") == 2)
    }

    @Test func operationWithoutAResultIsAnError() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            peer.complete(peer.operation())
            peer.hearAll()
        }
        let error = try #require(try await SocketClient().execute(.query, server.endpoint()).failure)
        #expect(error.kind == .decoding)
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
