import BeagleNetHTTP
import Testing

struct BackoffTests {
    /// A generator that always returns the same value, such as the smallest or the largest.
    private struct Fixed: RandomNumberGenerator {
        var value: UInt64
        func next() -> UInt64 { value }
    }

    private func range(_ backoff: Backoff, after failures: Int, serverDelay: Duration = .zero) -> ClosedRange<Duration>?
    {
        var (least, most) = (Fixed(value: 0), Fixed(value: .max))
        guard let lower = backoff.delay(after: failures, serverDelay: serverDelay, using: &least),
            let upper = backoff.delay(after: failures, serverDelay: serverDelay, using: &most)
        else { return nil }
        // The upper bound itself is never chosen.
        return lower ... .milliseconds(Int((upper / .milliseconds(1)).rounded()))
    }

    private static let windowDoublesUpToItsCapArguments: [(Int, Int)] = [
        (0, 1), (1, 1), (2, 2), (3, 4), (5, 16), (6, 30), (7, 30), (64, 30), (65, 30), (.max, 30),
    ]

    @Test(arguments: Self.windowDoublesUpToItsCapArguments)
    func windowDoublesUpToItsCap(failures: Int, seconds: Int) {
        #expect(range(Backoff(), after: failures) == .zero ... .seconds(seconds))
    }

    @Test func delayIsChosenWithinTheWindow() {
        var half = Fixed(value: 1 << 52)
        let delay = Backoff(base: .seconds(8)).delay(after: 1, using: &half)
        #expect(delay.map { abs($0 / .seconds(1) - 4) < 0.01 } == true, "\(delay ?? .zero)")
    }

    @Test func requestedDelayIsTheMinimum() {
        #expect(range(Backoff(), after: 2, serverDelay: .seconds(120)) == .seconds(120) ... .seconds(122))
        #expect(range(Backoff(), after: 2, serverDelay: .seconds(-5)) == .zero ... .seconds(2))
    }

    @Test func tooLongRequestedDelayEndsTheRetries() {
        let backoff = Backoff(maxServerDelay: .seconds(10))
        #expect(range(backoff, after: 1, serverDelay: .seconds(10)) != nil)
        #expect(range(backoff, after: 1, serverDelay: .seconds(11)) == nil)
        #expect(range(Backoff(), after: 1, serverDelay: .seconds(999_999_999)) == nil)
    }

    @Test func consecutiveFailuresAreLimited() {
        let backoff = Backoff(limit: 3)
        #expect((1...4).map { range(backoff, after: $0) != nil } == [true, true, false, false])
        #expect(range(Backoff(limit: 0), after: 1) == nil)
    }

    @Test func withoutABaseOnlyTheRequestedDelayApplies() {
        #expect(range(Backoff(base: .zero), after: 9) == .zero ... .zero)
        #expect(range(Backoff(base: .seconds(-1)), after: 9, serverDelay: .seconds(3)) == .seconds(3) ... .seconds(3))
    }
}
