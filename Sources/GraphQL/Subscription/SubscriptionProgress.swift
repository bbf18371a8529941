import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The state that the attempts of an operation share.
final class SubscriptionProgress: Sendable {
    private struct State: Sendable {
        var hasStarted = false
        var eventID = ""
        var failure: Int?
    }

    private let state = Lock(State())

    /// - Returns: Whether this is the first call.
    func start() -> Bool {
        state.withLock { state in
            defer { state.hasStarted = true }
            return !state.hasStarted
        }
    }

    /// The ID of the last delivered event; empty if no event had an ID.
    var lastEventID: String {
        get { state.withLock { $0.eventID } }
        set { state.withLock { $0.eventID = newValue } }
    }

    /// The number of the last failure of a shared connection (`SharedRetry`), or `nil` before the first.
    var lastFailure: Int? { state.withLock { $0.failure } }

    /// Records the failure of an attempt.
    func note(_ error: NetworkError) {
        if let retry = error.sharedRetry { state.withLock { $0.failure = retry.number } }
    }
}
