import BeagleNetHTTP

/// The messages of one run of an operation in which further messages may follow (`OperationRevision`).
///
/// Interceptors use it for work that spans several messages.
package final class MessageSeries: Sendable {
    private let completionHandlers = Lock<[@Sendable () -> Void]>([])

    /// Registers a closure to call when no further message follows.
    package func onEnd(_ closing: @escaping @Sendable () -> Void) {
        completionHandlers.withLock { $0.append(closing) }
    }

    func end() {
        for closing in completionHandlers.withLock({ $0 }) { closing() }
    }
}
