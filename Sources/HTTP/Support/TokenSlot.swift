/// A place for a token that is set later and can be replaced.
///
/// Cancelling it cancels the current token and all later ones.
package final class TokenSlot: Sendable {
    private enum State {
        case empty, filled(any RequestToken), cancelled
    }

    private let state = InlineLock(State.empty)

    package init() {}

    /// Sets the token, replacing the previous one.
    package func set(_ token: any RequestToken) {
        let isCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .filled(token)
            return false
        }
        if isCancelled { token.cancel() }
    }

    /// Cancels the current token and all later ones.
    package func cancel() {
        let token: (any RequestToken)? = state.withLock { state in
            defer { state = .cancelled }
            if case .filled(let token) = state { return token }
            return nil
        }
        token?.cancel()
    }
}
