import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An operation over a WebSocket. It receives events until it ends, which happens once.
///
/// Events come first from the writing task, then from the reading one. The operation doesn't end during a delivery, so
/// a caller that waits for the end has received all events by then.
final class SocketOperation: Sendable {
    typealias Outcome = Result<Void, NetworkError>

    private struct State {
        var isDelivering = false
        var outcome: Outcome?
    }

    /// The request parameters as JSON, or `nil` for a hold, which sends no operation.
    let parameters: Data?
    private let receive: @Sendable (SubscriptionAttempt.Event) -> Void
    private let state = InlineLock(State())
    /// The outcome, once nothing is being delivered.
    private let settledOutcome = Promise<Outcome>()

    init(_ parameters: Data?, _ receive: @escaping @Sendable (SubscriptionAttempt.Event) -> Void) {
        self.parameters = parameters
        self.receive = receive
    }

    /// Delivers an event, unless the operation has ended. Calls must not overlap.
    func deliver(_ event: SubscriptionAttempt.Event) {
        let isFinished = state.withLock { state in
            state.isDelivering = state.outcome == nil
            return !state.isDelivering
        }
        if isFinished { return }
        receive(event)
        let outcome = state.withLock { state in
            state.isDelivering = false
            return state.outcome
        }
        if let outcome { settledOutcome.complete(outcome) }
    }

    /// Ends the operation. Only the first end counts, and no events are delivered afterwards.
    func end(_ outcome: Outcome) {
        let settled = state.withLock { state in
            state.outcome = state.outcome ?? outcome
            return state.isDelivering ? nil : state.outcome
        }
        if let settled { settledOutcome.complete(settled) }
    }

    /// Waits until the operation has ended.
    ///
    /// - Parameter cancel: Called when the task is cancelled, to end the operation.
    /// - Throws: `NetworkError` if the operation ended early.
    func wait(onCancel cancel: @escaping @Sendable () -> Void) async throws(NetworkError) {
        try await withTaskCancellationHandler {
            await settledOutcome.value
        } onCancel: {
            cancel()
        }.get()
    }
}
