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

        /// What is wrong with the directory.
        var trouble: NetworkError?

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
    /// - Returns: what came of it. An entry that stays is no error.
    /// - Throws: `NetworkError` of kind `.file` where the directory cannot be read or written, or another process sends.
    public func flush(with client: any NetworkClient) async throws(NetworkError) -> Report {
        let number = attach(client)
        defer { detach(number) }
        var report = try await pass()
        // A queue may have stopped for want of a client just before there was one.
        if report.failures.contains(where: { $0.kind == .notConfigured }) {
            report.failures = []
            report.add(try await pass())
        }
        if let trouble = report.trouble { throw trouble }
        report.remaining = try entries().filter { entry in
            if case .refused = entry.state { return false }
            return true
        }
        return report
    }

    private func pass() async throws(NetworkError) -> Report {
        let queues = Set(try files.waiting().map(\.entry.queue))
        let tasks = run(queues)
        return await withTaskCancellationHandler {
            var report = Report()
            for task in tasks { report.add(await task.value) }
            report.damages += files.takeDamages()
            return report
        } onCancel: {
            for task in tasks { task.cancel() }
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
