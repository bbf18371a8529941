#if os(Linux)
    import BeagleNetHTTP
    import BeagleNetTesting
    import Foundation
    import Testing

    /// The memory of a subscription doesn't grow with its duration. The tool runs in its own process, so that only its
    /// memory is measured.
    @Suite(.timeLimit(.minutes(5))) struct SubscribeMemoryTests {
        private static let count = 10_000
        /// Each connection sends so many events and is cut off in the middle of the next one.
        private static let countOfAConnection = 1_000
        private static let bytesOfAnEvent = 2 << 10
        /// Less than half of the size of the events after the first tenth.
        private static let most = 8 << 20

        private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        private static let text = String(repeating: "a", count: bytesOfAnEvent)

        private static func event(_ number: Int) -> String {
            "id: \(number)\nevent: next\ndata: {\"data\":{\"tick\":\"\(number) \(text)\"}}\n\n"
        }

        /// The last event that the client has received.
        private static func last(of request: LoopbackServer.Request) -> Int {
            request["Last-Event-ID"].flatMap { Int($0) } ?? 0
        }

        private static func answer(after last: Int) -> LoopbackServer.Response {
            if last == count { return .sequence([.raw(head + "event: complete\ndata:\n\n"), .close]) }
            let end = min(count, last + countOfAConnection)
            let events = (last + 1...end).map { event($0) }.joined()
            let half = String(event(end + 1).prefix(bytesOfAnEvent / 2))
            return .sequence([.raw(head + events + half), .close])
        }

        @Test func eventsOverBrokenConnectionsAreNotRetained() async throws {
            let gates = (afterATenth: try LoopbackServer.Gate(), atTheEnd: try LoopbackServer.Gate())
            let server = try LoopbackServer { request in
                let last = Self.last(of: request)
                let answer = Self.answer(after: last)
                if last == Self.count / 10 { return .sequence([.gate(gates.afterATenth), answer]) }
                return last == Self.count ? .sequence([.gate(gates.atTheEnd), answer]) : answer
            }
            let process = try BeagleProcess(["subscribe", server.url, "-q", "subscription { tick }", "--over", "sse"])
            defer { process.kill() }
            // A client that requests the events after an event has processed that event.
            func peak(after last: Int) async throws -> Int {
                #expect(await server.until { $0.requests.contains { Self.last(of: $0) == last } })
                return try process.peakMemory
            }
            let early = try await peak(after: Self.count / 10)
            gates.afterATenth.open()
            let late = try await peak(after: Self.count)
            gates.atTheEnd.open()
            #expect(late - early < Self.most, "\(early >> 10) KiB, then \(late >> 10)")
            let run = await process.outcome()
            #expect(run.exit == 0)
            let lines = run.text.components(separatedBy: "\n").dropLast()
            #expect(lines.count == Self.count)
            let isInOrder = zip(lines, 1...).allSatisfy { $0.hasPrefix(#"{"data":{"tick":"\#($1) "#) }
            #expect(isInOrder)
            let losses = run.errors.components(separatedBy: "; reconnecting in ").count - 1
            #expect(losses == Self.count / Self.countOfAConnection)
        }
    }
#endif
