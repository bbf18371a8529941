import BeagleNet
import BeagleNetHTTP
import CoreMetrics

/// The measurement of one attempt, and of each request in it if there are redirects.
final class AttemptMeasurement: Sendable {
    /// A request in flight.
    private struct SentRequest: Sendable {
        let target: Meters.Target
        /// The time from the start of the attempt until this request was sent.
        let start: Duration
    }

    private let operation: NetworkOperation
    private let meters: Meters
    private let requests: Meters.Requests
    private let elapsed: @Sendable () -> Duration
    /// The current request, or `nil` after the end.
    ///
    /// It changes on the transport's thread, which follows redirects.
    private let current: Lock<SentRequest?>

    init(_ operation: NetworkOperation, _ meters: Meters) {
        self.operation = operation
        self.meters = meters
        let target = meters.target(operation.transfer.head, of: operation)
        requests = meters.requests(to: target)
        elapsed = operation.stopwatch()
        current = Lock(SentRequest(target: target, start: .zero))
        requests.active.increment()
        if operation.attempt > 1 { requests.retries.increment() }
    }

    /// Measures the request that was redirected, and begins to measure the next one.
    func redirect(_ response: HTTPResponse, to next: HTTPRequest) {
        let now = elapsed()
        let message = SentRequest(target: meters.target(next, of: operation), start: now)
        guard let answered = exchange(for: message) else { return }
        let responses = meters.responses(to: answered.target, status: response.status.code)
        responses.duration.recordNanoseconds((now - answered.start).nanoseconds)
    }

    /// Measures the last request.
    func end(_ ending: AttemptOutcome) {
        let now = elapsed()
        guard let message = exchange(for: nil) else { return }
        let metrics = ending.metrics
        let responses = meters.responses(
            to: message.target,
            status: ending.status,
            errorType: ending.failure?.kind.rawValue,
            protocolVersion: metrics?.protocolVersion
        )
        requests.active.decrement()
        responses.duration.recordNanoseconds((now - message.start).nanoseconds)
        guard let metrics, metrics.protocolVersion != nil else { return }
        if metrics.isSent { responses.sent.record(metrics.bytesSent) }
        if ending.isComplete { responses.received.record(metrics.bytesReceived) }
        requests.queued.recordNanoseconds(metrics.queued.nanoseconds)
        (metrics.isConnectionReused ? requests.reused : requests.opened).increment()
    }

    /// Replaces the current request, except after the end.
    ///
    /// - Returns: The previous request, or `nil` after the end.
    private func exchange(for next: SentRequest?) -> SentRequest? {
        current.withLock { current in
            defer { if current != nil { current = next } }
            return current
        }
    }
}
