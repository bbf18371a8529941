import Dispatch

/// An executor for the servers' tasks, on a thread that no test can block.
///
/// If tests blocked all threads of the task pool, a client would wait for the server and the server for the test.
final class ServerExecutor: TaskExecutor {
    static let shared = ServerExecutor()

    private let queue = DispatchQueue(label: "BeagleNetTesting.ServerExecutor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
