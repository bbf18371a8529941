import BeagleNetCurl
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

/// Servers that refuse, violate the protocol, stall or disconnect, and apps that release or cancel a WebSocket.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct WebSocketFaultTests {
    let transport = CurlTransport()

    private func failure(
        of request: WebSocket.Request,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> NetworkError {
        let error = await #expect(throws: NetworkError.self, sourceLocation: sourceLocation) {
            _ = try await transport.openWebSocket(request)
        }
        return try #require(error, sourceLocation: sourceLocation)
    }

    // MARK: opening

    @Test(arguments: [200, 302, 401, 426, 500])
    func otherStatusIsAnErrorWithTheResponse(_ status: Int) async throws {
        let server = try LoopbackServer(.response(status, ["Location": "/there"], "why"))
        let error = try await failure(of: server.webSocketRequest)
        #expect(error.kind == .status)
        #expect(error.response?.status.code == status)
        #expect(error.message.contains("\(status)"))
        #expect(error.data == Data("why".utf8))
        #expect(error.request?.scheme == "ws")
        #expect(await server.until { $0.openConnections == 0 })
        try await transport.proveHealth(isLongLived: true)
    }

    @Test func cookiesOfTheResponseAreStored() async throws {
        let server = try LoopbackServer { request in
            .webSocket(request["Sec-WebSocket-Key"] ?? "", fields: "Set-Cookie: a=1\r\n", .stall)
        }
        let cookies = CookieJar()
        var configuration = CurlTransport.Configuration()
        configuration.cookies = cookies
        let transport = CurlTransport(configuration)
        _ = try await transport.openWebSocket(server.webSocketRequest)
        #expect(cookies.cookies.map(\.name) == ["a"])
    }

    @Test func wrongAcceptIsAnError() async throws {
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        let server = try LoopbackServer(.sequence([.raw(head + "Sec-WebSocket-Accept: x\r\n\r\n"), .stall]))
        let error = try await failure(of: server.webSocketRequest)
        #expect(error.kind == .protocol)
        #expect(error.response?.status.code == 101)
    }

    @Test(arguments: [LoopbackServer.Response.close, .reset, .raw("HTTP/1.1 101 Swi"), .raw("nonsense\r\n\r\n")])
    func connectionEndDuringTheHandshakeIsAnError(_ answer: LoopbackServer.Response) async throws {
        let server = try LoopbackServer(.sequence([answer, .close]))
        let error = try await failure(of: server.webSocketRequest)
        #expect([.network, .protocol].contains(error.kind), "\(error)")
        #expect(error.phase == .firstByte)
        try await transport.proveHealth(isLongLived: true)
    }

    @Test func silentHandshakeTimesOut() async throws {
        let server = try LoopbackServer(.stall)
        var request = server.webSocketRequest
        request.options.timeouts.firstByte = .milliseconds(50)
        let error = try await failure(of: request)
        #expect(error.isTimeout)
        #expect(error.phase == .firstByte)
    }

    @Test func closedPortIsAConnectError() async throws {
        var request = try LoopbackServer(.stall).webSocketRequest
        request.head.authority = "127.0.0.1:1"
        let error = try await failure(of: request)
        #expect(error.kind == .connect)
        #expect(!error.mayHaveReachedServer)
    }

    @Test func invalidRequestIsRejectedBeforeAnythingIsSent() async throws {
        let server = try LoopbackServer(.stall)
        var request = server.webSocketRequest
        request.maxMessageBytes = -1
        #expect(try await failure(of: request).kind == .badConfiguration)
        request = server.webSocketRequest
        request.head.path = "/a b"
        #expect(try await failure(of: request).kind == .badURL)
        request = server.webSocketRequest
        request.options.authentication = .digest(Credentials(user: "a", password: "b"))
        #expect(try await failure(of: request).kind == .unsupported)
        #expect(server.record.connections == 0)
    }

    @Test func openingCanBeCancelled() async throws {
        let server = try LoopbackServer(.stall)
        let request = server.webSocketRequest
        let opening = Task { try await transport.openWebSocket(request) }
        await server.until { $0.requestCount == 1 }
        opening.cancel()
        let error = await #expect(throws: NetworkError.self) { _ = try await opening.value }
        #expect(error?.isCancelled == true)
        #expect(await server.until { $0.openConnections == 0 })
    }

    // MARK: messages

    @Test(arguments: [false, true])
    func framesInPiecesAreAssembledIntoMessages(onThePortableLoop isPortable: Bool) async throws {
        let frames = Data([0x01, 2, 0x61, 0x62, 0x89, 1, 0x70, 0x80, 1, 0x63, 0x88, 2, 3, 0xE8])
        let server = try LoopbackServer(webSocket: .sequence([.dribble(frames, every: .milliseconds(1)), .stall]))
        let socket = try await CurlTransport(isPortable: isPortable).openWebSocket(server.webSocketRequest)
        #expect(try await socket.rest() == [.text("abc")])
    }

    @Test func closeWithoutACodeIsANormalEnd() async throws {
        let server = try LoopbackServer(webSocket: .sequence([.raw(Data([0x88, 0])), .stall]))
        var request = server.webSocketRequest
        request.closeTimeout = .milliseconds(50)
        let socket = try await transport.openWebSocket(request)
        #expect(try await socket.rest().isEmpty)
        #expect(socket.peerClose == WebSocket.Close(.noStatus))
        #expect(await server.until { $0.openConnections == 0 }, "the client did not close the connection")
    }

    @Test(arguments: [LoopbackServer.Response.close, .finish, .reset])
    func endWithoutACloseFrameIsAnErrorAfterTheMessages(_ end: LoopbackServer.Response) async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(webSocket: .sequence([.raw(Data([0x81, 1, 0x61])), .gate(gate), end]))
        let socket = try await transport.openWebSocket(server.webSocketRequest)
        #expect(try await socket.next() == .text("a"))
        gate.open()
        let error = await #expect(throws: NetworkError.self) { try await socket.next() }
        #expect([.network, .truncated].contains(error?.kind), "\(String(describing: error))")
        let late = await #expect(throws: NetworkError.self) { try await socket.send(.text("a")) }
        #expect(late?.kind == error?.kind)
        try await transport.proveHealth(isLongLived: true)
    }

    @Test func excessiveFrameLengthIsRejected() async throws {
        let header = Data([0x82, 127, 0, 0, 0, 0, 0x40, 0, 0, 0])
        let server = try LoopbackServer(webSocket: .sequence([.raw(header), .endless(Data(count: 1 << 16))]))
        let socket = try await transport.openWebSocket(server.webSocketRequest)
        let error = await #expect(throws: NetworkError.self) { try await socket.next() }
        #expect(error?.kind == .tooLarge)
        #expect(error?.advice?.contains("maxMessageBytes") == true)
    }

    @Test func limitAppliesToTheWholeMessage() async throws {
        let server = try LoopbackServer(webSocket: .sequence([.raw(Data([0x01, 2, 0x61, 0x61, 0x80, 2])), .stall]))
        var request = server.webSocketRequest
        request.maxMessageBytes = 3
        request.closeTimeout = .milliseconds(50)
        let socket = try await transport.openWebSocket(request)
        let error = await #expect(throws: NetworkError.self) { try await socket.next() }
        #expect(error?.kind == .tooLarge)
    }

    /// The server sends endless pings and doesn't read the pongs: other transfers proceed, and the connection stays
    /// open.
    @Test func floodOfPingsDoesNotBlockOtherTransfers() async throws {
        let pings = Data((0..<1000).flatMap { _ in [0x89, 125] + [UInt8](repeating: 0x70, count: 125) })
        let server = try LoopbackServer(webSocket: .endless(pings))
        let socket = try await transport.openWebSocket(server.webSocketRequest)
        await server.until { $0.bytesSent > 64 << 20 }
        try await transport.proveHealth(isLongLived: true)
        #expect(server.record.openConnections == 1)
        withExtendedLifetime(socket) {}
    }

    @Test func missingPongIsATimeout() async throws {
        let server = try LoopbackServer(webSocket: .stall)
        var request = server.webSocketRequest
        request.pingInterval = .milliseconds(50)
        request.pongTimeout = .milliseconds(50)
        let socket = try await transport.openWebSocket(request)
        let error = await #expect(throws: NetworkError.self) { try await socket.next() }
        #expect(error?.isTimeout == true)
        #expect(error?.message.contains("ping") == true)
        #expect(await server.until { $0.openConnections == 0 })
    }

    /// The pong arrives in time, but another transfer's completion delays the thread that reads it.
    @Test func delayedThreadDoesNotMissThePong() async throws {
        let gate = try LoopbackServer.Gate()
        let answer = LoopbackServer.Response.raw(Data([0x8A, 0, 0x81, 1, 0x61]))
        let server = try LoopbackServer { request in
            guard let key = request["Sec-WebSocket-Key"] else { return .response(200) }
            return .webSocket(key, .sequence([.gate(gate), answer, .stall]))
        }
        var request = server.webSocketRequest
        request.pingInterval = .milliseconds(50)
        // On a busy machine the completion is called late, too.
        request.pongTimeout = .seconds(4)
        let socket = try await transport.openWebSocket(request)
        try await Task.sleep(for: .milliseconds(200))
        var options = TransferOptions.limited
        options.isLongLived = true
        try transport.perform(server.request(options: options)) { _ in
            gate.open()
            usleep(5_000_000)
        }
        #expect(try await socket.next() == .text("a"))
    }

    @Test func silentServerTimesOutAlthoughTheAppSends() async throws {
        let server = try LoopbackServer(webSocket: .stall)
        var request = server.webSocketRequest
        request.pingInterval = .milliseconds(50)
        request.pongTimeout = .milliseconds(500)
        let socket = try await transport.openWebSocket(request)
        // Sends more often than the pong timeout.
        let error = await #expect(throws: NetworkError.self) {
            while true {
                try await socket.send(.text("a"))
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        #expect(error?.isTimeout == true)
    }

    @Test func unansweredCloseIsATimeout() async throws {
        let server = try LoopbackServer(webSocket: .stall)
        var request = server.webSocketRequest
        request.closeTimeout = .milliseconds(50)
        let socket = try await transport.openWebSocket(request)
        let error = await #expect(throws: NetworkError.self) { try await socket.close() }
        #expect(error?.isTimeout == true)
        #expect(error?.message.contains("close") == true)
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func invalidCloseCodeIsRejected() async throws {
        let server = try LoopbackServer(webSocket: .stall)
        let socket = try await transport.openWebSocket(server.webSocketRequest)
        let error = await #expect(throws: NetworkError.self) { try await socket.close(.noStatus) }
        #expect(error?.kind == .badRequest)
    }

    // MARK: back-pressure

    @Test(arguments: [false, true])
    func slowReaderThrottlesTheServer(onThePortableLoop isPortable: Bool) async throws {
        let message = Data([0x82, 126, 0xFF, 0xFF] + [UInt8](repeating: 7, count: 0xFFFF))
        let server = try LoopbackServer(webSocket: .endless(message))
        let socket = try await CurlTransport(isPortable: isPortable).openWebSocket(server.webSocketRequest)
        await server.until { $0.stalledSends == 1 }
        // The kernel's buffers and ours hold these bytes. Reading them lets the server continue.
        let held = server.record.bytesSent
        #expect(held < 32 << 20)
        for _ in 0..<(held / 0xFFFF + 100) { #expect(try await socket.next() == .binary(Data(message.dropFirst(4)))) }
    }

    @Test func emptyMessagesAreThrottled() async throws {
        let server = try LoopbackServer(webSocket: .endless(Data((0..<1000).flatMap { _ in [0x82, 0] as [UInt8] })))
        let socket = try await transport.openWebSocket(server.webSocketRequest)
        await server.until { $0.stalledSends == 1 }
        #expect(try await socket.next() == .binary(Data()))
    }

    @Test func senderWaitsForAServerThatDoesNotRead() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(webSocket: .sequence([.gate(gate), .stall]))
        let socket = try await transport.openWebSocket(server.webSocketRequest)
        let sent = Lock(0)
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        let sending = Task {
            begin.yield()
            for _ in 0..<64 {
                try await socket.send(.binary(Data(count: 1 << 20)))
                sent.withLock { $0 += 1 }
            }
        }
        for await _ in begins { break }
        // Waits until sending stalls: another request completes after the loop has sent as much as possible.
        var before = -1
        while case let now = sent.withLock({ $0 }), now != before {
            before = now
            try await transport.proveHealth(isLongLived: true)
        }
        #expect(before < 64)
        gate.open()
        try await sending.value
        #expect(sent.withLock { $0 } == 64)
    }

    @Test func closeOfTheServerEndsASuspendedSend() async throws {
        let (gate, never) = (try LoopbackServer.Gate(), try LoopbackServer.Gate())
        let close = LoopbackServer.Response.raw(Data([0x88, 2, 0x0F, 0xA1]))
        let server = try LoopbackServer(webSocket: .sequence([.gate(gate), close, .gate(never)]))
        var request = server.webSocketRequest
        request.closeTimeout = .milliseconds(50)
        let socket = try await transport.openWebSocket(request)
        let sending = Task { try await socket.send(.binary(Data(count: 64 << 20))) }
        try await transport.proveHealth(isLongLived: true)
        gate.open()
        let error = await #expect(throws: NetworkError.self) { try await sending.value }
        #expect(error?.kind == .closed)
        #expect(error?.message.contains("4001") == true)
        #expect(socket.peerClose?.code.rawValue == 4001)
    }

    // MARK: release and cancellation

    @Test func releasedSocketClosesTheConnection() async throws {
        let server = try LoopbackServer(webSocket: .stall)
        _ = try await transport.openWebSocket(server.webSocketRequest).response
        #expect(await server.until { $0.connections == 1 && $0.openConnections == 0 })
    }

    @Test func cancelledReaderEndsTheConnection() async throws {
        let server = try LoopbackServer(webSocket: .stall)
        let socket = try await transport.openWebSocket(server.webSocketRequest)
        let reading = Task { try await socket.next() }
        reading.cancel()
        let error = await #expect(throws: NetworkError.self) { try await reading.value }
        #expect(error?.isCancelled == true)
        #expect(await server.until { $0.openConnections == 0 })
        await #expect(throws: NetworkError.self) { try await socket.send(.text("a")) }
    }

    @Test func cancelledSenderEndsTheConnection() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(webSocket: .sequence([.gate(gate), .stall]))
        let socket = try await transport.openWebSocket(server.webSocketRequest)
        let sending = Task { try await socket.send(.binary(Data(count: 64 << 20))) }
        try await transport.proveHealth(isLongLived: true)
        sending.cancel()
        let error = await #expect(throws: NetworkError.self) { try await sending.value }
        #expect(error?.isCancelled == true)
        gate.open()
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func shutDownEndsTheSocket() async throws {
        let server = try LoopbackServer(webSocket: .stall)
        let socket = try await transport.openWebSocket(server.webSocketRequest)
        let reading = Task { try await socket.next() }
        transport.shutDown()
        let error = await #expect(throws: NetworkError.self) { try await reading.value }
        #expect(error?.kind == .shutdown)
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func socketOutlivesItsTransport() async throws {
        let gate = try LoopbackServer.Gate()
        let frames = LoopbackServer.Response.raw(Data([0x81, 1, 0x61, 0x88, 0]))
        let server = try LoopbackServer(webSocket: .sequence([.gate(gate), frames, .close]))
        let socket = try await CurlTransport().openWebSocket(server.webSocketRequest)
        gate.open()
        #expect(try await socket.rest() == [.text("a")])
    }
}
