/// A completion that delivers the first result and ignores all others.
///
/// If it is released without a result, it delivers an error.
///
/// It is inlinable, because otherwise each use in another module would look up its types at run time.
@usableFromInline
package final class OnceCompletion<Success: Sendable>: Sendable {
    @usableFromInline package typealias Result = Swift.Result<Success, NetworkError>

    @usableFromInline enum State {
        case held(Result?), open, completed
    }

    @usableFromInline let state: InlineLock<State>
    @usableFromInline let deliver: @Sendable (Result) -> Void

    /// Creates a completion.
    ///
    /// - Parameters:
    ///   - isHeld: Whether a result is held until `open()`.
    ///   - deliver: Receives the result; called once.
    @inlinable
    package init(isHeld: Bool = false, _ deliver: @escaping @Sendable (Result) -> Void) {
        state = InlineLock(isHeld ? .held(nil) : .open)
        self.deliver = deliver
    }

    @inlinable
    deinit {
        let isGiven = state.withLock { state in
            if case .completed = state { return true }
            return false
        }
        guard !isGiven else { return }
        // In a new task, because the last reference may be released inside the call that starts the request.
        let lost = NetworkError(.other, during: .response, "the request was dropped without a response")
        Task.detached { [deliver] in deliver(.failure(lost)) }
    }

    @inlinable
    package func complete(_ result: Result) {
        let isDue = state.withLock { state in
            switch state {
            case .open:
                state = .completed
                return true
            case .held(nil):
                state = .held(result)
                return false
            case .held, .completed:
                return false
            }
        }
        if isDue { deliver(result) }
    }

    /// Stops holding the result. A result that was given before is delivered from another thread.
    @inlinable
    package func open() {
        let early: Result? = state.withLock { state in
            guard case .held(let result) = state else { return nil }
            state = result == nil ? .open : .completed
            return result
        }
        guard let early else { return }
        Task.detached { [deliver] in deliver(early) }
    }
}
