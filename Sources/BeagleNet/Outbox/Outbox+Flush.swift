public import BeagleNetHTTP

extension Outbox {
    /// An entry that the server has accepted.
    public struct Delivery: Sendable {
        /// The entry that was sent.
        public let entry: Entry
        /// The status of the server's response; `nil` if the client doesn't report it.
        public let status: Int?
    }

    /// The results of sending.
    public struct Report: Sendable {
        /// The entries that the server has accepted, in order.
        public internal(set) var delivered: [Delivery] = []
        /// The entries that aren't sent any more, with the reason in their state.
        ///
        /// An entry with a caller that waited for its response is removed; the others stay as refused.
        public internal(set) var refused: [Entry] = []
        /// The entries that are still pending, in order.
        public internal(set) var remaining: [Entry] = []
        /// The errors that stopped queues, one for each stopped queue.
        public internal(set) var failures: [NetworkError] = []
        /// The errors for truncated or changed files; each names the file and its new location.
        public internal(set) var damages: [NetworkError] = []

        /// The error that ended sending early: the directory can't be read or written any more, or another process is
        /// sending.
        public internal(set) var abortError: NetworkError?

        private var isEmpty: Bool { delivered.isEmpty && refused.isEmpty && damages.isEmpty }

        /// Returns the report, or throws if it is empty and sending ended early.
        fileprivate func get() throws(NetworkError) -> Report {
            if let abortError, isEmpty { throw abortError }
            return self
        }

        mutating func add(_ other: Report) {
            delivered += other.delivered
            refused += other.refused
            failures += other.failures
            damages += other.damages
            abortError = abortError ?? other.abortError
        }
    }

    /// Sends pending entries, each queue in order up to the first entry without a definite response.
    ///
    /// It also sends entries for which callers in this process wait, and the report includes entries that were already
    /// being sent. Cancelling the task stops all queues; entries that are being sent are cancelled and stay.
    ///
    /// - Parameter client: The client that sends. If it has an `OutboxInterceptor` of this outbox, messages are sent
    ///   exactly as they were written.
    /// - Returns: The report, even if sending was cancelled or ended early (`Report.abortError`). An entry that stays
    ///   isn't an error.
    /// - Throws: A `NetworkError` of kind `.file` if nothing was sent because the directory can't be read or written,
    ///   or because another process is sending.
    @concurrent
    public func flush(with client: any NetworkClient) async throws(NetworkError) -> Report {
        let number = attach(client)
        defer { detach(number) }
        var reports = await reports(on: Set(try files.waiting().map(\.entry.queue)))
        // A queue may have stopped for lack of a client just before this one was attached.
        let unsent = reports.filter { $0.value.failures.contains { $0.kind == .notConfigured } }
        for (queue, second) in await self.reports(on: unsent.keys) {
            reports[queue]?.failures = []
            reports[queue]?.add(second)
        }
        var report = Report()
        for (_, part) in reports.sorted(by: { $0.key < $1.key }) { report.add(part) }
        report.damages += files.takeDamages()
        do throws(NetworkError) {
            report.remaining = try entries().filter { entry in
                if case .refused = entry.state { return false }
                return true
            }
        } catch {
            report.abortError = report.abortError ?? error
        }
        return try report.get()
    }

    private func reports(on queues: some Sequence<String>) async -> [String: Report] {
        let tasks = run(queues, retriesOnFailure: true)
        return await withTaskCancellationHandler {
            var reports: [String: Report] = [:]
            for (queue, task) in tasks { reports[queue] = await task.value }
            return reports
        } onCancel: {
            for task in tasks.values { task.cancel() }
        }
    }

    func attach(_ client: any NetworkClient) -> Int {
        state.withLock { state in
            let number = state.nextNumber()
            state.clients.append((number, client))
            return number
        }
    }

    func detach(_ number: Int) {
        // Released outside of the lock, because this may end objects that the client holds.
        let client = state.withLock { state in
            let index = state.clients.firstIndex { $0.number == number }
            return index.map { state.clients.remove(at: $0).client }
        }
        withExtendedLifetime(client) {}
    }
}
