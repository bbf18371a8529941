import BeagleNetDependencies
public import BeagleNetHTTP

/// Sends what is in an outbox again and again until nothing is left, for as long as it is held; cancelling it, or letting
/// it go, ends that.
public final class OutboxSender: RequestToken {
    /// The wait before a queue is tried again.
    private struct Rest {
        /// Failures in a row.
        var failures = 0
        var alarm: Task<Void, Never>?
    }

    private struct State {
        /// Of each queue, and under nil of the directory, where it cannot be read.
        var rests: [String?: Rest] = [:]
        /// The last run of each queue.
        var runs: [String: Task<Outbox.Report, Never>] = [:]
        /// What begins the first runs, and hears of the network.
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
            state.watchers[number] = { [weak self] queue, report in self?.hear(queue, report) }
        }
        // None of them holds the sender for longer than it takes to begin runs.
        var tasks = [Task.detached { [weak self] () -> Void in self?.sendAll() }]
        if let networkReturns {
            tasks.append(
                Task.detached { [weak self] in for await _ in networkReturns { self?.sendAll(isWantedAnew: true) } }
            )
        }
        state.withLock { $0.tasks = tasks }
    }

    deinit {
        cancel()
    }

    /// Sends nothing more by itself. What it is sending is cancelled and stays in the outbox, unless somebody waits for the
    /// answer to it.
    public func cancel() {
        let (tasks, runs) = state.withLock { state in
            defer { state = State(isOver: true) }
            return (state.tasks + state.rests.values.compactMap(\.alarm), state.runs.values)
        }
        for task in tasks { task.cancel() }
        for run in runs { run.cancel() }
        outbox.state.withLock { state in _ = state.watchers.removeValue(forKey: number) }
        outbox.detach(number)
    }

    /// Sends what there is in all queues.
    private func sendAll(isWantedAnew: Bool = false) {
        do throws(NetworkError) {
            let queues = Set(try outbox.files.waiting().map(\.entry.queue))
            outbox.tellLog(client.container.logger)
            endRest(of: nil)
            send(queues, isWantedAnew)
        } catch {
            endRest(of: nil)
            rest(nil, error)
        }
    }

    private func send(_ queues: Set<String>, _ isWantedAnew: Bool = false) {
        for queue in queues { endRest(of: queue) }
        // What has ended meanwhile has no client any more, and leaves its entries.
        if state.withLock(\.isOver) { return }
        let runs = outbox.run(queues, isWantedAnew: isWantedAnew)
        let isOver = state.withLock { state in
            if !state.isOver { state.runs.merge(runs) { $1 } }
            return state.isOver
        }
        if isOver { for run in runs.values { run.cancel() } }
    }

    private func endRest(of queue: String?) {
        let alarm = state.withLock { state in
            defer { state.rests[queue]?.alarm = nil }
            return state.rests[queue]?.alarm
        }
        alarm?.cancel()
    }

    /// A queue was sent, as far as that could be.
    private func hear(_ queue: String, _ report: Outbox.Report) {
        outbox.tellLog(client.container.logger)
        for entry in report.refused { log("\(entry)", .warning) }
        let failure = report.trouble ?? report.failures.first
        if failure == nil || !report.delivered.isEmpty {
            // An alarm stays: it may be that of a run which began after this one.
            state.withLock { $0.rests[queue] = $0.rests[queue]?.alarm.map { Rest(alarm: $0) } }
        }
        if let failure { rest(queue, failure) }
    }

    /// The entries of a queue wait: they are tried again when the time has come.
    private func rest(_ queue: String?, _ error: NetworkError) {
        let clock = client.container.clock
        let wait: Duration? = state.withLock { state in
            var rest = state.rests[queue, default: Rest()]
            if rest.alarm != nil || state.isOver { return nil }
            rest.failures += 1
            defer { state.rests[queue] = rest }
            var generator = Chance()
            let asked = min(error.response?.retryAfter ?? .zero, backoff.maxAsked)
            guard let wait = backoff.delay(after: rest.failures, asked: asked, using: &generator) else { return nil }
            rest.alarm = Task.detached { [weak self] in
                // Thrown only where something else has called before.
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

extension Outbox {
    /// Sends what waits: now, whenever the network returns, and after waits that become longer.
    ///
    /// A new operation is tried at once, whatever the wait. Each queue has waits of its own; one is at least as long as
    /// `Retry-After` asks, up to `backoff.maxAsked`. What is being sent when the network returns is tried once more where it
    /// fails.
    ///
    /// - Parameters:
    ///   - client: what sends; it is held until the sender ends.
    ///   - backoff: the waits; windows from 1 s up to 5 min by default, at most an hour for a server that asks, without end.
    ///   - whenNetworkReturns: gives an element when sending is worth while again; several at once count as one.
    /// - Returns: what sends, to be held for as long as it shall.
    public func sendAutomatically(
        with client: any NetworkClient,
        backoff: Backoff = Backoff(cap: .seconds(300), maxAsked: .seconds(3_600)),
        whenNetworkReturns: AsyncStream<Void>? = nil
    ) -> OutboxSender {
        OutboxSender(self, client, backoff, whenNetworkReturns)
    }
}

/// What a log says of an outbox.
struct OutboxLogMessage: LogType {
    let level: LogLevel
    let message: String

    var category: String { "Outbox" }
}
