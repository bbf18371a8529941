import BeagleNet
import BeagleNetHTTP
import BeagleNetReplay
import BeagleNetTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct ReplayWebSocketTests {
    private static let url = "wss://api.example.com/talk?room=1"

    private func entry(_ messages: [LogEntry.Message] = [], error: String? = nil) -> LogEntry {
        var entry = Exchanges.entry("GET", Self.url, status: 101)
        entry.messages = messages
        entry.error = error
        return entry
    }

    private func sent(_ text: String, at seconds: Double = 0) -> LogEntry.Message { said(.send, text, seconds) }

    private func received(_ text: String, at seconds: Double = 0) -> LogEntry.Message { said(.receive, text, seconds) }

    private func said(_ direction: LogEntry.Message.Direction, _ text: String, _ seconds: Double) -> LogEntry.Message {
        LogEntry.Message(direction, at: Date(timeIntervalSince1970: seconds), Data(text.utf8))
    }

    private func closed(_ text: String, by direction: LogEntry.Message.Direction = .receive) -> LogEntry.Message {
        LogEntry.Message(direction, at: Date(timeIntervalSince1970: 0), opcode: 8, Data(text.utf8))
    }

    private func request(_ url: String = url) -> WebSocket.Request {
        WebSocket.Request(Exchanges.message("GET", url).head)
    }

    private func open(
        _ messages: LogEntry.Message...,
        error: String? = nil,
        change: (inout WebSocket.Request) -> Void = { _ in }
    ) async throws(NetworkError) -> WebSocket {
        var request = request()
        change(&request)
        return try await ReplayTransport(Recording([entry(messages, error: error)])).openWebSocket(request)
    }

    @Test func messagesAreReceivedAfterThePrecedingOnesWereSent() async throws {
        let socket = try await open(
            received("welcome"),
            sent("a"),
            sent(#"{"token":"REDACTED","n":1}"#),
            received("A"),
            LogEntry.Message(.receive, at: Date(timeIntervalSince1970: 0), opcode: 2, Data([0, 255])),
            sent("bye"),
            closed("1001 going away")
        )
        #expect(socket.response.status.code == 101)
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("welcome"))
        try await socket.send(.text("a"))
        let next = Task {
            var messages = socket.messages.makeAsyncIterator()
            return try await messages.next()
        }
        await Task.yield()
        try await socket.send(.text(#"{"n": 1.0, "token": "secret"}"#))
        #expect(try await next.value == .text("A"))
        #expect(try await messages.next() == .binary(Data([0, 255])))
        #expect(socket.peerClose == nil)
        try await socket.send(.text("bye"))
        #expect(try await messages.next() == nil)
        #expect(socket.peerClose == WebSocket.Close(.goingAway, reason: "going away"))
        let late = await #expect(throws: NetworkError.self) { try await socket.send(.text("late")) }
        #expect(late?.kind == .closed)
    }

    private static let unrecordedMessageIsAMissArguments: [(WebSocket.Message, String?)] = [
        (.text("B"), "body: b → B"), (.binary(Data("b".utf8)), "opcode: 1 → 2"), (.text("b"), nil),
    ]

    @Test(arguments: Self.unrecordedMessageIsAMissArguments)
    func unrecordedMessageIsAMiss(_ message: WebSocket.Message, _ difference: String?) async throws {
        let socket = try await open(received("before"), sent("b"), received("after"))
        var messages = socket.messages.makeAsyncIterator()
        guard let difference else {
            try await socket.send(message)
            #expect(try await messages.next() == .text("before"))
            #expect(try await messages.next() == .text("after"))
            let more = await #expect(throws: NetworkError.self) { try await socket.send(message) }
            #expect((more?.underlying as? ReplayTransport.Miss)?.request == "message 2 to wss://api.example.com/talk")
            #expect((more?.underlying as? ReplayTransport.Miss)?.nearest == [])
            return
        }
        let error = await #expect(throws: NetworkError.self) { try await socket.send(message) }
        #expect(error?.kind == .notInRecording)
        #expect(error?.message.contains("no response to this message") == true)
        let miss = try #require(error?.underlying as? ReplayTransport.Miss)
        #expect(miss.nearest.first?.differences.map(\.description).contains(difference) == true, "\(miss)")
        // Earlier messages are still delivered; a pending receive fails.
        #expect(try await messages.next() == .text("before"))
        let failure = await #expect(throws: NetworkError.self) { _ = try await messages.next() }
        #expect(failure?.kind == .notInRecording)
        await #expect(throws: NetworkError.self) { try await socket.close() }
    }

    @Test func matchRulesApplyToMessages() async throws {
        let recording = Recording([entry([sent(#"{"op":"ping","at":1}"#), received("pong")])])
        let rules: [ReplayTransport.MatchRule] = [.method, .path, try .body(ignoring: ["$.at"])]
        let socket = try await ReplayTransport(recording, matching: rules).openWebSocket(request())
        try await socket.send(.text(#"{"op":"ping","at":2}"#))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("pong"))
    }

    @Test func socketEndsAsRecorded() async throws {
        let failed = try await open(closed("1011 oops"), error: "closed: the server closed it with code 1011")
        var messages = failed.messages.makeAsyncIterator()
        let error = await #expect(throws: NetworkError.self) { _ = try await messages.next() }
        #expect(error?.kind == .closed)
        #expect(failed.peerClose == WebSocket.Close(.internalError, reason: "oops"))

        let lost = try await open(received("a"), error: "network: the connection was lost")
        messages = lost.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("a"))
        let loss = await #expect(throws: NetworkError.self) { _ = try await messages.next() }
        #expect(loss?.kind == .network)

        let silent = try await open(received("a"))
        messages = silent.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("a"))
        #expect(try await messages.next() == nil)
        #expect(silent.peerClose?.code == .normal)
    }

    @Test func closingReturnsTheRecordedPeerClose() async throws {
        let socket = try await open(received("a"), closed("1000", by: .send), closed("1001 bye"))
        let waiting = Task {
            var messages = socket.messages.makeAsyncIterator()
            return [try await messages.next(), try await messages.next()]
        }
        await Task.yield()
        #expect(try await socket.close() == WebSocket.Close(.goingAway, reason: "bye"))
        #expect(try await waiting.value.last == .some(nil))
        #expect(try await socket.close(.goingAway) == WebSocket.Close(.goingAway, reason: "bye"))
        let early = try await open(received("a"), closed("1001 bye"))
        #expect(try await early.close(.goingAway) == WebSocket.Close(.goingAway))
    }

    @Test func recordedTimingIsReplayed() async throws {
        let clock = ManualClock()
        let messages = [received("a", at: 10), sent("b", at: 12), received("c", at: 15)]
        var entry = entry(messages)
        entry.timings = LogEntry.Timings(wait: .seconds(2), receive: .seconds(30))
        let transport = ReplayTransport(Recording([entry]), timing: .recorded(scale: 0.5), clock: clock)
        let (request, waits) = (request(), Lock<[Duration]>([]))
        let task = Task {
            let socket = try await transport.openWebSocket(request)
            var messages = socket.messages.makeAsyncIterator()
            let first = try await messages.next()
            try await socket.send(.text("b"))
            return [first, try await messages.next()]
        }
        for _ in 0..<2 {
            await clock.waitForSleepers(1)
            let wait = try #require(clock.nextWait)
            waits.withLock { $0.append(wait) }
            clock.advance(by: wait)
        }
        #expect(try await task.value == [.text("a"), .text("c")])
        #expect(waits.withLock { $0 } == [.seconds(1), .milliseconds(1_500)])
    }

    @Test func cancellingAReceiveEndsTheSocket() async throws {
        let socket = try await open(sent("never"), received("a"))
        let task = Task {
            var messages = socket.messages.makeAsyncIterator()
            _ = try await messages.next()
        }
        await Task.yield()
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.isCancelled == true)
        await #expect(throws: NetworkError.self) { try await socket.send(.text("never")) }
    }

    @Test func tooLargeMessageIsRejected() async throws {
        let socket = try await open(received("four")) { $0.maxMessageBytes = 3 }
        var messages = socket.messages.makeAsyncIterator()
        let error = await #expect(throws: NetworkError.self) { _ = try await messages.next() }
        #expect(error?.kind == .tooLarge)
    }

    @Test func recordedOpeningFailuresAreReproduced() async throws {
        var refused = Exchanges.entry("GET", "wss://api.example.com/no", status: 403, answer: "no")
        var lost = Exchanges.entry("GET", "wss://api.example.com/lost")
        (lost.response, lost.error) = (nil, "tls: no trust")
        refused.error = "status: the server returned 403 instead of opening a WebSocket"
        let transport = ReplayTransport(Recording([refused, lost, entry()]))
        let rows = [
            ("wss://api.example.com/no", NetworkError.Kind.status), ("wss://api.example.com/lost", .tls),
            ("wss://api.example.com/talk?room=2", .notInRecording),
            ("wss://other.example.com/talk?room=1", .notInRecording),
        ]
        for (url, kind) in rows {
            let error = await #expect(throws: NetworkError.self) { try await transport.openWebSocket(request(url)) }
            #expect(error?.kind == kind, "\(url)")
            #expect(error?.request?.urlText == url)
            if kind == .status { #expect(error?.response?.status.code == 403) }
        }
        let miss = await #expect(throws: NetworkError.self) {
            try await transport.openWebSocket(request("wss://api.example.com/talk?room=2"))
        }
        let nearest = (miss?.underlying as? ReplayTransport.Miss)?.nearest.first
        #expect(nearest?.differences.map(\.description) == ["query room: 1 → 2"])
    }

    @Test func entriesAreUsedInOrderAndCounted() async throws {
        let recording = Recording([
            Exchanges.entry("GET", "/a", answer: "x"), entry([received("one")]), entry([received("two")]),
        ])
        let client = ReplayClient(recording, repeats: .sequenceThenFail, dependencies: BeagleDependencies())
        for text in ["one", "two"] {
            // `https` stands for `wss`.
            let socket = try await client.openWebSocket(request("https://api.example.com/talk?room=1"))
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text(text))
        }
        #expect(client.unused.map(\.request.url) == ["https://api.example.com/a"])
        await #expect(throws: NetworkError.self) { try await client.openWebSocket(request()) }
    }

    @Test func unrecordedSocketIsOpenedByTheBaseTransport() async throws {
        let server = try RecordedServer(Recording([entry([received("live")])]))
        let log = try RequestLog(directory: NSTemporaryDirectory() + "ws-\(UUID().uuidString).bglog")
        defer { try? FileManager.default.removeItem(atPath: log.directory) }
        let url = "ws" + server.url.dropFirst(4) + "/talk?room=1"
        let transport = ReplayTransport(Recording([]), mode: .recordNew(into: log))
        var messages = try await transport.openWebSocket(request(url)).messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("live"))
        #expect(try await messages.next() == nil)
        await log.close()
        let again = ReplayTransport(try Recording(contentsOf: log.directory))
        messages = try await again.openWebSocket(request(url)).messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("live"))
        let refresh = ReplayTransport(Recording([]), mode: .refresh(from: again))
        #expect(try await refresh.openWebSocket(request(url)).response.status.code == 101)
    }
}
