import Testing

@testable import BeagleNetHTTP

struct WebSocketHandshakeTests {
    /// The example of RFC 6455, 1.3.
    static let nonce = Data("the sample nonce".utf8)
    static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    static let agreement =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: \(accept)\r\n"

    private static func request(_ subprotocols: [String] = [], _ fields: HTTPFields = [:]) -> WebSocket.Request {
        let head = HTTPRequest(method: .get, scheme: "ws", authority: "h:81", path: "/chat?a=b", headerFields: fields)
        return WebSocket.Request(head, subprotocols: subprotocols)
    }

    private static func handshake(_ subprotocols: [String] = []) throws -> WebSocketHandshake {
        try WebSocketHandshake(request(subprotocols), host: "h:81", nonce: nonce)
    }

    @Test func requestMatchesTheStandard() throws {
        let request = Self.request(["chat", "superchat"], [.origin: "http://h", .authorization: "Bearer x"])
        let handshake = try WebSocketHandshake(request, host: "h:81", nonce: Self.nonce)
        #expect(
            String(decoding: handshake.message, as: UTF8.self) == """
                GET /chat?a=b HTTP/1.1\r
                Host: h:81\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Protocol: chat, superchat\r
                Origin: http://h\r
                Authorization: Bearer x\r
                \r\n
                """
        )
    }

    @Test func bytesOfFieldsAreSentUnchanged() throws {
        var request = Self.request()
        request.head.headerFields.append(HTTPField(name: .cookie, value: Array("a=".utf8) + [0xE9, 0xFF]))
        let handshake = try WebSocketHandshake(request, host: "h", nonce: Self.nonce)
        #expect(
            Data(handshake.message).firstRange(of: Data("Cookie: a=".utf8) + [0xE9, 0xFF] + Data("\r\n".utf8)) != nil
        )
    }

    @Test func hostFieldOfTheAppIsUsed() throws {
        var request = Self.request()
        request.head.headerFields[try #require(HTTPField.Name("Host"))] = "other"
        let handshake = try WebSocketHandshake(request, host: "h", nonce: Self.nonce)
        let lines = String(decoding: handshake.message, as: UTF8.self).split(separator: "\r\n")
        #expect(lines.filter { $0.lowercased().hasPrefix("host:") } == ["Host: other"])
    }

    @Test func acceptMatchesTheStandard() throws {
        #expect(try WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == Self.accept)
    }

    private static let acceptanceIsParsedAtEverySplitArguments: [String] = [
        agreement, "HTTP/1.1 100 Continue\r\n\r\n" + agreement,
        agreement.replacing("Upgrade: websocket", with: "upgrade: foo, WebSocket")
            .replacing("Connection: Upgrade", with: "connection: keep-alive, upgrade"),
        agreement + "Sec-WebSocket-Protocol: chat\r\n",
    ]

    @Test(arguments: Self.acceptanceIsParsedAtEverySplitArguments)
    func acceptanceIsParsedAtEverySplit(_ head: String) throws {
        let bytes = Array((head + "\r\n").utf8) + [0x81, 1, 0x61]
        for point in 0...bytes.count {
            var handshake = try Self.handshake(["chat"])
            var rest = Data()
            var agreed: WebSocketHandshake.AcceptedHandshake?
            for piece in [bytes[..<point], bytes[point...]] {
                if agreed != nil {
                    rest += piece
                } else if let agreement = try piece.withUnsafeBytes({ try handshake.receive($0) }) {
                    agreed = agreement
                    rest += agreement.rest
                }
            }
            #expect(agreed?.head.status.code == 101)
            #expect(rest == Data([0x81, 1, 0x61]))
        }
    }

    private static let invalidResponseIsAnErrorArguments: [(String, String, NetworkError.Kind)] = [
        ("another protocol", agreement.replacing("Upgrade: websocket", with: "Upgrade: h2c"), .protocol),
        ("no Connection", agreement.replacing("Connection: Upgrade\r\n", with: ""), .protocol),
        ("no Accept", agreement.replacing("Accept", with: "Other"), .protocol),
        ("wrong Accept", agreement.replacing(accept, with: "dGhlIHNhbXBsZSBub25jZQ=="), .protocol),
        ("two Accepts", agreement + "Sec-WebSocket-Accept: \(accept)\r\n", .protocol),
        ("extension", agreement + "Sec-WebSocket-Extensions: permessage-deflate\r\n", .protocol),
        ("subprotocol", agreement + "Sec-WebSocket-Protocol: other\r\n", .protocol),
        ("two subprotocols", agreement + "Sec-WebSocket-Protocol: chat, chat\r\n", .protocol),
        ("200", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", .status),
        ("401", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n", .status),
        ("no HTTP", "SSH-2.0-OpenSSH_9.2\r\n", .protocol),
        ("folded", agreement + " folded\r\n", .protocol),
        ("endless head", agreement + String(repeating: "A: b\r\n", count: 20_000), .tooLarge),
    ]

    @Test(arguments: Self.invalidResponseIsAnErrorArguments)
    func invalidResponseIsAnError(_ name: String, _ head: String, _ kind: NetworkError.Kind) throws {
        var handshake = try Self.handshake(["chat"])
        let bytes = Array((head + (kind == .tooLarge ? "" : "\r\n")).utf8)
        let error = #expect(throws: NetworkError.self) { try bytes.withUnsafeBytes { try handshake.receive($0) } }
        #expect(error?.kind == kind)
        #expect(error?.phase == (kind == .status ? .response : .firstByte))
        if kind == .status { #expect(error?.message.contains(name) == true) }
        #expect((error?.response == nil) == (kind == .tooLarge || name == "no HTTP" || name == "folded"))
    }

    @Test func unrequestedSubprotocolIsAnError() throws {
        var handshake = try Self.handshake()
        let bytes = Array((Self.agreement + "Sec-WebSocket-Protocol: chat\r\n\r\n").utf8)
        #expect(throws: NetworkError.self) { try bytes.withUnsafeBytes { try handshake.receive($0) } }
    }

    @Test func bodyOfARejectionIsReceived() throws {
        var handshake = try Self.handshake()
        let pieces = ["HTTP/1.1 403 Forbidden\r\nContent-Length: 6\r\n\r\nnot", " you and more"]
        #expect(try Array(pieces[0].utf8).withUnsafeBytes { try handshake.receive($0) } == nil)
        let error = #expect(throws: NetworkError.self) {
            try Array(pieces[1].utf8).withUnsafeBytes { try handshake.receive($0) }
        }
        #expect(error?.data == Data("not yo".utf8))
        #expect(error?.response?.status.code == 403)
    }

    @Test func redirectErrorNamesItsTargetWithoutSecrets() throws {
        var handshake = try Self.handshake()
        let bytes = Array("HTTP/1.1 302 Found\r\nLocation: wss://h/b?token=tOpSeCrEt\r\nContent-Length: 0\r\n\r\n".utf8)
        let error = #expect(throws: NetworkError.self) { try bytes.withUnsafeBytes { try handshake.receive($0) } }
        #expect(error?.advice?.contains("wss://h/b?token=REDACTED") == true)
    }

    @Test func endBeforeTheResponseIsANetworkError() throws {
        #expect(try Self.handshake().end().kind == .network)
    }

    // MARK: requests of the app

    struct BadValue: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout WebSocket.Request) -> Void

        init(_ name: String, _ change: @escaping @Sendable (inout WebSocket.Request) -> Void) {
            testDescription = name
            self.change = change
        }
    }

    private static let errorNamesTheInvalidValueArguments: [BadValue] = [
        BadValue("scheme") { $0.head.scheme = "ftp" }, BadValue("GET") { $0.head.method = .post },
        BadValue("Upgrade") { $0.head.headerFields[.upgrade] = "h2c" },
        BadValue("Sec-WebSocket-Key") { $0.head.headerFields[.secWebSocketKey] = "x" },
        BadValue("subprotocols") { $0.subprotocols = ["a", "a"] },
        BadValue("subprotocols") { $0.subprotocols = ["a b"] }, BadValue("subprotocols") { $0.subprotocols = [""] },
        BadValue("maxMessageBytes") { $0.maxMessageBytes = 0 },
        BadValue("pingInterval") { $0.pingInterval = .zero },
        BadValue("pongTimeout") { $0.pongTimeout = .seconds(-1) },
        BadValue("closeTimeout") { $0.closeTimeout = .zero },
    ]

    @Test(arguments: Self.errorNamesTheInvalidValueArguments)
    func errorNamesTheInvalidValue(_ value: BadValue) throws {
        var request = Self.request()
        try request.validate()
        value.change(&request)
        let error = #expect(throws: NetworkError.self) { try request.validate() }
        #expect(error?.message.contains(value.testDescription) == true, "\(error?.message ?? "")")
        #expect(error?.phase == .build)
    }
}
