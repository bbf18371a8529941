import BeagleNet
import BeagleNetHTTP
import BeagleNetReplay
import BeagleNetTesting
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct ReplayTimingTests {
    private static let timings = LogEntry.Timings(
        blocked: .milliseconds(100),
        dns: .milliseconds(100),
        connect: .milliseconds(200),
        tls: .milliseconds(100),
        send: .milliseconds(100),
        wait: .milliseconds(500),
        receive: .milliseconds(1_600)
    )

    /// Advances the clock from wait to wait until the work is done. Returns the duration of each wait.
    private func waits(
        on clock: ManualClock,
        _ work: @escaping @Sendable () async throws -> Void
    ) async -> ([Duration], failure: NetworkError?) {
        let isDone = Lock(false)
        let failure = Lock<NetworkError?>(nil)
        let task = Task {
            do { try await work() } catch { failure.withLock { $0 = NetworkError(wrapping: error) } }
            isDone.withLock { $0 = true }
            // The loop below waits for one more sleeper.
            try? await clock.sleep(for: .seconds(1_000_000))
        }
        var waits: [Duration] = []
        while true {
            await clock.waitForSleepers(1)
            if isDone.withLock({ $0 }) { break }
            let wait = clock.nextWait ?? .zero
            waits.append(wait)
            clock.advance(by: wait)
        }
        task.cancel()
        await task.value
        return (waits, failure.withLock { $0 })
    }

    private func waits(
        _ timing: ReplayTransport.Timing,
        _ entry: LogEntry,
        _ change: (inout TransferRequest) -> Void = { _ in }
    ) async -> ([Duration], failure: NetworkError?) {
        let clock = ManualClock()
        let transport = ReplayTransport(Recording([entry]), timing: timing, clock: clock)
        var message = Exchanges.message("GET", "/a")
        change(&message)
        return await waits(on: clock) { [message] in
            let response = try await transport.perform(message)
            for try await _ in response.body {}
        }
    }

    private func entry(_ count: Int = 16 << 10) -> LogEntry {
        Exchanges.entry("GET", "/a", answer: String(repeating: "x", count: count), timings: Self.timings)
    }

    @Test func responseIsImmediateByDefault() async {
        #expect(await waits(.none, entry()).0 == [])
    }

    @Test func fixedDelayPrecedesTheHead() async {
        #expect(await waits(.fixed(.seconds(2)), entry()).0 == [.seconds(2)])
        #expect(await waits(.fixed(.seconds(-2)), entry()).0 == [])
    }

    @Test func headWaitsForAllPhasesAndBodyArrivesInPieces() async {
        let dribble = [Duration](repeating: .milliseconds(100), count: 16)
        #expect(await waits(.recorded(), entry()).0 == [.seconds(1)] + dribble)
        #expect(await waits(.recorded(), entry()) { $0.delivery = .stream }.0 == [.seconds(1)] + dribble)
        #expect(await waits(.recorded(), entry(10)).0 == [.seconds(1), .milliseconds(1_600)])
        #expect(await waits(.recorded(), entry(0)).0 == [.seconds(1)])
    }

    @Test func delaysAreScaledAndLimited() async {
        #expect(await waits(.recorded(scale: 2), entry(10)).0 == [.seconds(2), .milliseconds(3_200)])
        #expect(await waits(.recorded(scale: 0), entry(10)).0 == [])
        #expect(await waits(.recorded(scale: -1), entry(10)).0 == [])
        #expect(await waits(.recorded(scale: .nan), entry(10)).0 == [])
        let cut = ReplayTransport.Timing.recorded(scale: 2, maxGap: .milliseconds(700))
        #expect(await waits(cut, entry(10)).0 == [.milliseconds(700), .milliseconds(700)])
    }

    @Test func jitterIsReproducibleForASeed() async {
        let timing = ReplayTransport.Timing.fixed(.seconds(1)).jittered(by: 0.5, seed: 7)
        let (one, other) = (await waits(timing, entry()).0, await waits(timing, entry()).0)
        #expect(one == other && one.count == 1 && one != [.seconds(1)])
        #expect(one.allSatisfy { (.milliseconds(500)...(.milliseconds(1_500))).contains($0) })
        #expect(await waits(.fixed(.seconds(1)).jittered(by: 0.5, seed: 8), entry()).0 != one)
        #expect(await waits(.fixed(.seconds(1)).jittered(by: 0, seed: 8), entry()).0 == [.seconds(1)])
    }

    @Test func eventsArriveAtRecordedIntervals() async {
        var entry = Exchanges.entry("GET", "/a", type: "text/event-stream")
        entry.messages = [10, 10.5, 12.5, 12].map {
            LogEntry.Message(.receive, at: Date(timeIntervalSince1970: $0), Data("data: x".utf8))
        }
        let (waits, _) = await waits(.recorded(scale: 2), entry) { $0.delivery = .stream }
        #expect(waits == [.seconds(1), .seconds(4)])
    }

    @Test func timeoutsOfTheRequestApply() async {
        let head = await waits(.fixed(.seconds(5)), entry()) {
            $0.options.timeouts = TransferOptions.Timeouts(firstByte: .seconds(2))
        }
        #expect(head.0 == [.seconds(2)])
        #expect(head.failure?.kind == .timeout && head.failure?.phase == .firstByte)
        let body = await waits(.recorded(), entry(10)) {
            $0.options.timeouts = TransferOptions.Timeouts(total: .seconds(2))
        }
        #expect(body.0 == [.seconds(1), .seconds(1)])
        #expect(body.failure?.kind == .timeout && body.failure?.phase == .body)
    }

    @Test func cancellingADelayReportsCancelledOnce() async {
        let clock = ManualClock()
        let transport = ReplayTransport(Recording([entry()]), timing: .fixed(.seconds(5)), clock: clock)
        let result: Result<TransferResponse, NetworkError> = await withCheckedContinuation { continuation in
            let token = transport.perform(Exchanges.message("GET", "/a")) { continuation.resume(returning: $0) }
            Task {
                await clock.waitForSleepers(1)
                token.cancel()
                token.cancel()
            }
        }
        #expect(throws: NetworkError.self) { try result.get() }
        if case .failure(let error) = result { #expect(error.isCancelled) }
        #expect(clock.nextWait == nil)
    }
}
