public import BeagleNetHTTP

extension Outbox {
    /// An entry that the server has accepted.
    public struct Delivery: Sendable {
        /// What was sent.
        public let entry: Entry
        /// With which status the server answered; nil where a client tells none.
        public let status: Int?
    }

    /// What came of sending.
    public struct Report: Sendable {
        /// What the server has accepted, in its order.
        public internal(set) var delivered: [Delivery] = []
        /// What is not sent any more; the state of each tells why. An entry for whose answer somebody waited is gone, and
        /// the others stay as refused.
        public internal(set) var refused: [Entry] = []
        /// What still waits, in its order.
        public internal(set) var remaining: [Entry] = []
        /// Why queues stopped, one error for each that did.
        public internal(set) var failures: [NetworkError] = []
        /// Files that were cut off or changed; each error names its file and where it was moved.
        public internal(set) var damages: [NetworkError] = []

        /// What ended it early: the directory cannot be read or written any more, or another process sends.
        public internal(set) var trouble: NetworkError?

        private var isEmpty: Bool { delivered.isEmpty && refused.isEmpty && damages.isEmpty }

        /// The report, where it has something to tell or all went well.
        fileprivate func get() throws(NetworkError) -> Report {
            if let trouble, isEmpty { throw trouble }
            return self
        }

        mutating func add(_ other: Report) {
            delivered += other.delivered
            refused += other.refused
            failures += other.failures
            damages += other.damages
            trouble = trouble ?? other.trouble
        }
    }

    /// Sends what waits, each queue in its order up to the first entry that is not answered definitely.
    ///
    /// What others wait for in this process is sent too, and what was being sent is reported as well. Cancelling the task
    /// stops each queue behind what is being sent, which is cancelled and stays.
    ///
    /// - Parameter client: what sends; with an `OutboxInterceptor` of this outbox messages go out exactly as they were
    ///   written.
    /// - Returns: what came of it, also where it was cancelled or ended early (`Report.trouble`). An entry that stays is no
    ///   error.
    /// - Throws: `NetworkError` of kind `.file` where nothing came of it, because the directory cannot be read or written, or
    ///   another process sends.
    @concurrent
    public func flush(with client: any NetworkClient) async throws(NetworkError) -> Report {
        let number = attach(client)
        defer { detach(number) }
        var reports = await reports(on: Set(try files.waiting().map(\.entry.queue)))
        // A queue may have stopped for want of a client just before there was one.
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
            report.trouble = report.trouble ?? error
        }
        return try report.get()
    }

    private func reports(on queues: some Sequence<String>) async -> [String: Report] {
        let tasks = run(queues, isWantedAnew: true)
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
        // Let go outside of the lock: it may end what it holds.
        let client = state.withLock { state in
            let index = state.clients.firstIndex { $0.number == number }
            return index.map { state.clients.remove(at: $0).client }
        }
        withExtendedLifetime(client) {}
    }
}
