import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One operation that goes over a WebSocket: hears what comes of it until it ends, which it does once.
///
/// What it hears comes from the task that writes and, after that, from the one that reads. It does not end while something is
/// being heard: what waits for its end has heard all by then.
final class SocketOperation: Sendable {
    typealias Outcome = Result<Void, NetworkError>

    private struct State {
        var isGiving = false
        var outcome: Outcome?
        var waiter: UnsafeContinuation<Void, Never>?

        /// Whom to tell that it is over.
        mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? {
            guard outcome != nil, !isGiving else { return nil }
            defer { waiter = nil }
            return waiter
        }
    }

    /// What is asked, as JSON; nil asks nothing: it only holds the WebSocket open.
    let parameters: Data?
    private let receive: @Sendable (SubscriptionAttempt.Event) -> Void
    private let state = InlineLock(State())

    init(_ parameters: Data?, _ receive: @escaping @Sendable (SubscriptionAttempt.Event) -> Void) {
        self.parameters = parameters
        self.receive = receive
    }

    /// Tells what comes, unless the operation has ended. Never called twice at once.
    func give(_ event: SubscriptionAttempt.Event) {
        let isOver = state.withLock { state in
            state.isGiving = state.outcome == nil
            return !state.isGiving
        }
        if isOver { return }
        receive(event)
        let waiter = state.withLock { state in
            state.isGiving = false
            return state.takeWaiter()
        }
        waiter?.resume()
    }

    /// Ends it; the first end counts. Nothing is told any more.
    func end(_ outcome: Outcome) {
        let waiter = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            return state.takeWaiter()
        }
        waiter?.resume()
    }

    /// Waits until it has ended.
    ///
    /// - Parameter cancel: called when the task is cancelled, to see to that.
    /// - Throws: why it ended before the server had said all.
    func wait(onCancel cancel: @escaping @Sendable () -> Void) async throws(NetworkError) {
        await suspend { continuation in
            let isOver = state.withLock { state in
                if state.outcome != nil, !state.isGiving { return true }
                state.waiter = continuation
                return false
            }
            if isOver { continuation.resume() }
        } onCancel: {
            cancel()
        }
        if let outcome = state.withLock({ $0.outcome }) { try outcome.get() }
    }
}
