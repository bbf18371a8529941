/// A task that waits for its transfer, or for a run that it shares.
package struct WaitingTask: Sendable {
    package let continuation: UnsafeContinuation<Void, Never>
    /// Its priority where it runs on Swift's pool; nil where it runs on an actor or an executor of its own.
    let poolPriority: TaskPriority?

    /// The present task, to be made where it suspends.
    package init(_ continuation: UnsafeContinuation<Void, Never>, on actor: (any Actor)?) {
        self.continuation = continuation
        poolPriority = withUnsafeCurrentTask { task in
            actor == nil && task?.unownedTaskExecutor == nil ? task?.priority : nil
        }
    }

    /// Resumes it: together with others at the end of the turn where this is the thread of a transport, else at once.
    package func resume() {
        if let loop = EventLoop.current { loop.resumeSoon(self) } else { continuation.resume() }
    }
}
