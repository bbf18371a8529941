import BeagleNet
import BeagleNetHTTP
import CoreMetrics

/// Measures one attempt, and each message of it where there are redirects.
final class AttemptMeasurement: Sendable {
    /// A message that is out.
    private struct Message: Sendable {
        let target: Meters.Target
        /// When it went out, from the beginning of the attempt.
        let start: Duration
    }

    private let operation: NetworkOperation
    private let meters: Meters
    private let requests: Meters.Requests
    private let elapsed: @Sendable () -> Duration
    /// nil after the end. It changes on the transport's thread, which follows redirects.
    private let current: Lock<Message?>

    init(_ operation: NetworkOperation, _ meters: Meters) {
        self.operation = operation
        self.meters = meters
        let target = meters.target(operation.transfer.head, of: operation)
        requests = meters.requests(to: target)
        elapsed = operation.stopwatch()
        current = Lock(Message(target: target, start: .zero))
        requests.active.increment()
        if operation.attempt > 1 { requests.retries.increment() }
    }

    /// Measures the message that a redirect answered; the one that follows is out from here on.
    func redirect(_ answer: HTTPResponse, to next: HTTPRequest) {
        let now = elapsed()
        let message = Message(target: meters.target(next, of: operation), start: now)
        guard let answered = exchange(for: message) else { return }
        let answers = meters.answers(to: answered.target, status: answer.status.code)
        answers.duration.recordNanoseconds((now - answered.start).nanoseconds)
    }

    /// Measures the last message.
    func end(_ ending: Ending) {
        let now = elapsed()
        guard let message = exchange(for: nil) else { return }
        let metrics = ending.metrics
        let answers = meters.answers(
            to: message.target,
            status: ending.status,
            errorType: ending.failure?.kind.rawValue,
            protocolVersion: metrics?.protocolVersion
        )
        requests.active.decrement()
        answers.duration.recordNanoseconds((now - message.start).nanoseconds)
        guard let metrics, metrics.protocolVersion != nil else { return }
        if metrics.isSent { answers.sent.record(metrics.bytesSent) }
        if ending.isWhole { answers.received.record(metrics.bytesReceived) }
        requests.queued.recordNanoseconds(metrics.queued.nanoseconds)
        (metrics.isConnectionReused ? requests.reused : requests.opened).increment()
    }

    /// - Returns: what was out; nil after the end, which stays.
    private func exchange(for next: Message?) -> Message? {
        current.withLock { current in
            defer { if current != nil { current = next } }
            return current
        }
    }
}
