import BeagleNetHTTP

/// The transport's thread as an executor, for tasks that do little but ask: whoever runs there gets an answer without
/// a hop between threads, which is a good part of what a small request costs.
///
/// ```swift
/// await withTaskExecutorPreference(transport) {
///     for request in requests { count(try await transport.perform(request)) }
/// }
/// ```
///
/// What such a task does between its awaits holds up all transfers of the transport: never block or compute for long
/// there. Actors with an executor of their own, the main actor among them, stay where they are.
extension CurlTransport: TaskExecutor {
    /// Runs the job on the transport's thread; where that does not run, before the first transfer and after
    /// `shutDown()`, on Swift's pool: a job begins no thread that nobody would end.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if let owner = runningOwner(for: .ordinary) {
            owner.loop.post(.run(job, asUnownedTaskExecutor()))
        } else {
            globalConcurrentExecutor.enqueue(job)
        }
    }
}
