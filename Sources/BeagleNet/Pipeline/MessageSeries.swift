import BeagleNetHTTP

/// The messages of one run of an operation in which further messages may follow (`OperationRevision`).
///
/// Interceptors use it for work that spans several messages.
package final class MessageSeries: Sendable {
    private let closings = Lock<[@Sendable () -> Void]>([])

    /// Registers a closure to call when no further message follows.
    package func atEnd(_ closing: @escaping @Sendable () -> Void) {
        closings.withLock { $0.append(closing) }
    }

    func end() {
        for closing in closings.withLock({ $0 }) { closing() }
    }
}
