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
    /// It changes on the transport's thread, which follows redirects.
    private let current: Lock<Message>

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
    func redirect(_ proposal: RedirectPolicy.Proposal, to next: HTTPRequest) {
        let now = elapsed()
        let message = Message(target: meters.target(next, of: operation), start: now)
        let answered = current.withLock { current in
            defer { current = message }
            return current
        }
        let answers = meters.answers(Meters.Outcome(target: answered.target, status: proposal.response.status.code))
        answers.duration.recordNanoseconds((now - answered.start).nanoseconds)
    }

    /// Measures the last message.
    func end(_ ending: Ending) {
        let now = elapsed()
        let message = current.withLock { $0 }
        let answers = meters.answers(
            Meters.Outcome(
                target: message.target,
                status: ending.status,
                errorType: ending.errorType,
                protocolVersion: ending.metrics?.protocolVersion
            )
        )
        requests.active.decrement()
        answers.duration.recordNanoseconds((now - message.start).nanoseconds)
        guard let metrics = ending.metrics, metrics.protocolVersion != nil else { return }
        answers.sent.record(metrics.bytesSent)
        answers.received.record(metrics.bytesReceived)
        requests.queued.recordNanoseconds(metrics.queued.nanoseconds)
        (metrics.isConnectionReused ? requests.reused : requests.opened).increment()
    }
}
