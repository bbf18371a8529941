import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// WebSockets with a real server: PyPI's websockets.
@Suite(
    .leavesNothing,
    .timeLimit(.minutes(5)),
    .enabled(if: WebSocketPeer.isAvailable, "websockets is not installed: scripts/setup.sh --peers")
)
struct WebSocketTests {
    let transport = CurlTransport()
    let peer: WebSocketPeer

    init() throws {
        peer = try WebSocketPeer.shared.get()
    }

    @Test(arguments: ["plain", "secure"], [false, true])
    func messagesAreExchangedInBothDirections(_ server: String, onThePortableLoop isPortable: Bool) async throws {
        let transport = CurlTransport(isPortable: isPortable)
        let socket = try await transport.openWebSocket(peer.request(server, "/echo"))
        let sent: [WebSocket.Message] = [
            .text("größer"), .binary(Data([0, 1, 255])), .text(""), .binary(Data()),
            .text(String(repeating: "é", count: 40_000)),
        ]
        for message in sent {
            try await socket.send(message)
            #expect(try await socket.next() == message)
        }
        #expect(try await socket.close() == WebSocket.Close(.normal))
        #expect(try await socket.rest().isEmpty)
        #expect(socket.response.status == .switchingProtocols)
        #expect(socket.subprotocol == nil)
    }

    @Test(arguments: ["plain", "secure"], [false, true])
    func messagesOf16MiBAreExchanged(_ server: String, onThePortableLoop isPortable: Bool) async throws {
        let transport = CurlTransport(isPortable: isPortable)
        let socket = try await transport.openWebSocket(peer.request(server, "/echo"))
        let message = WebSocket.Message.binary(StreamTests.pattern(16 << 20))
        try await socket.send(message)
        #expect(try await socket.next() == message)
        try await socket.close()
    }

    /// The sizes around the limits at which the encoded length grows.
    @Test(arguments: WebSocketPeer.Way.allCases, [0, 1, 125, 126, 127, 65_535, 65_536, 65_537])
    func messagesOfBoundarySizesAreExchanged(_ way: WebSocketPeer.Way, _ size: Int) async throws {
        let socket = try await transport.openWebSocket(peer.request(way, "/echo"))
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        for message in [WebSocket.Message.binary(bytes), .text(String(repeating: "a", count: size))] {
            try await socket.send(message)
            #expect(try await socket.next() == message)
        }
        #expect(try await socket.close() == WebSocket.Close(.normal))
    }

    @Test(arguments: WebSocketPeer.Way.allCases)
    func fragmentsAreAssembledIntoOneMessage(_ way: WebSocketPeer.Way) async throws {
        let socket = try await transport.openWebSocket(peer.request(way, "/fragments"))
        #expect(try await socket.rest() == [.text("one two three")])
        #expect(socket.peerClose?.code == .normal)
    }

    /// The server sends the rest of the message only after it has received the pongs.
    @Test(arguments: WebSocketPeer.Way.allCases)
    func pingsBetweenFragmentsReceivePongs(_ way: WebSocketPeer.Way) async throws {
        let socket = try await transport.openWebSocket(peer.request(way, "/pings"))
        #expect(try await socket.rest() == [.text("one two three")])
        #expect(socket.peerClose?.code == .normal)
    }

    @Test(arguments: WebSocketPeer.Way.allCases)
    func pingReceivesAPongWithoutAReader(_ way: WebSocketPeer.Way) async throws {
        let socket = try await transport.openWebSocket(peer.request(way, "/ping"))
        #expect(try await socket.rest() == [.text("ponged")])
    }

    /// Fragments may split characters, but the whole message must be valid UTF-8.
    @Test(arguments: WebSocketPeer.Way.allCases)
    func fragmentsWithInvalidTextAreRejected(_ way: WebSocketPeer.Way) async throws {
        let socket = try await transport.openWebSocket(peer.request(way, "/utf8?utf8-\(way.rawValue)"))
        #expect(try await socket.next() == .text("größer"))
        let error = await #expect(throws: NetworkError.self) { try await socket.next() }
        #expect(error?.kind == .protocol)
        #expect(try await code("utf8-\(way.rawValue)").hasPrefix("1007"))
    }

    @Test func floodOfMessagesIsReceivedInOrder() async throws {
        let socket = try await transport.openWebSocket(peer.request("/flood?20000"))
        #expect(try await socket.rest() == (0..<20_000).map { .text("\($0)") })
    }

    @Test func concurrentSendersLoseNoMessages() async throws {
        let socket = try await transport.openWebSocket(peer.request("/echo"))
        let payload = Data(count: 4 << 10)
        async let sending: Void = withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<100 { try await socket.send(.binary(payload)) } }
            }
            try await group.waitForAll()
        }
        for _ in 0..<800 { #expect(try await socket.next() == .binary(payload)) }
        try await sending
        try await socket.close()
    }

    /// The pong can't arrive before the server has read the bytes sent before the ping, which takes longer than the
    /// pong timeout.
    @Test func slowUploadOfALongMessageIsNotATimeout() async throws {
        var request = peer.request("slow", "/\(24 << 20)")
        request.pingInterval = .milliseconds(100)
        request.pongTimeout = .seconds(8)
        let socket = try await transport.openWebSocket(request)
        try await socket.send(.binary(Data(count: 24 << 20)))
        #expect(try await socket.next() == .text("done"))
    }

    @Test(arguments: WebSocketPeer.Way.allCases)
    func closeOfTheServerReportsCodeAndReason(_ way: WebSocketPeer.Way) async throws {
        for code in [1000, 1001, 1011, 4321] as [UInt16] {
            let socket = try await transport.openWebSocket(peer.request(way, "/close?\(code)"))
            do throws(NetworkError) {
                #expect(try await socket.rest().isEmpty)
                #expect(code < 1002)
            } catch {
                #expect(error.kind == .closed && code > 1001, "\(error)")
                #expect(error.message.contains("\(code)"))
                #expect(error.request?.path == "/close?\(code)")
            }
            #expect(socket.peerClose == WebSocket.Close(.init(rawValue: code), reason: "as asked"))
            let error = await #expect(throws: NetworkError.self) { try await socket.send(.text("too late")) }
            #expect(error?.kind == .closed)
        }
    }

    @Test(arguments: WebSocketPeer.Way.allCases)
    func closeCodeAndReasonReachTheServer(_ way: WebSocketPeer.Way) async throws {
        let closes = [
            WebSocket.Close(.normal), WebSocket.Close(.goingAway, reason: "größer"),
            WebSocket.Close(.init(rawValue: 4999), reason: String(repeating: "a", count: 123)),
        ]
        for close in closes {
            let identity = "\(close.code.rawValue)-\(way.rawValue)"
            let socket = try await transport.openWebSocket(peer.request(way, "/wait?\(identity)"))
            #expect(try await socket.close(close.code, reason: close.reason) == close)
            #expect(socket.peerClose == close)
            let expected = close.reason.isEmpty ? "1000" : "\(close.code.rawValue) \(close.reason)"
            #expect(try await code(identity) == expected)
        }
    }

    @Test(arguments: WebSocketPeer.Way.allCases)
    func closeCodeReachesAServerThatDoesNotReply(_ way: WebSocketPeer.Way) async throws {
        let socket = try await transport.openWebSocket(peer.request(way, "/own-\(way.rawValue)?", isRaw: true))
        async let code = self.code("own-\(way.rawValue)")
        // The server ends the connection without a close frame.
        await #expect(throws: NetworkError.self) { try await socket.close(.init(rawValue: 4000), reason: "enough") }
        #expect(try await code == "4000")
    }

    /// A protocol violation of a server.
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        /// The frame in hexadecimal digits.
        let bytes: String
        /// The close code that the server receives.
        let code: Int

        var testDescription: String { name }
    }

    @Test(
        arguments: [
            Fault(name: "masked", bytes: "818500000000", code: 1002),
            Fault(name: "reserved", bytes: "c100", code: 1002), Fault(name: "control", bytes: "0900", code: 1002),
            Fault(name: "text", bytes: "8101ff", code: 1007),
            Fault(name: "large", bytes: "827f0000000040000000", code: 1009),
        ],
        WebSocketPeer.Way.allCases
    )
    func serverReceivesTheCloseCodeOfItsViolation(_ fault: Fault, _ way: WebSocketPeer.Way) async throws {
        let identity = "\(fault.name)-\(way.rawValue)"
        let request = peer.request(way, "/\(identity)?810161\(fault.bytes)", isRaw: true)
        let socket = try await transport.openWebSocket(request)
        #expect(try await socket.next() == .text("a"))
        let error = await #expect(throws: NetworkError.self) { try await socket.next() }
        #expect(error?.kind == (fault.code == 1009 ? .tooLarge : .protocol))
        #expect(error?.request?.scheme == (way.isSecure ? "wss" : "ws"))
        #expect(try await code(identity) == "\(fault.code)")
    }

    /// Returns the close code that the server received from the client with this identity.
    private func code(_ identity: String) async throws -> String {
        let socket = try await transport.openWebSocket(peer.request("/code?\(identity)"))
        return try #require(try await socket.next()?.text)
    }

    @Test func fieldsAndSubprotocolsOfTheAppAreSent() async throws {
        var request = peer.request("/headers", [.authorization: "Bearer x", .origin: "http://here"])
        request.subprotocols = ["superchat", "unknown"]
        let socket = try await transport.openWebSocket(request)
        #expect(socket.subprotocol == "superchat")
        let text = try #require(try await socket.next()?.text)
        let lines = text.split(separator: "\n")
        #expect(lines.contains("Authorization: Bearer x"))
        #expect(lines.contains("Origin: http://here"))
        #expect(lines.contains("Host: localhost:\(peer.ports["plain"] ?? 0)"))
        #expect(!lines.contains { $0.lowercased().hasPrefix("sec-websocket-extensions") })
    }

    @Test func credentialsAndCookiesAreSentButNotInErrors() async throws {
        let cookies = CookieJar()
        var configuration = CurlTransport.Configuration()
        configuration.cookies = cookies
        let transport = CurlTransport(configuration)
        var request = peer.request("/headers")
        cookies.store(from: [.setCookie: "a=1"], of: request.transfer.head)
        request.options.authentication = .bearer("token")
        let text = try #require(try await transport.openWebSocket(request).next()?.text)
        let lines = text.split(separator: "\n")
        #expect(lines.contains("Authorization: Bearer token"))
        #expect(lines.contains("Cookie: a=1"))
        request.head.path = "/close?1011"
        let socket = try await transport.openWebSocket(request)
        let error = await #expect(throws: NetworkError.self) { try await socket.next() }
        #expect(error?.request == request.head)
    }

    /// Opens more than one group of connections, and more connections than may be idle.
    @Test(arguments: ["plain", "secure"])
    func manySocketsAreOpenConcurrently(_ server: String) async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maxIdleConnections = 1
        let transport = CurlTransport(configuration)
        var sockets: [WebSocket] = []
        for _ in 0..<40 { sockets.append(try await transport.openWebSocket(peer.request(server, "/echo"))) }
        for round in 0..<3 {
            // Releases other sockets of the same groups.
            sockets = sockets.indices.filter { round == 0 || $0 % 3 != 0 }.map { sockets[$0] }
            for (index, socket) in sockets.enumerated() { try await socket.send(.text("\(index)")) }
            for (index, socket) in sockets.enumerated() { #expect(try await socket.next() == .text("\(index)")) }
        }
    }

    /// These ports are closed: only the proxy can map them to the servers.
    @Test(arguments: ["ws", "wss"])
    func messagesAreExchangedThroughAProxyTunnel(_ scheme: String) async throws {
        var request = peer.request("/echo")
        request.head.scheme = scheme
        request.head.authority = "localhost"
        request.options.proxy = .through(Proxy(.http, host: "127.0.0.1", port: peer.ports["proxy"] ?? 0))
        let socket = try await transport.openWebSocket(request)
        let message = WebSocket.Message.binary(Data(count: 1 << 20))
        try await socket.send(message)
        #expect(try await socket.next() == message)
        try await socket.close()
    }

    @Test(.enabled(if: ProxyPeer.isAvailable, "no proxies are installed"), arguments: ["ws", "wss"])
    func messagesAreExchangedThroughEveryKindOfProxy(_ scheme: String) async throws {
        let proxies = try ProxyPeer.shared.get()
        for proxy in [proxies.plain, proxies.secure, proxies.socks5, proxies.socks4] {
            var request = peer.request(scheme == "wss" ? "secure" : "plain", "/echo")
            // libcurl 8.14 passes the first address of localhost to the proxy, and the server listens on the other one.
            request.options.ipVersion = .v4
            request.options.proxy = .through(proxy)
            let socket = try await transport.openWebSocket(request)
            let message = WebSocket.Message.binary(Data(count: 1 << 20))
            try await socket.send(message)
            #expect(try await socket.next() == message)
            try await socket.close()
        }
    }

    @Test func untrustedAuthorityIsRejected() async throws {
        var request = peer.request("secure", "/echo")
        request.options.trust = .system
        let error = await #expect(throws: NetworkError.self) { try await transport.openWebSocket(request) }
        #expect(error?.kind == .tls)
        #expect(error?.mayHaveReachedServer == false)
        #expect(error?.request?.scheme == "wss")
    }
}

extension WebSocket.Message {
    /// The text of the message, or `nil` if it is binary.
    fileprivate var text: String? {
        if case .text(let text) = self { text } else { nil }
    }
}

extension WebSocketPeer {
    fileprivate func request(_ path: String, _ fields: HTTPFields = [:]) -> WebSocket.Request {
        request("plain", path, fields)
    }
}
