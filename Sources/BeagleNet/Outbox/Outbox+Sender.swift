import BeagleNetDependencies
public import BeagleNetHTTP

extension Outbox {
    /// A sender that retries the entries of an outbox until none is left.
    ///
    /// It stops when it is cancelled or released.
    public final class Sender: RequestToken {
        /// The wait before a queue is tried again.
        private struct RetryWait {
            /// The number of failures in a row.
            var failures = 0
            var alarm: Task<Void, Never>?
        }

        private struct State {
            /// The waits by queue.
            ///
            /// The key `nil` is for the directory, if it can't be read.
            var waits: [String?: RetryWait] = [:]
            /// The last run of each queue.
            var runs: [String: Task<Outbox.Report, Never>] = [:]
            /// The tasks that start the first runs and observe the network.
            var tasks: [Task<Void, Never>] = []
            var isOver = false
        }

        private let state = Lock(State())
        private let outbox: Outbox
        private let client: any NetworkClient
        private let backoff: Backoff
        private let number: Int

        fileprivate init(
            _ outbox: Outbox,
            _ client: any NetworkClient,
            _ backoff: Backoff,
            _ networkReturns: AsyncStream<Void>?
        ) {
            self.outbox = outbox
            self.client = client
            self.backoff = backoff
            number = outbox.attach(client)
            outbox.state.withLock { [number] state in
                state.reportHandlers[number] = { [weak self] queue, report in self?.hear(queue, report) }
            }
            // No task holds the sender for longer than it takes to start runs.
            var tasks = [Task.detached { [weak self] () -> Void in self?.sendAll() }]
            if let networkReturns {
                tasks.append(
                    Task.detached { [weak self] in
                        for await _ in networkReturns { self?.sendAll(retriesOnFailure: true) }
                    }
                )
            }
            state.withLock { $0.tasks = tasks }
        }

        deinit {
            cancel()
        }

        /// Stops automatic sending.
        ///
        /// An entry that is being sent is cancelled and stays in the outbox, unless a caller waits for its response.
        public func cancel() {
            let (tasks, runs) = state.withLock { state in
                defer { state = State(isOver: true) }
                return (state.tasks + state.waits.values.compactMap(\.alarm), state.runs.values)
            }
            for task in tasks { task.cancel() }
            for run in runs { run.cancel() }
            outbox.state.withLock { state in _ = state.reportHandlers.removeValue(forKey: number) }
            outbox.detach(number)
        }

        /// Sends the entries of all queues.
        private func sendAll(retriesOnFailure: Bool = false) {
            do throws(NetworkError) {
                let queues = Set(try outbox.files.waiting().map(\.entry.queue))
                outbox.logProblems(client.container.logger)
                cancelWait(of: nil)
                send(queues, retriesOnFailure)
            } catch {
                cancelWait(of: nil)
                scheduleRetry(nil, error)
            }
        }

        private func send(_ queues: Set<String>, _ retriesOnFailure: Bool = false) {
            for queue in queues { cancelWait(of: queue) }
            // If the sender is over, its client is detached, and the entries stay.
            if state.withLock(\.isOver) { return }
            let runs = outbox.run(queues, retriesOnFailure: retriesOnFailure)
            let isOver = state.withLock { state in
                if !state.isOver { state.runs.merge(runs) { $1 } }
                return state.isOver
            }
            if isOver { for run in runs.values { run.cancel() } }
        }

        private func cancelWait(of queue: String?) {
            let alarm = state.withLock { state in
                defer { state.waits[queue]?.alarm = nil }
                return state.waits[queue]?.alarm
            }
            alarm?.cancel()
        }

        /// Handles the report of a queue that was sent as far as possible.
        private func hear(_ queue: String, _ report: Outbox.Report) {
            outbox.logProblems(client.container.logger)
            for entry in report.refused { log("\(entry)", .warning) }
            let failure = report.abortError ?? report.failures.first
            if failure == nil || !report.delivered.isEmpty {
                // Keep the alarm: it may belong to a run that began after this one.
                state.withLock { $0.waits[queue] = $0.waits[queue]?.alarm.map { RetryWait(alarm: $0) } }
            }
            if let failure { scheduleRetry(queue, failure) }
        }

        /// Schedules another attempt for the entries of a queue.
        private func scheduleRetry(_ queue: String?, _ error: NetworkError) {
            let clock = client.container.clock
            let wait: Duration? = state.withLock { state in
                var rest = state.waits[queue, default: RetryWait()]
                if rest.alarm != nil || state.isOver { return nil }
                rest.failures += 1
                defer { state.waits[queue] = rest }
                var generator = RandomSource()
                let serverDelay = min(error.response?.retryAfter ?? .zero, backoff.maxServerDelay)
                guard let wait = backoff.delay(after: rest.failures, serverDelay: serverDelay, using: &generator) else {
                    return nil
                }
                rest.alarm = Task.detached { [weak self] in
                    // Throws only if another send has cancelled the wait.
                    do { try await clock.sleep(for: wait) } catch { return }
                    if let queue { self?.send([queue]) } else { self?.sendAll() }
                }
                return wait
            }
            guard let wait else { return }
            let isTrouble = error.kind == .file && error.phase == .file
            log("\(error.message); retrying in \(wait.milliseconds) ms", isTrouble ? .warning : .debug)
        }

        private func log(_ message: @autoclosure () -> String, _ level: LogLevel) {
            let logger = client.container.logger
            if logger.accepts(level) { logger.log(OutboxLogMessage(level: level, message: message())) }
        }
    }
}

extension Outbox {
    /// Sends pending entries: now, whenever the network returns, and after increasing waits.
    ///
    /// A new operation is tried immediately, whatever the wait. Each queue has its own waits, which are at least as
    /// long as the server's `Retry-After`, up to `backoff.maxServerDelay`. An entry that is being sent when the network
    /// returns is retried once if it fails.
    ///
    /// - Parameters:
    ///   - client: The client that sends. It is retained until the sender ends.
    ///   - backoff: The waits; by default without an attempt limit, with windows from 1 s to 5 min, and at most an hour
    ///     if the server asks for it.
    ///   - whenNetworkReturns: Yields an element when sending is worthwhile again. Several elements in quick succession
    ///     count as one.
    /// - Returns: The sender, which the caller must retain for as long as it should send.
    public func sendAutomatically(
        with client: any NetworkClient,
        backoff: Backoff = Backoff(cap: .seconds(300), maxServerDelay: .seconds(3_600)),
        whenNetworkReturns: AsyncStream<Void>? = nil
    ) -> Sender {
        Sender(self, client, backoff, whenNetworkReturns)
    }
}

/// A log message about an outbox.
struct OutboxLogMessage: LogType {
    let level: LogLevel
    let message: String

    var category: String { "Outbox" }
}
