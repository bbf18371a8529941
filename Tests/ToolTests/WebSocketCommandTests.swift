@testable import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

/// `beagle ws` with the demo backend's echo, another implementation of WebSockets. It drops empty messages.
@Suite(.timeLimit(.minutes(5)))
struct WebSocketCommandTests {
    @Test func linesAreSentAndMessagesArePrinted() async throws {
        try await withBackend { url in
            let address = url.replacing("http", with: "ws") + "/ws"
            let run = try await beagle("ws", address, "--count", "2", input: "größer\nb\n")
            #expect(run.exit == 0, "\(run.errors)")
            #expect(run.text == "größer\nb\n")
        }
    }

    @Test func endOfInputClosesAfterTheLastMessage() async throws {
        try await withBackend { url in
            let run = try await beagle("ws", "\(url)/ws", input: "a\nb")
            #expect(run.exit == 0, "\(run.errors)")
            #expect(run.lines == ["a", "b"])
        }
    }

    @Test func bytesAreSentAndReceivedUnchanged() async throws {
        try await withBackend { url in
            let run = try await beagle("ws", "\(url)/ws", "--binary", "--count", "1", "--json", input: "\u{0}\u{7F}é\n")
            let bytes = Data("\u{0}\u{7F}é".utf8)
            let result = try #require(try run.json()["result"])
            #expect(result["messages"] == [["base64": .string(bytes.base64EncodedString())]])
            #expect(result["close"]?["code"] == 1000)
        }
    }

    @Test func earlyCloseByTheServerIsAnError() async throws {
        let server = try LoopbackServer { request in Self.agreed(request, then: [0x81, 1, 0x61, 0x88, 2, 3, 0xE8]) }
        let run = try await beagle("ws", server.url, "--count", "2")
        #expect(run.exit == 18)
        #expect(run.text == "a\n")
        #expect(run.errors.contains("the server closed after 1 of 2 messages"))
    }

    @Test func closeReasonOfTheServerIsShown() async throws {
        let server = try LoopbackServer { request in Self.agreed(request, then: [0x88, 6, 3, 0xF3] + "oops".utf8) }
        let run = try await beagle("ws", server.url, "--count", "1")
        #expect(run.exit == 56)
        #expect(run.errors.contains("1011: oops"))
    }

    @Test func rejectedHandshakeIsReportedWithItsStatus() async throws {
        let server = try LoopbackServer(.response(403, [:], "no"))
        let run = try await beagle("ws", server.url, "--json")
        #expect(run.exit == 22)
        #expect(try run.json()["error"]?["status"] == 403)
        #expect(try run.json()["error"]?["code"] == "status")
    }

    @Test func headersAndSubprotocolsAreSent() async throws {
        let server = try LoopbackServer { request in Self.agreed(request, then: [0x88, 0]) }
        let run = try await beagle(
            "ws",
            server.url,
            "-H",
            "Authorization: Bearer x",
            "--subprotocol",
            "a",
            "--subprotocol",
            "b",
            "-v"
        )
        #expect(run.exit == 0, "\(run.errors)")
        let request = try #require(server.requests.first)
        #expect(request["Authorization"] == "Bearer x")
        #expect(request["Sec-WebSocket-Protocol"] == "a, b")
        #expect(run.errors.contains("Authorization: Bearer REDACTED"))
        #expect(run.errors.contains("101"))
    }

    @Test func timeIsLimited() async throws {
        let server = try LoopbackServer { request in Self.agreed(request, then: []) }
        let process = try BeagleProcess(["ws", server.url, "-m", "0.2"], keepsInputOpen: true)
        let run = await process.outcome()
        #expect(run.exit == 28)
    }

    @Test func interruptEndsTheCommand() async throws {
        let server = try LoopbackServer { request in Self.agreed(request, then: [0x81, 1, 0x61]) }
        let process = try BeagleProcess(["ws", server.url], keepsInputOpen: true)
        #expect(await process.line() == "a")
        process.interrupt()
        #expect(await process.outcome().exit == 130)
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func invalidUTF8IsNotSentAsText() async throws {
        try await withBackend { url in
            let run = try await BeagleProcess(["ws", "\(url)/ws"], bytes: Data([0xFF, 0x0A])).outcome()
            #expect(run.exit == 26)
            #expect(run.errors.contains("--binary"))
        }
    }

    @Test(
        arguments: [
            ["ws"], ["ws", "ws://h/", "--count", "0"], ["ws", "ws://h/", "-o", "file"], ["ws", "ws://h/", "--http2"],
            ["ws", "ws://h/", "--offline"],
        ]
    )
    func invalidArgumentsAreUsageErrors(_ arguments: [String]) async throws {
        #expect(try await beagle(arguments).exit == 64)
    }

    @Test func invalidValuesAreReportedWithTheirFlags() async throws {
        let scheme = try await beagle("ws", "ftp://h/")
        #expect(scheme.exit == 1)
        #expect(scheme.errors.contains("use ws or wss"))
        #expect(try await beagle("ws", "h").errors.contains("write ws://h"))
        let subprotocol = try await beagle("ws", "ws://h/", "--subprotocol", "a b")
        #expect(subprotocol.exit == 43)
        #expect(subprotocol.errors.contains("--subprotocol has a duplicate name"))
        #expect(subprotocol.errors.contains("nothing was sent"))
        let credentials = try await beagle("ws", "ws://h/", "--user", "a:b", "-H", "Authorization: x")
        #expect(credentials.errors.contains("--user: credentials are set"))
        let digest = try await beagle("ws", "ws://h/", "--user", "a:b", "--digest")
        #expect(digest.errors.contains("--user is digest"))
    }

    @Test func sizeOfAMessageIsLimited() async throws {
        let server = try LoopbackServer { request in Self.agreed(request, then: [0x81, 2, 0x61, 0x61]) }
        let run = try await beagle("ws", server.url, "--count", "1", "--max-filesize", "1")
        #expect(run.exit == 63)
        #expect(run.errors.contains("--max-filesize"))
        #expect(!run.errors.contains("WebSocket.Request") && !run.errors.contains("body"))
    }

    @Test func credentialsAndCookiesOfTheFlagsAreSent() async throws {
        let server = try LoopbackServer { request in Self.agreed(request, then: [0x88, 0]) }
        let run = try await beagle("ws", server.url, "--user", "a:b", "-b", "c=1")
        #expect(run.exit == 0, "\(run.errors)")
        #expect(server.requests.first?["Authorization"] == "Basic YTpi")
        #expect(server.requests.first?["Cookie"] == "c=1")
    }

    /// WebSockets use a tunnel of the proxy, even without TLS.
    @Test func proxyReceivesACONNECTRequest() async throws {
        let proxy = try LoopbackServer(.response(403))
        let run = try await BeagleProcess(["ws", "ws://host.invalid:81/a"], environment: ["http_proxy": proxy.url])
            .outcome()
        #expect(run.exit == 56, "\(run.errors)")
        #expect(proxy.requests.map(\.method) == ["CONNECT"])
        #expect(proxy.requests.map(\.target) == ["host.invalid:81"])
    }

    @Test func recordingIsReplayedInPlaceOfTheServer() async throws {
        try await withDirectory { directory in
            let (log, copy) = ("\(directory)/a.bglog", "\(directory)/b.bglog")
            let address = try await withBackend { url in
                let run = try await beagle("ws", "\(url)/ws", "--count", "2", "--record", log, input: "a\nb\n")
                #expect(run.exit == 0, "\(run.errors)")
                return "\(url)/ws"
            }
            // The server has stopped.
            let run = try await beagle(
                "ws",
                address,
                "--count",
                "2",
                "--replay",
                log,
                "--record",
                copy,
                input: "a\nb\n"
            )
            #expect(run.exit == 0, "\(run.errors)")
            #expect(run.lines == ["a", "b"])
            #expect(try await beagle("log", "list", copy).lines.count == 1)
            let other = try await beagle("ws", address, "--count", "2", "--replay", log, "--json", input: "a\nc\n")
            #expect(other.exit == 103, "\(other.errors)")
            let json = try other.json()
            #expect(json["error"]?["code"] == "not_in_recording")
            #expect(json["error"]?["nearest"]?[0]?["differences"]?[0] == "body: b → c")
            let elsewhere = try await beagle("ws", "\(address)/other", "--replay", log)
            #expect(elsewhere.exit == 103)
            #expect(elsewhere.errors.contains("the recording has no response to this request"))
            #expect(try await beagle("ws", address, "--replay", "\(directory)/none.har").exit == 26)
        }
    }

    /// A server that accepts a WebSocket and sends these bytes.
    private static func agreed(_ request: LoopbackServer.Request, then bytes: [UInt8]) -> LoopbackServer.Response {
        let server = try? WebSocketHandshake.accept(request["Sec-WebSocket-Key"] ?? "")
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        return .sequence([.raw(head + "Sec-WebSocket-Accept: \(server ?? "")\r\n\r\n"), .raw(Data(bytes)), .stall])
    }
}
