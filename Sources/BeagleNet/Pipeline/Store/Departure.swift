import BeagleNetHTTP

/// A record of how an operation's message was sent and whether parts of the response came early, for the cache.
final class Departure: Sendable {
    private struct State: Sendable {
        var hasLeft = false
        var isAsAsked = true
        var hasPieces = false
    }

    private let state = Lock(State())

    /// Whether the attempts were sent, and all of them match the operation's key, so that the response may serve every
    /// identical operation.
    ///
    /// `false` if a later interceptor returned the response, changed the message or added a cookie.
    var isAsAsked: Bool { state.withLock { $0.hasLeft && $0.isAsAsked } }

    /// Whether parts of the response were emitted before the last result, which then isn't the complete response.
    var hasPieces: Bool { state.withLock { $0.hasPieces } }

    /// Records an earlier result.
    func note(_ result: NetworkOperation.Result) {
        if result.isAnswer { state.withLock { $0.hasPieces = true } }
    }

    /// Records an attempt.
    ///
    /// - Parameter keepsCookies: Whether the transport may add cookies to the message.
    func note(_ operation: NetworkOperation, keepsCookies: Bool) {
        let isAsAsked = !(keepsCookies && operation.transfer.options.usesCookies) && operation.isAsAsked
        state.withLock { state in
            state.hasLeft = true
            state.isAsAsked = state.isAsAsked && isAsAsked
        }
    }
}
