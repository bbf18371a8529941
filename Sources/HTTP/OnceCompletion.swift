/// Hands one result on, the first it is given. Where it is let go without any, it hands on that.
///
/// Inlinable, or each use in another module would look its types up.
@usableFromInline
package final class OnceCompletion<Success: Sendable>: Sendable {
    @usableFromInline package typealias Result = Swift.Result<Success, NetworkError>

    @usableFromInline enum State {
        case held(Result?), open, given
    }

    @usableFromInline let state: InlineLock<State>
    @usableFromInline let deliver: @Sendable (Result) -> Void

    /// - Parameters:
    ///   - isHeld: whether a result waits for `open()`.
    ///   - deliver: what takes the result, called once.
    @inlinable
    package init(isHeld: Bool = false, _ deliver: @escaping @Sendable (Result) -> Void) {
        state = InlineLock(isHeld ? .held(nil) : .open)
        self.deliver = deliver
    }

    @inlinable
    deinit {
        let isGiven = state.withLock { state in
            if case .given = state { return true }
            return false
        }
        guard !isGiven else { return }
        // On a thread of its own: the last reference may go inside of the call that asks.
        let lost = NetworkError(.other, during: .response, "the request was dropped without a response")
        Task.detached { [deliver] in deliver(.failure(lost)) }
    }

    @inlinable
    package func give(_ result: Result) {
        let isDue = state.withLock { state in
            switch state {
            case .open:
                state = .given
                return true
            case .held(nil):
                state = .held(result)
                return false
            case .held, .given:
                return false
            }
        }
        if isDue { deliver(result) }
    }

    /// Lets results through. One that came before is handed on from another thread.
    @inlinable
    package func open() {
        let early: Result? = state.withLock { state in
            guard case .held(let result) = state else { return nil }
            state = result == nil ? .open : .given
            return result
        }
        guard let early else { return }
        Task.detached { [deliver] in deliver(early) }
    }
}
