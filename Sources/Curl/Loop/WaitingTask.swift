/// A task that waits for its transfer, or for a run that it shares with others.
package struct WaitingTask: Sendable {
    package let continuation: UnsafeContinuation<Void, Never>
    /// The task's priority if it runs on Swift's pool; `nil` if it runs on an actor or its own executor.
    ///
    /// A raw value, because values of `TaskPriority` cost a call for each copy.
    let poolPriority: UInt8?

    /// Captures the current task.
    ///
    /// Call it when the task suspends.
    package init(_ continuation: UnsafeContinuation<Void, Never>, on actor: (any Actor)?) {
        self.continuation = continuation
        poolPriority = withUnsafeCurrentTask { task in
            actor == nil && task?.unownedTaskExecutor == nil ? task?.priority.rawValue : nil
        }
    }

    /// Resumes the task: on a transport's thread at the end of the turn, together with others; elsewhere immediately.
    package func resume() {
        if let loop = LoopThread.loop { loop.tasks.add(self) } else { continuation.resume() }
    }
}

/// The tasks that a loop resumes together at the end of its turn. A class, because a task that `resumeAll` resumes may
/// add others.
final class WaitingTasks {
    /// The tasks that run on Swift's pool.
    private var pooled: [WaitingTask] = []
    private var others: [WaitingTask] = []
    /// The highest priority of the tasks that run on Swift's pool.
    private var poolPriority: UInt8 = 0

    /// Adds a task.
    func add(_ task: WaitingTask) {
        guard let priority = task.poolPriority else { return others.append(task) }
        pooled.append(task)
        poolPriority = max(poolPriority, priority)
    }

    /// Resumes tasks on Swift's pool from a task in the pool if there are several. If resumed from here, each would
    /// wake a sleeping thread that sleeps again before the next one. That costs two system calls per response, and two
    /// thread switches if the threads share a core.
    func resumeAll() {
        // An executor may run a resumed task immediately, which may resume others.
        while !others.isEmpty {
            let resumed = others
            others = []
            for task in resumed { task.continuation.resume() }
        }
        if pooled.count > 1 {
            Task.detached(priority: TaskPriority(rawValue: poolPriority)) { [pooled] in
                for task in pooled { task.continuation.resume() }
            }
        } else {
            pooled.first?.continuation.resume()
        }
        pooled.removeAll(keepingCapacity: true)
        poolPriority = 0
    }
}
