/// The handle of what has none yet, or has one after another: cancelling it cancels the one that it holds, and each that it is
/// given later.
package final class TokenSlot: RequestToken {
    private enum State {
        case empty, filled(any RequestToken), cancelled
    }

    private let state = InlineLock(State.empty)

    package init() {}

    /// Takes a handle in place of the one before.
    package func fill(_ token: any RequestToken) {
        let isCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .filled(token)
            return false
        }
        if isCancelled { token.cancel() }
    }

    package func cancel() {
        let token: (any RequestToken)? = state.withLock { state in
            defer { state = .cancelled }
            if case .filled(let token) = state { return token }
            return nil
        }
        token?.cancel()
    }
}
