import BeagleNetDependencies
public import BeagleNetHTTP

/// Sends what is in an outbox again and again until nothing is left, for as long as it is held; cancelling it, or letting
/// it go, ends that.
public final class OutboxSender: RequestToken {
    private struct State {
        var failures = 0
        var alarm: Task<Void, Never>?
        var isOver = false
    }

    private let state = Lock(State())
    private let outbox: Outbox
    private let client: any NetworkClient
    private let backoff: Backoff
    private let number: Int
    /// One call more than is answered is as good as many.
    private let calls = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let tasks = Lock<[Task<Void, Never>]>([])

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
        outbox.state.withLock { [number] state in state.resting[number] = { [weak self] in self?.rest($0) } }
        let calls = calls
        let sending = Task.detached { [weak self] in
            for await _ in calls.stream {
                guard let self, !Task.isCancelled else { return }
                await self.send()
            }
        }
        tasks.withLock { $0.append(sending) }
        if let networkReturns {
            let listening = Task.detached { for await _ in networkReturns { calls.continuation.yield() } }
            tasks.withLock { $0.append(listening) }
        }
        calls.continuation.yield()
    }

    deinit {
        cancel()
    }

    /// Sends nothing more by itself. What it is sending is cancelled and stays in the outbox, unless somebody waits for the
    /// answer to it.
    public func cancel() {
        let alarm = state.withLock { state in
            defer { state.alarm = nil }
            state.isOver = true
            return state.alarm
        }
        alarm?.cancel()
        calls.continuation.finish()
        for task in tasks.withLock({ $0 }) { task.cancel() }
        outbox.state.withLock { state in _ = state.resting.removeValue(forKey: number) }
        outbox.detach(number)
    }

    private func send() async {
        let alarm = state.withLock { state in
            defer { state.alarm = nil }
            return state.alarm
        }
        alarm?.cancel()
        do throws(NetworkError) {
            let report = try await outbox.flush(with: client)
            for damage in report.damages { log(damage, .error) }
            if !report.delivered.isEmpty || report.remaining.isEmpty { state.withLock { $0.failures = 0 } }
            // A queue that stopped has called `rest` itself.
            if !report.remaining.isEmpty { rest(report.failures.first ?? .nobodySends) }
        } catch {
            rest(error)
        }
    }

    /// Entries wait: they are tried again when the time has come.
    private func rest(_ error: NetworkError) {
        let clock = client.container.clock
        let wait: Duration? = state.withLock { state in
            if state.alarm != nil || state.isOver { return nil }
            state.failures += 1
            var generator = SystemRandomNumberGenerator()
            let asked = min(error.response?.retryAfter ?? .zero, backoff.maxAsked)
            guard let wait = backoff.delay(after: state.failures, asked: asked, using: &generator) else { return nil }
            let calls = calls.continuation
            state.alarm = Task.detached {
                // Thrown only where something else has called before.
                do { try await clock.sleep(for: wait) } catch { return }
                calls.yield()
            }
            return wait
        }
        let isTrouble = error.kind == .file && error.phase == .file
        if let wait { log(error, isTrouble ? .error : .info, "; it is tried again in \(wait.milliseconds) ms") }
    }

    private func log(_ error: NetworkError, _ level: LogLevel, _ more: String = "") {
        let logger = client.container.logger
        if logger.accepts(level) { logger.log(OutboxLogMessage(level: level, message: error.message + more)) }
    }
}

extension Outbox {
    /// Sends what waits: now, whenever the network returns, and after waits that become longer.
    ///
    /// A new operation is tried at once, whatever the wait. A wait is at least as long as `Retry-After` asks, up to
    /// `backoff.maxAsked`.
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
