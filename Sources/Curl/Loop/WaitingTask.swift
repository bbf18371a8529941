/// A task that waits for its transfer, or for a run that it shares with others.
package struct WaitingTask: Sendable {
    package let continuation: UnsafeContinuation<Void, Never>
    /// The task's priority if it runs on Swift's pool; `nil` if it runs on an actor or its own executor.
    let poolPriority: TaskPriority?

    /// Captures the current task.
    ///
    /// Call it when the task suspends.
    package init(_ continuation: UnsafeContinuation<Void, Never>, on actor: (any Actor)?) {
        self.continuation = continuation
        poolPriority = withUnsafeCurrentTask { task in
            actor == nil && task?.unownedTaskExecutor == nil ? task?.priority : nil
        }
    }

    /// Resumes the task: on a transport's thread at the end of the turn, together with others; elsewhere immediately.
    package func resume() {
        if let loop = EventLoop.current { loop.resumeSoon(self) } else { continuation.resume() }
    }
}
