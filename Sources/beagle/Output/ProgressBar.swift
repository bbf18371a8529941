import BeagleNetHTTP

/// Shows the progress of a transfer, only on a terminal and only if it takes longer than half a second.
final class ProgressBar: Sendable {
    private let console: Console
    private let start = ContinuousClock.now
    /// The time when the bar was last drawn.
    private let drawn = Lock(ContinuousClock.now)

    init(on console: Console) {
        self.console = console
    }

    /// Draws the bar, at most ten times per second.
    func show(_ progress: TransferRequest.Progress) {
        let now = ContinuousClock.now
        guard start.duration(to: now) > .milliseconds(500) else { return }
        let isDue = drawn.withLock { drawn in
            guard drawn.duration(to: now) > .milliseconds(100) else { return false }
            drawn = now
            return true
        }
        if isDue { console.showBar(Self.text(progress)) }
    }

    /// Returns the progress as text: `[#####     ]  50 %  1.0 MB of 2.0 MB`, or `1.0 MB` if the total is unknown.
    static func text(_ progress: TransferRequest.Progress) -> String {
        let isSending = progress.bytesReceived == 0 && progress.bytesSent > 0
        let done = isSending ? progress.bytesSent : progress.bytesReceived
        guard let all = isSending ? progress.bytesToSend : progress.bytesToReceive, all > 0 else {
            return byteCount(done)
        }
        let share = min(1, Double(done) / Double(all))
        let filled = Int(share * 30)
        let bar = String(repeating: "#", count: filled) + String(repeating: " ", count: 30 - filled)
        return "[\(bar)] \(Int(share * 100)) %  \(byteCount(done)) of \(byteCount(all))"
    }
}

/// Returns a number of bytes as text: `512 B`, `2.1 kB`, `3.0 MB`. Units are powers of 1,000.
func byteCount(_ count: Int64) -> String {
    guard count >= 1000 else { return "\(count) B" }
    var (value, unit) = (Double(count) / 1000, "kB")
    for larger in ["MB", "GB", "TB"] where value >= 1000 { (value, unit) = (value / 1000, larger) }
    return "\(oneDecimal(value)) \(unit)"
}

/// Returns a number with one decimal digit, such as `12.4`.
func oneDecimal(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(abs(tenths % 10))"
}
