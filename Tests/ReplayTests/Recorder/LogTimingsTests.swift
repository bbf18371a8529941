import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

struct LogTimingsTests {
    private static func metrics(_ change: (inout TransferMetrics) -> Void) -> TransferMetrics {
        var metrics = TransferMetrics()
        change(&metrics)
        return metrics
    }

    /// Marks of a transfer in milliseconds, and the resulting phases; `nil` if a phase did not take place.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let metrics: TransferMetrics
        let phases: [Int?]

        /// - Parameter marks: queued, name, connect, TLS, request start, request end, first byte, total.
        /// - Parameter phases: blocked, dns, connect, tls, send, wait, receive.
        init(_ name: String, _ marks: [Int], isReused: Bool = false, _ phases: [Int?]) {
            testDescription = name
            let durations = marks.map { Duration.milliseconds($0) }
            metrics = LogTimingsTests.metrics { metrics in
                metrics.queued = durations[0]
                metrics.nameLookup = durations[1]
                metrics.connect = durations[2]
                metrics.tlsHandshake = durations[3]
                metrics.requestStart = durations[4]
                metrics.requestEnd = durations[5]
                metrics.firstByte = durations[6]
                metrics.total = durations[7]
                metrics.isConnectionReused = isReused
            }
            self.phases = phases
        }
    }

    static let rows = [
        Row("http, new", [0, 1, 3, 0, 4, 4, 9, 12], [1, 1, 2, nil, 0, 5, 3]),
        Row("https, new", [0, 1, 3, 10, 11, 11, 20, 50], [1, 1, 9, 7, 0, 9, 30]),
        Row("reused", [0, 0, 0, 0, 1, 1, 9, 12], isReused: true, [1, nil, nil, nil, 0, 8, 3]),
        Row("queued", [171, 0, 0, 0, 1, 1, 9, 12], isReused: true, [172, nil, nil, nil, 0, 8, 3]),
        Row("upload", [0, 0, 0, 0, 1, 90, 100, 101], isReused: true, [1, nil, nil, nil, 89, 10, 1]),
        Row(
            "response before the end of an upload",
            [0, 0, 0, 0, 1, 0, 50, 60],
            isReused: true,
            [1, nil, nil, nil, 49, 0, 10]
        ),
        Row("name not found", [2, 0, 0, 0, 0, 0, 0, 30], [2, 30, nil, nil, 0, 0, 0]),
        Row("refused", [0, 1, 0, 0, 0, 0, 0, 5], [0, 1, 4, nil, 0, 0, 0]),
        Row("handshake failed", [0, 1, 3, 0, 0, 0, 0, 9], [0, 1, 8, nil, 0, 0, 0]),
        Row("upload failed", [0, 0, 0, 0, 1, 0, 0, 9], isReused: true, [1, nil, nil, nil, 8, 0, 0]),
        Row("no response", [0, 0, 0, 0, 1, 1, 0, 9], isReused: true, [1, nil, nil, nil, 0, 8, 0]),
        Row("never started", [7, 0, 0, 0, 0, 0, 0, 0], [7, nil, nil, nil, 0, 0, 0]),
        Row("marks out of order", [0, 4, 3, 2, 1, 1, 9, 5], [0, 4, 0, 0, 0, 5, 0]),
    ]

    @Test(arguments: rows) func phasesAreDerivedFromTheMarks(_ row: Row) {
        let timings = LogEntry.Timings(row.metrics)
        let phases = [
            timings.blocked, timings.dns, timings.connect, timings.tls, timings.send, timings.wait, timings.receive,
        ]
        #expect(phases == row.phases.map { $0.map { .milliseconds($0) } })
        let end =
            [
                row.metrics.nameLookup, row.metrics.connect, row.metrics.tlsHandshake, row.metrics.requestStart,
                row.metrics.requestEnd, row.metrics.firstByte, row.metrics.total,
            ].max() ?? .zero
        #expect(timings.total == row.metrics.queued + end)
    }

    @Test func addressHasNoNameLookup() {
        for row in Self.rows where !row.metrics.isConnectionReused {
            let (timings, named) = (LogEntry.Timings(row.metrics, isAddress: true), LogEntry.Timings(row.metrics))
            #expect(timings.dns == nil)
            #expect(timings.total == named.total)
        }
        #expect(LogEntry.Timings(Self.rows[0].metrics, isAddress: true).connect == .milliseconds(3))
    }

    @Test func earlierQueueTimeIsNotCounted() {
        let metrics = Self.metrics { metrics in
            metrics.queued = .milliseconds(50)
            metrics.isConnectionReused = true
            metrics.requestStart = .milliseconds(1)
            metrics.requestEnd = .milliseconds(1)
            metrics.firstByte = .milliseconds(2)
            metrics.total = .milliseconds(3)
        }
        #expect(LogEntry.Timings(metrics, queuedBefore: .milliseconds(40)).blocked == .milliseconds(11))
    }

    @Test func sumIsExactInWholeMicroseconds() {
        let metrics = Self.metrics { metrics in
            metrics.queued = .nanoseconds(1_999)
            metrics.isConnectionReused = true
            metrics.requestStart = .nanoseconds(10_501)
            metrics.requestEnd = .nanoseconds(20_999)
            metrics.firstByte = .nanoseconds(30_750)
            metrics.total = .nanoseconds(40_001)
        }
        let timings = LogEntry.Timings(metrics)
        #expect(timings.total == .microseconds(41))
        #expect(timings.send == .microseconds(10))
    }

    @Test func marksUnderAMicrosecondCount() {
        var metrics = TransferMetrics()
        metrics.isConnectionReused = true
        (metrics.requestStart, metrics.requestEnd) = (.nanoseconds(400), .nanoseconds(500))
        (metrics.firstByte, metrics.total) = (.microseconds(300), .microseconds(310))
        let timings = LogEntry.Timings(metrics)
        #expect(timings.blocked == .zero && timings.send == .zero)
        #expect(timings.wait == .microseconds(300) && timings.receive == .microseconds(10))
    }
}
