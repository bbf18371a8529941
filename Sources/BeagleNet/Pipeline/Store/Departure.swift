import BeagleNetHTTP

/// How the message of an operation went out and what came before the answer, noted for who wants to store that.
final class Departure: Sendable {
    private struct State: Sendable {
        var hasLeft = false
        var isAsAsked = true
        var hasPieces = false
    }

    private let state = Lock(State())

    /// Whether all attempts went out, and as the operation's key says: then the answer is anybody's who asks the same.
    /// Not where something further in answered, changed the message or put a cookie on it.
    var isAsAsked: Bool { state.withLock { $0.hasLeft && $0.isAsAsked } }

    /// Whether something of the answer came before its end, so that the end is not the whole.
    var hasPieces: Bool { state.withLock { $0.hasPieces } }

    /// Notes what came before the end.
    func note(_ result: NetworkOperation.Result) {
        if result.isAnswer { state.withLock { $0.hasPieces = true } }
    }

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
