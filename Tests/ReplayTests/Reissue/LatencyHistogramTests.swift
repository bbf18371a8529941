import Testing

@testable import BeagleNetReplay

struct LatencyHistogramTests {
    @Test func emptyHistogramIsZero() {
        let histogram = Reissuer.LatencyHistogram()
        #expect(histogram.count == 0)
        #expect(
            [histogram.shortest, histogram.mean, histogram.longest, histogram.quantile(0.5)].allSatisfy { $0 == .zero }
        )
    }

    @Test func quantilesAreAccurateToThreeDigits() {
        var histogram = Reissuer.LatencyHistogram()
        // Each duration from 1 µs to 100 ms once, so that every quantile is known.
        for micros in 1...100_000 { histogram.add(.microseconds(micros)) }
        for part in [0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1] {
            let exact = Duration.microseconds(100_000 * part)
            let found = histogram.quantile(part)
            #expect(found >= exact && found <= exact * 1.001, "\(part): \(found)")
        }
        #expect(histogram.count == 100_000)
        #expect(histogram.mean == .microseconds(50_000.5))
        #expect(histogram.shortest == .microseconds(1))
        #expect(histogram.longest == .milliseconds(100))
    }

    @Test func everyDurationFallsIntoItsBucket() {
        for shift in 0..<31 {
            for micros in [1 << shift, (1 << shift) + 1, (2 << shift) - 1] {
                var histogram = Reissuer.LatencyHistogram()
                histogram.add(.microseconds(micros))
                histogram.add(.seconds(3600))
                let found = histogram.quantile(0.5)
                #expect(found >= .microseconds(micros), "\(micros)")
                #expect(found <= .microseconds(Double(micros) * 1.001), "\(micros): \(found)")
            }
        }
    }

    private static let durationsOutOfRangeAreClampedArguments: [(Duration, Duration)] = [
        (Duration.zero, Duration.microseconds(1)), (.seconds(-5), .microseconds(1)),
        (.nanoseconds(1), .microseconds(1)),
        (.seconds(1_000_000_000_000), .seconds(3600)), (.milliseconds(3_600_001), .seconds(3600)),
    ]

    @Test(arguments: Self.durationsOutOfRangeAreClampedArguments)
    func durationsOutOfRangeAreClamped(_ duration: Duration, _ counted: Duration) {
        var histogram = Reissuer.LatencyHistogram()
        histogram.add(duration)
        #expect(histogram.longest == counted)
        #expect(histogram.shortest == counted)
        #expect(histogram.quantile(1) == counted)
        #expect(histogram.quantile(-1) == counted)
    }
}
