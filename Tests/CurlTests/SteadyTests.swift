import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// A large number of requests without cancellation. `BEAGLENET_REQUESTS` sets their number (default: 2,000). If it is
/// set, the test is assumed to run alone and also checks the allocated memory.
@Suite(.leavesNothing)
struct SteadyTests {
    private static let requestCount = ProcessInfo.processInfo.environment["BEAGLENET_REQUESTS"].flatMap(Int.init)
    private static let count = requestCount ?? 2_000
    private static let inFlight = 64

    /// The server runs in its own process, so that this process has only the client's memory.
    @Test(.enabled(if: NginxPeer.isAvailable, "nginx is not installed"))
    func everyRequestCompletesOnce() async throws {
        let request = try NginxPeer.shared.get().request("/small", version: .http1, port: \.simple)
        func work() async throws {
            let outcome = Lock(Outcome(completions: Array(repeating: 0, count: Self.count)))
            await send(request, with: CurlTransport(), outcome)
            let (wrong, failure) = outcome.withLock { ($0.completions.count { $0 != 1 }, $0.failure) }
            #expect(wrong == 0, "\(wrong) of \(Self.count) requests did not complete exactly once")
            #expect(failure == nil)
        }
        guard Self.requestCount != nil else { return try await work() }
        guard let growth = try await growth(of: work) else { return }
        print("\(growth >> 10) KiB more are allocated after the second \(Self.count) requests")
        #expect(growth < 256 << 10)
    }

    private struct Outcome {
        /// The number of completions of each request.
        var completions: [UInt8]
        var failure: NetworkError?
    }

    private func send(_ request: TransferRequest, with transport: CurlTransport, _ outcome: Lock<Outcome>) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let slots = DispatchSemaphore(value: Self.inFlight)
                for index in 0..<Self.count {
                    slots.wait()
                    _ = transport.perform(request) { result in
                        outcome.withLock { outcome in
                            outcome.completions[index] += 1
                            if case .failure(let error) = result { outcome.failure = error }
                        }
                        slots.signal()
                    }
                }
                for _ in 0..<Self.inFlight { slots.wait() }
                for _ in 0..<Self.inFlight { slots.signal() }
                continuation.resume()
            }
        }
    }
}
