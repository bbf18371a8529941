import Dispatch

/// Runs the tasks by which servers answer on a thread that no test can block: with the threads of tasks all taken, a client
/// would wait for the test that waits for the client.
final class AnswerExecutor: TaskExecutor {
    static let shared = AnswerExecutor()

    private let queue = DispatchQueue(label: "BeagleNetTesting.AnswerExecutor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
