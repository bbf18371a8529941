import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

/// A server that honors the `Idempotency-Key`, and often loses a request or its response.
private final class LossyServer: Sendable {
    private struct State {
        /// The executed requests, in order.
        var executed: [String] = []
        var keys: Set<String> = []
        var requests = 0
        var replays = 0
        var isCalm = false
    }

    private let state = Lock(State())

    var executed: [String] { state.withLock { $0.executed } }
    var requests: Int { state.withLock { $0.requests } }
    var replays: Int { state.withLock { $0.replays } }

    /// Stops losing requests and responses.
    func calmDown() {
        state.withLock { $0.isCalm = true }
    }

    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        state.withLock { state in
            state.requests += 1
            let chance = state.isCalm ? 99 : Int.random(in: 0..<100)
            if chance < 6 { return .close }
            if chance < 12 { return .response(503) }
            if chance < 15 { return .response(429) }
            guard let key = request.fields.first(where: { $0.name.lowercased() == "idempotency-key" })?.value else {
                return .response(400)
            }
            if state.keys.insert(key).inserted {
                state.executed.append(String(request.target.dropFirst()))
            } else {
                state.replays += 1
            }
            if chance < 22 { return .close }
            if chance < 26 { return .reset }
            return .response(201)
        }
    }
}

extension KillTests {
    @Test func noKeptFormIsLostOrExecutedTwice() async throws {
        try await withDirectory { directory in
            let forgetful = LossyServer()
            let server = try LoopbackServer { forgetful.answer($0) }
            let outbox = "\(directory)/outbox"
            var kept: Set<String> = []
            for kill in 0..<Self.kills {
                // Each process has its own numbers.
                let process = try BeagleProcess([outbox, server.url, "\(kill * 30_000)"], program: "OutboxProbe")
                let enough = forgetful.requests + Int.random(in: 0...40)
                await server.until { _ in forgetful.requests >= enough }
                try await Task.sleep(for: .microseconds(.random(in: 0..<10_000)))
                process.kill()
                let outcome = await process.outcome()
                #expect(outcome.exit == -1, "\(outcome.errors)")
                // The last line may be incomplete.
                let text = outcome.text
                kept.formUnion(
                    text[..<(text.lastIndex(of: "\n") ?? text.startIndex)].split(separator: "\n").map(String.init)
                )
            }
            forgetful.calmDown()
            let flush = try await beagle("outbox", "flush", outbox)
            #expect(flush.exit == 0, "\(flush.errors)")

            let executed = forgetful.executed
            #expect(kept.subtracting(executed) == [], "kept but never sent")
            #expect(Set(executed).count == executed.count, "executed twice")
            for queue in 0..<3 {
                let numbers = executed.compactMap(Int.init).filter { $0 % 3 == queue }
                #expect(numbers == numbers.sorted(), "out of order")
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: outbox)
            let always = ["damaged", "refused", "send.lock"]
            #expect(left.allSatisfy { always.contains($0) || $0.hasSuffix(".part") }, "\(left)")
            for name in always.prefix(2) {
                #expect(try FileManager.default.contentsOfDirectory(atPath: "\(outbox)/\(name)") == [])
            }
            print(
                "outbox killed \(Self.kills) times: \(kept.count) kept, \(executed.count) executed,",
                "\(forgetful.replays) sent again, \(flush.lines.count) sent at the end"
            )
            if Self.kills >= 100 { #expect(forgetful.replays > 0) }
        }
    }
}
