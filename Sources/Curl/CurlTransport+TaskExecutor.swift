import BeagleNetHTTP

/// The transport's thread as an executor for tasks that mainly send requests.
///
/// Tasks on this executor receive their responses without a thread hop, which is a large part of the cost of a small
/// request.
///
/// ```swift
/// await withTaskExecutorPreference(transport) {
///     for request in requests { count(try await transport.perform(request)) }
/// }
/// ```
///
/// All transfers of the transport wait while such a task runs, so it must never block or compute for long between its
/// awaits. Actors with their own executor, including the main actor, are not affected.
extension CurlTransport: TaskExecutor {
    /// Runs the job on the transport's thread, or on Swift's global pool if the thread isn't running (before the first
    /// transfer and after `shutDown()`).
    ///
    /// A job doesn't start the thread because nothing would stop it.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if let owner = runningOwner(for: .ordinary) {
            owner.loop.post(.run(job, asUnownedTaskExecutor()))
        } else {
            globalConcurrentExecutor.enqueue(job)
        }
    }
}
