/// A task that waits for its transfer.
struct WaitingTask: Sendable {
    let continuation: UnsafeContinuation<Void, Never>
    /// Its priority where it runs on Swift's pool; nil where it runs on an actor or an executor of its own.
    let poolPriority: TaskPriority?

    /// The present task, to be made where it suspends.
    init(_ continuation: UnsafeContinuation<Void, Never>, on actor: (any Actor)?) {
        self.continuation = continuation
        poolPriority = withUnsafeCurrentTask { task in
            actor == nil && task?.unownedTaskExecutor == nil ? task?.priority : nil
        }
    }
}
