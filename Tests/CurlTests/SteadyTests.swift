import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

/// Very many requests that nobody cancels. `BEAGLENET_REQUESTS` sets their number (2,000 without it); then they are
/// taken to run alone, and memory is looked at.
struct SteadyTests {
    private static let asked = ProcessInfo.processInfo.environment["BEAGLENET_REQUESTS"].flatMap(Int.init)
    private static let count = asked ?? 2_000
    private static let inFlight = 64

    /// With a server in a process of its own, so that our memory is the client's.
    @Test(.enabled(if: NginxPeer.isAvailable, "nginx is not installed"))
    func everyRequestIsAnsweredOnceAndMemoryStaysFlat() async throws {
        let request = try NginxPeer.shared.get().request("/small", version: .http1, port: \.simple)
        let transport = CurlTransport()
        let outcome = Lock(Outcome(completions: Array(repeating: 0, count: Self.count)))
        let warm = Self.count / 10
        await send(request, with: transport, as: 0..<warm, outcome)
        let before = residentBytes
        await send(request, with: transport, as: warm..<Self.count, outcome)
        let growth = residentBytes - before

        let (wrong, failure) = outcome.withLock { ($0.completions.count { $0 != 1 }, $0.failure) }
        #expect(wrong == 0, "\(wrong) of \(Self.count) requests did not complete exactly once")
        #expect(failure == nil)
        // Beside other tests the process's memory is theirs too.
        if Self.asked == nil { return }
        print("memory grew by \(growth >> 10) KiB in \(Self.count - warm) requests")
        #expect(growth < 16 << 20)
    }

    private struct Outcome {
        /// How often each request was answered.
        var completions: [UInt8]
        var failure: NetworkError?
    }

    private func send(
        _ request: TransferRequest,
        with transport: CurlTransport,
        as indices: Range<Int>,
        _ outcome: Lock<Outcome>
    ) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let slots = DispatchSemaphore(value: Self.inFlight)
                for index in indices {
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
