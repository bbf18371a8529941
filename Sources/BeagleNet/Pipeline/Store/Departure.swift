import BeagleNetHTTP

/// How the message of an operation went out, noted for who wants to store its answer.
final class Departure: Sendable {
    private struct State: Sendable {
        var hasLeft = false
        var isAsAsked = true
    }

    private let state = Lock(State())

    /// Whether all attempts went out, and as the operation's key says: then the answer is anybody's who asks the same.
    /// Not where something further in answered, changed the message or put a cookie on it.
    var isAsAsked: Bool { state.withLock { $0.hasLeft && $0.isAsAsked } }

    /// Notes an attempt.
    ///
    /// - Parameter keepsCookies: whether the transport may put cookies on it.
    func note(_ operation: NetworkOperation, keepsCookies: Bool) {
        let isAsAsked = !(keepsCookies && operation.transfer.options.usesCookies) && operation.isAsAsked
        state.withLock { state in
            state.hasLeft = true
            state.isAsAsked = state.isAsAsked && isAsAsked
        }
    }
}
