import BeagleNetHTTP
import BeagleNetRequestBuilder

extension Outbox {
    /// Sends the pending entries of these queues.
    ///
    /// A queue that is already being sent is checked again, and a cancelled run is followed by another.
    ///
    /// - Parameter retriesOnFailure: Whether to retry an entry that is being sent, if it fails.
    /// - Returns: The task of each queue.
    @discardableResult
    func run(_ queues: some Sequence<String>, retriesOnFailure: Bool = false) -> [String: Task<Report, Never>] {
        state.withLock { state in
            var tasks: [String: Task<Report, Never>] = [:]
            for queue in queues {
                let current = state.runs[queue]?.task
                if current?.isCancelled ?? true {
                    state.lastRun += 1
                    let number = state.lastRun
                    let task = Task.detached {
                        _ = await current?.value
                        return await self.send(queue, number)
                    }
                    state.runs[queue] = Run(number: number, task: task)
                } else {
                    state.runs[queue]?.needsRecheck = true
                    if retriesOnFailure { state.runs[queue]?.retriesOnFailure = true }
                }
                tasks[queue] = state.runs[queue]?.task
            }
            return tasks
        }
    }

    private func send(_ queue: String, _ number: Int) async -> Report {
        var report = Report()
        var hasRight = false
        do throws(NetworkError) {
            try sendLock.acquire()
            hasRight = true
            repeat {
                while report.failures.isEmpty, let file = try next(in: queue, &report) {
                    guard let failure = try await send(file, &report) else { continue }
                    if Task.isCancelled || !retriesOnFailure(queue) { report.failures.append(failure) }
                }
            } while report.failures.isEmpty && !isOver(queue, number)
        } catch {
            report.abortError = error
        }
        if let failure = report.abortError ?? report.failures.first { stop(queue, number, failure) }
        if hasRight, sendLock.release(), !Task.isCancelled { sendNewEntries() }
        for watcher in state.withLock({ Array($0.reportHandlers.values) }) { watcher(queue, report) }
        notifySubscribers()
        return report
    }

    /// Returns the oldest entry to send, after removing those that must not be sent any more.
    private func next(in queue: String, _ report: inout Report) throws(NetworkError) -> OutboxFiles.File? {
        let known = state.withLock { state in
            Set(state.live.filter { $0.value.queue == queue && $0.value.isWritten }.keys)
        }
        let files = try files.waiting()
        reportMissing(known.subtracting(files.map(\.entry.id)))
        let queued = files.filter { $0.entry.queue == queue }
        state.withLock { $0.seen[queue] = queued.isEmpty ? nil : Set(queued.map(\.name)) }
        for file in queued {
            if let settlement = state.withLock({ $0.settled[file.name] }) {
                try clear(file, settlement)
                continue
            }
            if let maxAge = limits.maxAge, now() - file.entry.accepted.timeIntervalSince1970 > maxAge / .seconds(1) {
                let completions = state.withLock { $0.takeCompletions(of: file.entry.id) }
                try refuse(file, Self.expired, .failure(.expired), completions, &report)
                continue
            }
            // An entry that is still being written asks for its turn afterwards.
            return state.withLock { $0.live[file.entry.id]?.isWritten ?? true } ? file : nil
        }
        return nil
    }

    /// Sends one entry.
    ///
    /// - Returns: The reason why the entry and all behind it stay; `nil` if the next one may be sent.
    /// - Throws: An error if the directory can't be used.
    private func send(_ file: OutboxFiles.File, _ report: inout Report) async throws(NetworkError) -> NetworkError? {
        if Task.isCancelled { return .cancelledBeforeStart }
        let id = file.entry.id
        state.withLock { state in
            state.sending.insert(id)
            state.runs[file.entry.queue]?.retriesOnFailure = false
        }
        notifySubscribers()
        defer { state.withLock { _ = $0.sending.remove(id) } }
        let sent: Sent
        do throws(NetworkError) {
            sent = try await answer(to: file)
        } catch {
            switch error.kind {
            // The file is whole, but its URL can't be requested.
            case .badURL: try refuse(file, error.kind.rawValue, .failure(error), [], &report)
            // The file was damaged and moved aside, or removed in the meantime. Others continue.
            case .decoding: reportMissing([id])
            default:
                if try isThere(file) { throw error }
                reportMissing([id])
            }
            return nil
        }
        let (verdict, completions) = judge(sent, of: file.entry)
        switch verdict {
        case .accepted:
            report.delivered.append(Delivery(entry: file.entry, status: sent.outcome.head?.status.code))
            defer { complete(id, sent.outcome, completions) }
            try clear(file, Settlement(reason: nil))
        case .refused(let reason):
            try refuse(file, reason, sent.outcome, completions, &report)
        case .open(let error):
            return error
        }
        return nil
    }

    /// The outcome of sending an entry.
    private struct Sent: Sendable {
        let outcome: Outcome
        /// The `Idempotency-Key` of the entry.
        let key: String
        /// Whether the message can't have been sent before.
        let isFirst: Bool
    }

    /// Sends an entry through the pipeline of a waiting caller, or else through a client.
    private func answer(to file: OutboxFiles.File) async throws(NetworkError) -> Sent {
        let (sendTask, isFirst) = state.withLock { state in
            let live = state.live[file.entry.id]
            state.live[file.entry.id]?.sendTask = nil
            state.live[file.entry.id]?.isUnsent = false
            return (live?.sendTask, live?.isUnsent ?? false)
        }
        if let sendTask, let outcome = await sendTask.start() {
            return Sent(outcome: outcome, key: sendTask.sending.key, isFirst: isFirst && !sendTask.sending.isRepeated)
        }
        guard let client = state.withLock({ $0.clients.last?.client }) else {
            return Sent(outcome: .failure(.noClient), key: "", isFirst: false)
        }
        let message = try files.message(of: file)
        let operation = try NetworkOperation(kept: message)
        let sending = OutboxSending(key: message.idempotencyKey)
        let outcome = await sending.run { () throws(NetworkError) in try await client.run(operation, emit: { _ in }) }
        return Sent(outcome: outcome, key: sending.key, isFirst: false)
    }

    /// Returns the meaning of an outcome and the waiting completions. Both are taken in one step: if a caller left in
    /// between, no one would receive the outcome.
    private func judge(_ sent: Sent, of entry: Entry) -> (OutboxVerdict, completions: [Completion]) {
        let isDelivered = sent.outcome.elsewhere.map { self.isDelivered(entry, $0) } ?? true
        return state.withLock { state in
            let isHeard = state.live[entry.id]?.completions.isEmpty == false
            let isFirst = sent.isFirst && isHeard
            let verdict = sent.outcome.verdict(for: sent.key, isFirst: isFirst, isDelivered: isDelivered)
            if case .open = verdict { return (verdict, []) }
            return (verdict, state.takeCompletions(of: entry.id))
        }
    }

    /// Handles an entry that the server or our own rules refuse. Waiting callers get the outcome; without any, the file
    /// is moved to the refused ones.
    private func refuse(
        _ file: OutboxFiles.File,
        _ reason: String,
        _ outcome: Outcome,
        _ completions: [Completion],
        _ report: inout Report
    ) throws(NetworkError) {
        var entry = file.entry
        entry.state = .refused(reason)
        report.refused.append(entry)
        defer { complete(entry.id, outcome, completions) }
        try clear(file, Settlement(reason: completions.isEmpty ? reason : nil))
    }

    /// Removes a file or moves it aside.
    ///
    /// If that fails, the entry still isn't sent again while this process runs.
    func clear(_ file: OutboxFiles.File, _ settlement: Settlement) throws(NetworkError) {
        state.withLock { $0.settled[file.name] = settlement }
        do throws(NetworkError) {
            if let reason = settlement.reason { try files.refuse(file, reason) } else { try files.remove(file) }
        } catch {
            // Otherwise, it was removed in the meantime.
            if try isThere(file) {
                files.note(.notCleared(file.entry, error))
                throw error
            }
        }
        state.withLock { $0.settled[file.name] = nil }
        notifySubscribers()
    }

    private func isThere(_ file: OutboxFiles.File) throws(NetworkError) -> Bool {
        try files.waiting().contains { $0.name == file.name }
    }

    /// Calls the given completions, and those of callers that have joined since.
    private func complete(_ id: String, _ outcome: Outcome, _ completions: [Completion] = [], isFinal: Bool = true) {
        let live = state.withLock { $0.finishWaiting(for: id, isFinal ? outcome : nil) }
        live?.sendTask?.cancel()
        for completion in completions + (live?.completions.values ?? [:].values) { completion(outcome) }
    }

    /// Ends the wait for entries that are no longer on disk, although this process didn't send them.
    private func reportMissing(_ ids: Set<String>) {
        for id in ids { complete(id, .failure(.taken), isFinal: false) }
    }

    private func retriesOnFailure(_ queue: String) -> Bool {
        state.withLock { $0.runs[queue]?.retriesOnFailure ?? false }
    }

    /// Whether there is nothing more to do in a queue.
    private func isOver(_ queue: String, _ number: Int) -> Bool {
        state.withLock { state in
            guard state.runs[queue]?.number == number else { return true }
            if state.runs[queue]?.needsRecheck == true {
                state.runs[queue]?.needsRecheck = false
                return false
            }
            state.runs[queue] = nil
            return true
        }
    }

    /// Stops the sending of a queue. Its entries stay, and waiting callers get an error.
    private func stop(_ queue: String, _ number: Int, _ error: NetworkError) {
        let (told, retriesOnFailure): ([(String, Live)], Bool) = state.withLock { state in
            // Another run has replaced this one and sends the entries.
            guard state.runs[queue]?.number == number else { return ([], false) }
            let ids = state.live.filter { $0.value.queue == queue && $0.value.isWritten }.keys
            let told = ids.compactMap { id in state.finishWaiting(for: id, nil).map { (id, $0) } }
            let retriesOnFailure = state.runs[queue]?.retriesOnFailure ?? false
            state.runs[queue] = nil
            return (told, retriesOnFailure)
        }
        for (id, live) in told {
            live.sendTask?.cancel()
            for completion in live.completions.values { completion(.failure(.kept(id, error))) }
        }
        // A retry was requested while stopping.
        if retriesOnFailure, !Task.isCancelled { run([queue]) }
    }

    /// Sends entries that another process has written while this one had the lock, because that process couldn't send
    /// them.
    private func sendNewEntries() {
        // If they can't be read now, the next flush sends them.
        guard state.withLock({ !$0.clients.isEmpty }), let waiting = try? files.waiting() else { return }
        let news = state.withLock { state in
            waiting.filter { file in
                let queue = file.entry.queue
                return state.runs[queue] == nil && state.seen[queue]?.contains(file.name) != true
            }
        }
        run(Set(news.map(\.entry.queue)))
    }
}

extension Outbox.Outcome {
    /// The head of the response, whether the outcome is a success or an error.
    fileprivate var head: HTTPResponse? {
        switch self {
        case .success(let result): result.head
        case .failure(let error): error.response
        }
    }
}
