/// A value that is set later, exactly once, and the tasks that wait for it.
///
/// The value may be set before, while or after tasks wait. Waiting tasks are resumed in order of arrival,
/// outside of all locks of the promise. For an event that can happen again, the owner creates a promise for each wait.
///
/// It is inlinable, because otherwise each use in another module would look up its types at run time.
@usableFromInline
package final class Promise<Value: Sendable>: Sendable {
    @usableFromInline
    struct Waiter: Sendable {
        /// The number of the waiter, or `nil` if cancelling its task doesn't end the wait.
        @usableFromInline let id: Int?
        @usableFromInline let continuation: UnsafeContinuation<Void, Never>

        @inlinable
        init(id: Int?, _ continuation: UnsafeContinuation<Void, Never>) {
            self.id = id
            self.continuation = continuation
        }
    }

    @usableFromInline
    struct State: Sendable {
        @usableFromInline var value: Value?
        @usableFromInline var lastID = 0
        /// The first waiter, stored inline because there is usually only one.
        @usableFromInline var first: Waiter?
        @usableFromInline var rest: [Waiter] = []

        @inlinable
        init(value: Value?) {
            self.value = value
        }
    }

    @usableFromInline let state: InlineLock<State>

    /// Creates a promise.
    ///
    /// - Parameter value: The value if it is already known.
    @inlinable
    package init(_ value: Value? = nil) {
        state = InlineLock(State(value: value))
    }

    /// The number of waiting tasks.
    package var waiterCount: Int {
        state.withLock { state in state.rest.count + (state.first == nil ? 0 : 1) }
    }

    /// Sets the value and resumes all waiting tasks. Only the first call has an effect.
    ///
    /// - Returns: Whether this was the first call.
    @inlinable
    @discardableResult
    package func complete(_ value: Value) -> Bool {
        let (isFirst, first, rest): (Bool, Waiter?, [Waiter]) = state.withLock { state in
            guard state.value == nil else { return (false, nil, []) }
            state.value = value
            defer { (state.first, state.rest) = (nil, []) }
            return (true, state.first, state.rest)
        }
        first?.continuation.resume()
        for waiter in rest { waiter.continuation.resume() }
        return isFirst
    }

    /// The value. As with `Task.value`, cancelling the waiting task doesn't end the wait.
    @inlinable
    nonisolated(nonsending) package var value: Value {
        get async {
            while true {
                if let value = state.withLock({ $0.value }) { return value }
                await withUnsafeContinuation { add(Waiter(id: nil, $0)) }
            }
        }
    }

    /// Waits for the value until the task is cancelled.
    ///
    /// - Returns: The value, or `nil` if the task was cancelled before.
    @inlinable
    @discardableResult
    nonisolated(nonsending) package func valueUnlessCancelled() async -> Value? {
        let (value, id) = state.withLock { state in
            state.lastID += 1
            return (state.value, state.lastID)
        }
        if let value { return value }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { add(Waiter(id: id, $0)) }
        } onCancel: {
            remove(id)?.continuation.resume()
        }
        return state.withLock { $0.value }
    }

    /// Adds a waiter, or resumes it if it needn't wait.
    @inlinable
    func add(_ waiter: Waiter) {
        let mustWait = state.withLock { state in
            // A task that is cancelled later removes its waiter.
            if state.value != nil || waiter.id != nil && Task.isCancelled { return false }
            if state.first == nil, state.rest.isEmpty { state.first = waiter } else { state.rest.append(waiter) }
            return true
        }
        if !mustWait { waiter.continuation.resume() }
    }

    @inlinable
    func remove(_ id: Int) -> Waiter? {
        state.withLock { state in
            if let first = state.first, first.id == id {
                state.first = nil
                return first
            }
            let index = state.rest.firstIndex { $0.id == id }
            return index.map { state.rest.remove(at: $0) }
        }
    }
}

extension Promise where Value == Void {
    /// Resumes all waiting tasks, now and later. Only the first call has an effect.
    @inlinable
    package func complete() {
        complete(())
    }
}
