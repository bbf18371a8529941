import BeagleNet
import BeagleNetHTTP
import BeagleNetReplay
import Testing

struct PlaybackTests {
    private func transport(_ repeats: ReplayTransport.Repeats, answers: Int = 3) -> ReplayTransport {
        let entries = (0..<answers).map { Exchanges.entry("GET", "/a", answer: "\($0)", at: Double($0)) }
        return ReplayTransport(Recording(entries), repeats: repeats)
    }

    private static let equalRequestsGetTheResponsesInRecordedOrderArguments: [(ReplayTransport.Repeats, [String])] = [
        (ReplayTransport.Repeats.sequenceThenLast, ["0", "1", "2", "2", "2"]),
        (.cycle, ["0", "1", "2", "0", "1"]),
        (.sequenceThenFail, ["0", "1", "2", "not_in_recording", "not_in_recording"]),
    ]

    @Test(arguments: Self.equalRequestsGetTheResponsesInRecordedOrderArguments)
    func equalRequestsGetTheResponsesInRecordedOrder(_ repeats: ReplayTransport.Repeats, _ expected: [String]) async {
        let transport = transport(repeats)
        for text in expected { #expect(await transport.text(Exchanges.message("GET", "/a")) == text) }
    }

    @Test func differentRequestsHaveSeparateSequences() async {
        let transport = ReplayTransport(
            Recording([
                Exchanges.entry("GET", "/a", answer: "a0"), Exchanges.entry("GET", "/b", answer: "b0", at: 1),
                Exchanges.entry("GET", "/a", answer: "a1", at: 2), Exchanges.entry("GET", "/b", answer: "b1", at: 3),
            ])
        )
        for (path, text) in [("/b", "b0"), ("/b", "b1"), ("/a", "a0"), ("/b", "b1"), ("/a", "a1")] {
            #expect(await transport.text(Exchanges.message("GET", path)) == text)
        }
    }

    @Test func eachResponseIsReplayedOnceToManyThreads() async {
        let transport = transport(.sequenceThenFail, answers: 800)
        let texts = await withTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var texts: [String] = []
                    for _ in 0..<100 { texts.append(await transport.text(Exchanges.message("GET", "/a"))) }
                    return texts
                }
            }
            return await group.reduce(into: [[String]]()) { $0.append($1) }
        }
        #expect(Set(texts.joined()).count == 800)
        // Each task receives its responses in recorded order.
        #expect(texts.allSatisfy { texts in texts.compactMap { Int($0) } == texts.compactMap { Int($0) }.sorted() })
        #expect(transport.unused.isEmpty)
    }

    @Test func responseIsChosenBeforePerformReturns() async {
        let transport = transport(.sequenceThenFail, answers: 100)
        let received = Lock([Int: String]())
        await withCheckedContinuation { continuation in
            for index in 0..<100 {
                transport.perform(Exchanges.message("GET", "/a")) { result in
                    let text = (try? result.get().body.data).map { String(decoding: $0, as: UTF8.self) }
                    let isLast = received.withLock { received in
                        received[index] = text
                        return received.count == 100
                    }
                    if isLast { continuation.resume() }
                }
            }
        }
        #expect(received.withLock { received in (0..<100).allSatisfy { received[$0] == "\($0)" } })
    }

    @Test func unusedResponsesAreReported() async throws {
        let transport = ReplayTransport(
            Recording([
                Exchanges.entry("GET", "/a?token=abc", id: "1"), Exchanges.entry("GET", "/b?token=abc", at: 1, id: "2"),
                Exchanges.entry("GET", "/a?token=abc", at: 2, id: "3"),
            ])
        )
        _ = await transport.text(Exchanges.message("GET", "/a?token=abc"))
        #expect(transport.unused.map(\.id) == ["2", "3"])
        do {
            try transport.assertAllUsed()
            Issue.record("assertAllUsed didn't report the unused entries")
        } catch {
            #expect(error.kind == .notInRecording)
            #expect(error.message.contains("2 of 3 recorded responses"))
            #expect(error.message.contains("GET https://api.example.com/b?token=REDACTED"))
            #expect(!error.message.contains("abc"))
        }
        _ = await transport.text(Exchanges.message("GET", "/a?token=abc"))
        _ = await transport.text(Exchanges.message("GET", "/b?token=abc"))
        try transport.assertAllUsed()
    }

    @Test func unusedStoredResponsesAreIgnoredButNotWebSockets() throws {
        var stored = Exchanges.entry("GET", "/a")
        stored.isFromStore = true
        try ReplayTransport(Recording([stored])).assertAllUsed()
        let transport = ReplayTransport(Recording([stored, Exchanges.entry("GET", "/ws", status: 101)]))
        #expect(transport.unused.map(\.request.url) == ["https://api.example.com/ws"])
    }
}
