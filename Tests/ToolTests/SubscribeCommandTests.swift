import BeagleNetHTTP
import Foundation
import GraphQLPeers
import Testing

@testable import BeagleNetTesting
@testable import beagle

struct SubscribeCommandTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    private let query = "subscription Ticks($room: ID!) { tick(room: $room) }"

    private static func result(_ number: Int) -> String { "event: next\ndata: {\"data\":{\"tick\":\(number)}}\n\n" }

    private static func events(_ results: ClosedRange<Int>, isWhole: Bool = true) -> LoopbackServer.Response {
        let end = isWhole ? "event: complete\ndata:\n\n" : ""
        return .sequence([.raw(head + results.map(result).joined() + end), .close])
    }

    @Test func eachResultIsPrintedAsALine() async throws {
        let server = try LoopbackServer(Self.events(1...2))
        let run = try await beagle(
            "subscribe",
            server.url,
            "-q",
            query,
            "-v",
            "room=7",
            "--over",
            "sse",
            "-H",
            "X-One: 1"
        )
        #expect(run.exit == 0, "\(run.errors)")
        #expect(run.errors.isEmpty)
        #expect(run.lines == [#"{"data":{"tick":1}}"#, #"{"data":{"tick":2}}"#])
        let request = try #require(server.requests.first)
        #expect(request["X-One"] == "1" && request["Accept"] == "text/event-stream")
        #expect(try JSONValue(parsing: request.body)["variables"] == ["room": "7"])
    }

    @Test(arguments: ["sse", "multipart"])
    func sizeOfAResultIsLimited(way: String) async throws {
        let long = #"{"data":{"tick":"\#(String(repeating: "a", count: 3000))"}}"#
        let server = try LoopbackServer { request in
            if request["Accept"] == "text/event-stream" {
                return .sequence([.raw(Self.head + "event: next\ndata: \(long)\n\n"), .stall])
            }
            let head = "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed;boundary=graphql\r\n\r\n"
            return .sequence([.raw(head + "--graphql\r\n\r\n{\"payload\":\(long)}\r\n--graphql"), .stall])
        }
        let run = try await beagle(
            "subscribe",
            server.url,
            "-q",
            query,
            "--over",
            way,
            "--max-filesize",
            "1k",
            "--count",
            "1"
        )
        #expect(run.exit == 63, "\(run.errors)")
        #expect(run.errors.contains("1024 bytes") || run.errors.contains("1000 bytes"))
        #expect(run.errors.contains("increase --max-filesize"))
        let longer = try await beagle(
            "subscribe",
            server.url,
            "-q",
            query,
            "--over",
            way,
            "--max-filesize",
            "4k",
            "--count",
            "1"
        )
        #expect(longer.exit == 0, "\(longer.errors)")
    }

    /// The parts of a truncated multipart body.
    private static func parts(_ results: ClosedRange<Int>) -> LoopbackServer.Response {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed;boundary=graphql\r\n\r\n--graphql\r\n"
        let parts = results.map { "\r\n{\"payload\":{\"data\":{\"tick\":\($0)}}}\r\n--graphql\r\n" }
        return .sequence([.raw(head + parts.joined()), .close])
    }

    @Test(arguments: ["sse", "multipart"]) func lostConnectionIsReportedAndReplaced(way: String) async throws {
        let server = try LoopbackServer { request in
            request["Accept"] == "text/event-stream" ? Self.events(1...2, isWhole: false) : Self.parts(1...2)
        }
        let run = try await beagle("subscribe", server.url, "-q", query, "--over", way, "--count", "3", "--json")
        #expect(run.exit == 0, "\(run.errors)")
        #expect(run.errors.contains("; reconnecting in "))
        #expect(run.errors.split(separator: "\n").count == 1)
        let lines = try run.lines.map { try JSONValue(parsing: $0) }
        try #require(lines.count == 4)
        #expect(lines[2] == ["data": ["tick": 1]])
        #expect(lines[3]["ok"] == true && lines[3]["result"] == ["events": 3])
    }

    /// A server with one feed. Each WebSocket receives the next two results and is then dropped, with or without a close
    /// frame.
    private static func feed(_ way: SubscribeCommand.TransportName, saysGoodbye: Bool) throws -> LoopbackServer {
        let (subprotocol, next) = way == .legacyWS ? ("graphql-ws", "data") : ("graphql-transport-ws", "next")
        let sent = Lock(0)
        return try LoopbackServer { request in
            guard let accept = try? WebSocketHandshake.accept(request["Sec-WebSocket-Key"] ?? "") else { return .close }
            let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            let fields = "Sec-WebSocket-Protocol: \(subprotocol)\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"
            return .sequence([
                .raw(head + fields),
                .played { connection in
                    // The client's connection_init. The next frame is its operation.
                    _ = connection.readFrame()
                    _ = connection.send(frame: 1, Data(#"{"type":"connection_ack"}"#.utf8))
                    guard let operation = connection.readFrame(),
                        let id = (try? JSONValue(parsing: operation.payload))?["id"]?.string
                    else { return false }
                    for _ in 0..<2 {
                        let number = sent.withLock { sent in
                            sent += 1
                            return sent
                        }
                        let result = #"{"id":"\#(id)","type":"\#(next)","payload":{"data":{"tick":\#(number)}}}"#
                        _ = connection.send(frame: 1, Data(result.utf8))
                    }
                    // 1012: the service restarts.
                    if saysGoodbye, connection.send(frame: 8, Data([0x03, 0xF4])) {
                        while connection.readFrame() != nil {}
                    }
                    return false
                },
            ])
        }
    }

    @Test(arguments: [SubscribeCommand.TransportName.ws, .legacyWS], [true, false])
    func lostWebSocketIsReportedAndReplaced(_ way: SubscribeCommand.TransportName, saysGoodbye: Bool) async throws {
        let server = try Self.feed(way, saysGoodbye: saysGoodbye)
        let run = try await beagle("subscribe", server.url, "-q", query, "--over", way.rawValue, "--count", "5")
        #expect(run.exit == 0, "\(run.errors)")
        #expect(run.lines == (1...5).map { #"{"data":{"tick":\#($0)}}"# })
        let notes = run.errors.split(separator: "\n")
        #expect(notes.count == 2)
        #expect(notes.allSatisfy { $0.contains("WebSocket") && $0.contains("; reconnecting in ") })
        #expect(notes.allSatisfy { $0.contains("1012") == saysGoodbye })
        #expect(server.requests.count == 3)
    }

    /// A server that sends one frame on each WebSocket, and executes other requests as queries.
    private static func socket(_ subprotocol: String, says opcode: UInt8, _ payload: Data) throws -> LoopbackServer {
        try LoopbackServer { request in
            guard let accept = try? WebSocketHandshake.accept(request["Sec-WebSocket-Key"] ?? ""),
                request["Sec-WebSocket-Key"] != nil
            else { return .response(200, ["Content-Type": "application/json"], #"{"data":{"tick":null}}"#) }
            let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            let fields = "Sec-WebSocket-Protocol: \(subprotocol)\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"
            return .sequence([
                .raw(head + fields),
                .played { connection in
                    _ = connection.readFrame()
                    _ = connection.send(frame: opcode, payload)
                    while connection.readFrame() != nil {}
                    return false
                },
            ])
        }
    }

    @Test func codeAndReasonOfACloseAreShown() async throws {
        let server = try Self.socket("graphql-transport-ws", says: 8, Data([0x11, 0x33] + "Forbidden".utf8))
        let arguments = ["subscribe", server.url, "-q", query, "--over", "ws", "--retry", "0"]
        let run = try await beagle(arguments)
        #expect(run.exit == 56)
        #expect(run.errors.hasPrefix("beagle: \(server.url)"), "\(run.errors)")
        #expect(run.errors.contains("4403 \"Forbidden\""))
        let error = try await beagle(arguments + ["--json"]).json()["error"]
        #expect(error?["close"] == ["code": 4403, "reason": "Forbidden"])
        #expect(error?["url"]?.string?.hasPrefix(server.url) == true)
    }

    @Test func payloadOfAConnectionErrorIsShown() async throws {
        let message = Data(#"{"type":"connection_error","payload":{"reason":"no entry","token":"abc123"}}"#.utf8)
        let server = try Self.socket("graphql-ws", says: 1, message)
        let run = try await beagle("subscribe", server.url, "-q", query, "--over", "ws-legacy", "--retry", "0")
        #expect(run.exit == 56)
        #expect(run.errors.contains("the server refused the connection"))
        #expect(run.errors.contains("no entry") && !run.errors.contains("abc123"), "\(run.errors)")
    }

    @Test func queryResponseToASubscriptionIsAnError() async throws {
        let server = try LoopbackServer { request in
            request.method == "GET"
                ? .response(404) : .response(200, ["Content-Type": "application/json"], #"{"data":{"tick":null}}"#)
        }
        let run = try await beagle("subscribe", server.url, "-q", query)
        #expect(run.exit != 0 && run.lines.isEmpty)
        #expect(run.errors.contains("it returned application/json"), "\(run.errors)")
        #expect(server.requests.count == 4)
    }

    /// Some proxies repeat the field.
    @Test(arguments: ["text/plain", "text/plain, text/plain"])
    func textOfARejectionIsShown(_ type: String) async throws {
        let server = try LoopbackServer(.response(400, ["Content-Type": type], "No GraphQL query\nmore"))
        let run = try await beagle("subscribe", server.url, "-q", query, "--over", "sse", "--retry", "0")
        #expect(run.exit != 0)
        #expect(run.errors.contains("400") && run.errors.contains(": No GraphQL query\n"), "\(run.errors)")
    }

    @Test func subscriptionToTheDemoBackendWorks() async throws {
        try await withBackend { url in
            for flags in [[], ["--over", "ws"], ["--over", "sse"]] {
                let arguments = ["subscribe", "\(url)/graphql", "-q", "subscription { n: count(to: 3) }"]
                let run = try await beagle(arguments + flags)
                #expect(run.exit == 0, "\(run.errors)")
                #expect(run.lines == (1...3).map { #"{"data":{"n":\#($0)}}"# })
            }
            let refused = try await beagle("subscribe", "\(url)/graphql", "-q", "subscription { nope }")
            #expect(refused.exit == 102)
            #expect(refused.errors.contains("\(url)/graphql: ") && refused.errors.contains("nope"))
        }
    }

    @Test func reconnectingStopsAfterTheRetries() async throws {
        let server = try LoopbackServer { _ in .close }
        let run = try await beagle("subscribe", server.url, "-q", query, "--over", "sse", "--retry", "1")
        #expect(run.exit != 0 && run.exit < 100)
        #expect(server.requests.count == 2)
    }

    @Test func resultsWithErrorsExitWith102() async throws {
        let server = try LoopbackServer(
            .sequence([
                .raw(
                    Self.head + "event: next\ndata: {\"data\":null,\"errors\":[{\"message\":\"no\"}]}\n\n"
                        + Self.result(2) + "event: complete\ndata:\n\n"
                ), .close,
            ])
        )
        let run = try await beagle("subscribe", server.url, "-q", query, "--over", "sse")
        #expect(run.exit == 102)
        #expect(run.lines == [#"{"errors":[{"message":"no"}]}"#, #"{"data":{"tick":2}}"#])
        #expect(run.errors.contains("1 of 2 results had errors"))
    }

    @Test(
        .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"),
        arguments: SubscribeCommand.TransportName.allCases
    )
    func subscriptionToAnotherServerWorks(_ way: SubscribeCommand.TransportName) async throws {
        let url = try await GraphQLServer.shared.url(way == .sharedSSE ? "/single" : "/graphql").absoluteString
        let run = try await beagle(
            "subscribe",
            url,
            "-q",
            "subscription { count(to: 3) }",
            "--over",
            way.rawValue,
            "--retry",
            "0"
        )
        #expect(run.exit == 0, "\(run.errors)")
        #expect(run.lines == (1...3).map { #"{"data":{"count":\#($0)}}"# })
    }

    @Test(.enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
    func webSocketIsPreferredAndReceivesTheParameters() async throws {
        let url = try await GraphQLServer.shared.url("/graphql", scheme: "ws").absoluteString
        let arguments = ["subscribe", url, "-q", "subscription { connection }"]
        let run = try await beagle(arguments + ["--connection-params", #"{"token":"x"}"#])
        #expect(run.exit == 0, "\(run.errors)")
        #expect(run.lines == [#"{"data":{"connection":{"token":"x"}}}"#])
        let refused = try await beagle(
            arguments + ["--connection-params", #"{"reject":true}"#, "--retry", "0", "--json"]
        )
        #expect(refused.exit != 0)
        #expect(try refused.json()["ok"] == false)
    }

    @Test func rejectedHandshakeIsReportedWithItsStatus() async throws {
        let server = try LoopbackServer(.response(401, [:], Data("who?".utf8)))
        let arguments = ["subscribe", server.url, "-q", query, "--over", "ws", "--retry", "0", "--json"]
        let run = try await beagle(arguments)
        #expect(run.exit != 0)
        let error = try run.json()["error"]
        #expect(error?["code"] == "status")
        #expect(error?["status"] == 401)
    }

    @Test func interruptEndsTheSubscription() async throws {
        let server = try LoopbackServer(.sequence([.raw(Self.head + Self.result(1)), .stall]))
        let process = try BeagleProcess(["subscribe", server.url, "-q", query, "--over", "sse"])
        #expect(await process.line() == #"{"data":{"tick":1}}"#)
        process.interrupt()
        #expect(await process.outcome().exit == 130)
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func timeIsLimited() async throws {
        let server = try LoopbackServer(.sequence([.raw(Self.head), .stall]))
        let run = try await beagle("subscribe", server.url, "-q", query, "--over", "sse", "-m", "0.3")
        #expect(run.exit == 28)
        #expect(run.errors.contains("--max-time"))
    }

    private static let invalidArgumentsAreUsageErrorsArguments: [[String]] = [
        ["subscribe"], ["subscribe", "http://h/"], ["subscribe", "http://h/", "-q", "{a}", "--count", "0"],
        ["subscribe", "http://h/", "-q", "{a}", "-o", "file"],
        ["subscribe", "http://h/", "-q", "{a}", "--offline"],
        ["subscribe", "http://h/", "-q", "{a}", "--over", "pigeon"],
        ["subscribe", "http://h/", "-q", "subscription { a }", "--connection-params", "[]"],
    ]

    @Test(arguments: Self.invalidArgumentsAreUsageErrorsArguments)
    func invalidArgumentsAreUsageErrors(_ arguments: [String]) async throws {
        #expect(try await beagle(arguments).exit == 64)
    }

    @Test func queryIsRejected() async throws {
        let run = try await beagle("subscribe", "http://127.0.0.1:9/", "-q", "{ a }")
        #expect(run.exit == 43)
        #expect(run.errors.contains("not a subscription"))
        let other = try await beagle("graphql", "http://127.0.0.1:9/", "-q", "subscription { a }")
        #expect(other.errors.contains("beagle subscribe"))
    }
}
