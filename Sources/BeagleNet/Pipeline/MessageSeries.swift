import BeagleNetHTTP

/// The messages of one run of an operation, where another may follow on each (`OperationRevision`): what an interceptor has under
/// way from one to the next.
package final class MessageSeries: Sendable {
    private let closings = Lock<[@Sendable () -> Void]>([])

    /// Calls this when no other message follows.
    package func atEnd(_ closing: @escaping @Sendable () -> Void) {
        closings.withLock { $0.append(closing) }
    }

    func end() {
        for closing in closings.withLock({ $0 }) { closing() }
    }
}
