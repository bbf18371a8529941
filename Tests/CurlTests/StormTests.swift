import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

/// Random cancels from many threads: one completion each, whatever happens. `BEAGLENET_STORM` sets the number of
/// requests (2,000 without it).
@Suite(.serialized)
struct StormTests {
    private static let count = ProcessInfo.processInfo.environment["BEAGLENET_STORM"].flatMap(Int.init) ?? 2_000

    @Test func everyRequestOfAPlainStormCompletesOnce() async throws {
        let server = try LoopbackServer(.response(200, [:], "storm"))
        try await Storm(url: server.url, trust: .system, count: Self.count).run()
    }

    @Test func everyRequestOfAStormOnThePortableLoopCompletesOnce() async throws {
        let server = try LoopbackServer(.response(200, [:], "storm"))
        let transport = CurlTransport(isPortable: true)
        try await Storm(url: server.url, trust: .system, count: Self.count, transport: transport).run()
    }
}

/// Eight threads that start requests of several kinds and cancel two in three of them at random moments.
private struct Storm {
    private static let threads = 8
    private static let inFlight = 16

    private struct Outcome {
        var completions: [Int]
        var unexpected: [NetworkError] = []
    }

    let url: String
    let trust: TLSTrust
    let count: Int
    var transport = CurlTransport()

    func run() async throws {
        let outcome = Lock(Outcome(completions: Array(repeating: 0, count: count)))
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<Self.threads {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            storm(from: thread, outcome)
                            continuation.resume()
                        }
                    }
                }
            }
        }
        let (wrong, unexpected) = outcome.withLock { outcome in
            (outcome.completions.count { $0 != 1 }, outcome.unexpected)
        }
        #expect(wrong == 0, "\(wrong) of \(count) requests did not complete exactly once")
        #expect(unexpected.isEmpty, "\(unexpected.count) requests failed, and not because they were cancelled")
        let after = try await transport.perform(request(.collect))
        #expect(after.head.status == .ok)
    }

    private func storm(from thread: Int, _ outcome: Lock<Outcome>) {
        var random = SystemRandomNumberGenerator()
        let slots = DispatchSemaphore(value: Self.inFlight)
        var tokens: [any RequestToken] = []
        for index in stride(from: thread, to: count, by: Self.threads) {
            slots.wait()
            let kind = Int.random(in: 0..<4, using: &random)
            let message = request(kind == 3 ? .stream : .collect, body: kind == 2 ? HTTPBody("x=1") : nil)
            let token = transport.perform(message) { result in
                outcome.withLock { outcome in
                    outcome.completions[index] += 1
                    if case .failure(let error) = result, !error.isCancelled { outcome.unexpected.append(error) }
                }
                slots.signal()
            }
            if kind != 0 { tokens.append(token) }
            if Int.random(in: 0..<4, using: &random) == 0 { tokens.shuffle(using: &random) }
            while tokens.count > Int.random(in: 0..<12, using: &random) { tokens.removeLast().cancel() }
        }
        for token in tokens { token.cancel() }
        for _ in 0..<Self.inFlight { slots.wait() }
        for _ in 0..<Self.inFlight { slots.signal() }
    }

    private func request(_ delivery: TransferRequest.Delivery, body: HTTPBody? = nil) -> TransferRequest {
        let parts = url.split(separator: ":", maxSplits: 1)
        let head = HTTPRequest(
            method: body == nil ? .get : .post,
            scheme: String(parts[0]),
            authority: String(parts[1].dropFirst(2)),
            path: "/storm"
        )
        return TransferRequest(head, body: body, options: TransferOptions(trust: trust), delivery: delivery)
    }
}
