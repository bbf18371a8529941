import BeagleNetHTTP
import BeagleNetRequestBuilder

// MARK: - Those who wait

extension Outbox {
    /// Writes a message and gives the answer to it when its turn has come.
    ///
    /// - Parameters:
    ///   - message: what is written; cancelled with the caller's task up to the moment of writing.
    ///   - place: whose turn to be written comes; left when it is.
    ///   - turn: sends it.
    /// - Throws: why it could not be written, and then nothing is sent; what `isKept` where it is not answered now.
    nonisolated(nonsending) func deliver(
        _ message: OutboxMessage,
        at place: OutboxLine.Place,
        _ turn: OutboxTurn
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let id = try message.id()
        expect(id, in: message.queue)
        // Not on the caller's thread, which may be the one that draws or the transport's.
        let writing = Task.detached { () -> Result<(entry: Entry, isNew: Bool), NetworkError> in
            await place.wait()
            defer { place.leave() }
            return Result { () throws(NetworkError) in
                if Task.isCancelled { throw NetworkError.cancelledBeforeStart }
                let written = try self.files.write(message)
                self.tell()
                return written
            }
        }
        let written = await withTaskCancellationHandler {
            await writing.value
        } onCancel: {
            writing.cancel()
        }
        let (entry, isNew): (Entry, Bool)
        switch written {
        case .success(let there): (entry, isNew) = there
        case .failure(let error):
            turn.drop()
            giveUp(id)
            throw error
        }
        return try await withCancellableToken { completion in
            self.wait(for: entry, isNew: isNew, turn, completion)
        }.get()
    }

    /// Somebody is about to wait for an answer.
    private func expect(_ id: String, in queue: String) {
        state.withLock { $0.live[id, default: Live(queue: queue)].comers += 1 }
    }

    /// What somebody was about to wait for was not written.
    private func giveUp(_ id: String) {
        let queue: String? = state.withLock { state in
            guard let queue = state.live[id]?.queue else { return nil }
            state.live[id]?.comers -= 1
            state.removeIfDone(id)
            let isAwaited = !state.clients.isEmpty || state.live.values.contains { $0.queue == queue && $0.isWritten }
            return isAwaited ? queue : nil
        }
        // The queue may have waited for it.
        if let queue { run([queue]) }
    }

    private func wait(
        for entry: Entry,
        isNew: Bool,
        _ turn: OutboxTurn,
        _ completion: @escaping Completion
    ) -> any RequestToken {
        let (number, outcome, isSpare): (Int, Outcome?, Bool) = state.withLock { state in
            let number = state.nextNumber()
            var live = state.live[entry.id] ?? Live(queue: entry.queue, comers: 1)
            live.comers -= 1
            live.queue = entry.queue
            let isSpare = live.outcome != nil || live.turn != nil
            if live.outcome == nil {
                if !isSpare { live.turn = turn }
                if isNew { live.isUnsent = true }
                live.isWritten = true
                live.completions[number] = completion
            }
            state.live[entry.id] = live
            state.removeIfDone(entry.id)
            return (number, live.outcome, isSpare)
        }
        if isSpare { turn.drop() }
        if let outcome {
            // What was written after the same had been answered need not be sent.
            do throws(NetworkError) { try files.remove(waiting: entry.id) } catch { run([entry.queue]) }
            tell()
            completion(outcome)
        } else {
            run([entry.queue])
        }
        return OutboxWait(outbox: self, entry: entry, number: number)
    }

    /// Who waits leaves; the entry stays.
    fileprivate func leave(_ entry: Entry, _ number: Int) {
        let completion = state.withLock { $0.live[entry.id]?.completions.removeValue(forKey: number) }
        completion?(.failure(.left(entry)))
    }
}

/// The wait for an entry's answer.
private struct OutboxWait: RequestToken {
    let outbox: Outbox
    let entry: Outbox.Entry
    let number: Int

    func cancel() {
        outbox.leave(entry, number)
    }
}

extension Outbox.State {
    /// Forgets a live operation that nobody waits for or will.
    fileprivate mutating func removeIfDone(_ id: String) {
        guard let found = live[id], found.comers == 0, found.completions.isEmpty else { return }
        // One that waits for its turn is sent, although nobody hears the answer.
        if found.isWritten, found.outcome == nil { return }
        live[id] = nil
    }

    /// Takes out those who wait for an entry.
    fileprivate mutating func takeCompletions(of id: String) -> [Outbox.Completion] {
        guard let found = live[id] else { return [] }
        live[id]?.completions = [:]
        return Array(found.completions.values)
    }

    /// Ends the wait for an entry. Who is about to wait hears the outcome, or else brings a turn of their own.
    fileprivate mutating func endWait(for id: String, _ outcome: Outbox.Outcome?) -> Outbox.Live? {
        guard let found = live[id] else { return nil }
        live[id] = found.comers > 0 ? Outbox.Live(queue: found.queue, comers: found.comers, outcome: outcome) : nil
        return found
    }

    /// Ends the sending of a queue.
    fileprivate mutating func endRun(of queue: String) {
        runs[queue] = nil
        // Let go under the lock of this state: who takes the right next finds it free.
        if runs.isEmpty { lock = nil }
    }
}

// MARK: - Queues

extension Outbox {
    /// Sends what waits in these queues; what is being sent already looks once more.
    ///
    /// - Parameter isWantedAnew: whether there is a reason to try what is being sent once more where it fails.
    /// - Returns: the tasks that do.
    @discardableResult
    func run(_ queues: some Sequence<String>, isWantedAnew: Bool = false) -> [String: Task<Report, Never>] {
        state.withLock { state in
            var tasks: [String: Task<Report, Never>] = [:]
            for queue in queues {
                if state.runs[queue] == nil {
                    state.runs[queue] = Run(task: Task.detached { await self.send(queue) })
                } else {
                    state.runs[queue]?.isAskedAgain = true
                    if isWantedAnew { state.runs[queue]?.isWantedAnew = true }
                }
                tasks[queue] = state.runs[queue]?.task
            }
            return tasks
        }
    }

    private func send(_ queue: String) async -> Report {
        var report = Report()
        var hasRight = false
        do throws(NetworkError) {
            try hold()
            hasRight = true
            repeat {
                while report.failures.isEmpty, let file = try next(in: queue, &report) {
                    guard let failure = try await send(file, &report) else { continue }
                    if Task.isCancelled || !isWantedAnew(queue) { report.failures.append(failure) }
                }
            } while report.failures.isEmpty && !isOver(queue)
        } catch {
            report.trouble = error
        }
        if let failure = report.trouble ?? report.failures.first { stop(queue, failure) }
        if hasRight, !Task.isCancelled { lookForNews() }
        for watcher in state.withLock({ Array($0.watchers.values) }) { watcher(queue, report) }
        tell()
        return report
    }

    /// Takes the right to send for this process, unless it has it.
    private func hold() throws(NetworkError) {
        let isHeld = try state.withLock { state throws(NetworkError) in
            if state.lock == nil { state.lock = try files.holdSending() }
            return state.lock != nil
        }
        if !isHeld { throw .heldByAnother }
    }

    /// The oldest entry of a queue, after those that are not to be sent were moved aside.
    private func next(in queue: String, _ report: inout Report) throws(NetworkError) -> OutboxFiles.File? {
        let known = state.withLock { state in
            Set(state.live.filter { $0.value.queue == queue && $0.value.isWritten }.keys)
        }
        let files = try files.waiting()
        lose(known.subtracting(files.map(\.entry.id)))
        let queued = files.filter { $0.entry.queue == queue }
        state.withLock { $0.seen[queue] = queued.isEmpty ? nil : Set(queued.map(\.name)) }
        for file in queued {
            if let settlement = state.withLock({ $0.settled[file.name] }) {
                try clear(file, settlement)
                continue
            }
            if let maxAge = limits.maxAge, now() - file.entry.accepted.timeIntervalSince1970 > maxAge / .seconds(1) {
                let heard = state.withLock { $0.takeCompletions(of: file.entry.id) }
                try refuse(file, Self.expired, .failure(.expired), heard, &report)
                continue
            }
            // One that is still being written to the disk asks for its turn when it is there.
            return state.withLock { $0.live[file.entry.id]?.isWritten ?? true } ? file : nil
        }
        return nil
    }

    /// Sends one entry.
    ///
    /// - Returns: why it stays, and all behind it.
    /// - Throws: what is wrong with the directory.
    private func send(_ file: OutboxFiles.File, _ report: inout Report) async throws(NetworkError) -> NetworkError? {
        if Task.isCancelled { return .cancelledBeforeStart }
        let id = file.entry.id
        state.withLock { state in
            state.sending.insert(id)
            state.runs[file.entry.queue]?.isWantedAnew = false
        }
        tell()
        defer { state.withLock { _ = $0.sending.remove(id) } }
        let sent: Sent
        do throws(NetworkError) {
            sent = try await answer(to: file)
        } catch {
            switch error.kind {
            // It is whole, and cannot be asked for.
            case .badURL: try refuse(file, error.kind.rawValue, .failure(error), [], &report)
            // Damaged, and moved aside, or taken out meanwhile: the others go on.
            case .decoding: lose([id])
            default:
                if try isThere(file) { throw error }
                lose([id])
            }
            return nil
        }
        let (verdict, heard) = judge(sent, of: id)
        switch verdict {
        case .accepted:
            report.delivered.append(Delivery(entry: file.entry, status: sent.outcome.head?.status.code))
            defer { complete(id, sent.outcome, heard) }
            try clear(file, Settlement(reason: nil))
        case .refused(let reason):
            try refuse(file, reason, sent.outcome, heard, &report)
        case .open(let error):
            return error
        }
        return nil
    }

    /// What came of the sending of an entry.
    private struct Sent: Sendable {
        let outcome: Outcome
        /// The entry's `Idempotency-Key`.
        let key: String
        /// Whether the message cannot have been sent before.
        let isFirst: Bool
    }

    /// Sends an entry through the pipeline of the one who waits for it, else through a client.
    private func answer(to file: OutboxFiles.File) async throws(NetworkError) -> Sent {
        let (turn, isFirst) = state.withLock { state in
            let live = state.live[file.entry.id]
            state.live[file.entry.id]?.turn = nil
            state.live[file.entry.id]?.isUnsent = false
            return (live?.turn, live?.isUnsent ?? false)
        }
        if let turn, let outcome = await turn.take() {
            return Sent(outcome: outcome, key: turn.sending.key, isFirst: isFirst && !turn.sending.isRepeated)
        }
        guard let client = state.withLock({ $0.clients.last?.client }) else {
            return Sent(outcome: .failure(.nobodySends), key: "", isFirst: false)
        }
        let message = try files.message(of: file)
        let operation = try NetworkOperation(kept: message)
        let sending = OutboxSending(key: message.idempotencyKey)
        let outcome = await sending.run { () throws(NetworkError) in try await client.run(operation, emit: { _ in }) }
        return Sent(outcome: outcome, key: sending.key, isFirst: false)
    }

    /// What an outcome means; those who are to hear it are taken out in the same step, so that none of them leaves and it
    /// is heard by nobody.
    private func judge(_ sent: Sent, of id: String) -> (OutboxVerdict, heard: [Completion]) {
        state.withLock { state in
            let isHeard = state.live[id]?.completions.isEmpty == false
            let verdict = sent.outcome.verdict(for: sent.key, isFirst: sent.isFirst && isHeard)
            if case .open = verdict { return (verdict, []) }
            return (verdict, state.takeCompletions(of: id))
        }
    }

    /// The server, or our own rules, will not have it. Where somebody hears that it is gone; else it is kept aside.
    private func refuse(
        _ file: OutboxFiles.File,
        _ reason: String,
        _ outcome: Outcome,
        _ heard: [Completion],
        _ report: inout Report
    ) throws(NetworkError) {
        var entry = file.entry
        entry.state = .refused(reason)
        report.refused.append(entry)
        defer { complete(entry.id, outcome, heard) }
        try clear(file, Settlement(reason: heard.isEmpty ? reason : nil))
    }

    /// Takes a file out of the way. One that cannot be is not sent all the same.
    private func clear(_ file: OutboxFiles.File, _ settlement: Settlement) throws(NetworkError) {
        state.withLock { $0.settled[file.name] = settlement }
        do throws(NetworkError) {
            if let reason = settlement.reason { try files.refuse(file, reason) } else { try files.remove(file) }
        } catch {
            // Taken out meanwhile.
            if try isThere(file) { throw error }
        }
        state.withLock { $0.settled[file.name] = nil }
        tell()
    }

    private func isThere(_ file: OutboxFiles.File) throws(NetworkError) -> Bool {
        try files.waiting().contains { $0.name == file.name }
    }

    /// Tells those who were taken out, and all who have come since.
    private func complete(_ id: String, _ outcome: Outcome, _ heard: [Completion] = [], isFinal: Bool = true) {
        let live = state.withLock { $0.endWait(for: id, isFinal ? outcome : nil) }
        live?.turn?.drop()
        for completion in heard + (live?.completions.values ?? [:].values) { completion(outcome) }
    }

    /// What is on the disk no more, although nobody here has sent it.
    private func lose(_ ids: Set<String>) {
        for id in ids { complete(id, .failure(.taken), isFinal: false) }
    }

    private func isWantedAnew(_ queue: String) -> Bool {
        state.withLock { $0.runs[queue]?.isWantedAnew ?? false }
    }

    /// Whether there is nothing more to do in a queue.
    private func isOver(_ queue: String) -> Bool {
        state.withLock { state in
            if state.runs[queue]?.isAskedAgain == true {
                state.runs[queue]?.isAskedAgain = false
                return false
            }
            state.endRun(of: queue)
            return true
        }
    }

    /// Ends the sending of a queue: what is in it waits, and whoever waits for it is told so.
    private func stop(_ queue: String, _ error: NetworkError) {
        let (told, isWantedAnew): ([(String, Live)], Bool) = state.withLock { state in
            let ids = state.live.filter { $0.value.queue == queue && $0.value.isWritten }.keys
            let told = ids.compactMap { id in state.endWait(for: id, nil).map { (id, $0) } }
            let isWantedAnew = state.runs[queue]?.isWantedAnew ?? false
            state.endRun(of: queue)
            return (told, isWantedAnew)
        }
        for (id, live) in told {
            live.turn?.drop()
            for completion in live.completions.values { completion(.failure(.kept(id, error))) }
        }
        // Asked for in the moment of stopping.
        if isWantedAnew, !Task.isCancelled { run([queue]) }
    }

    /// What another process has written while this one had the right to send, it has left to this one.
    private func lookForNews() {
        let isFree = state.withLock { $0.lock == nil && !$0.clients.isEmpty }
        // What cannot be read now is sent with the next flush.
        guard isFree, let waiting = try? files.waiting() else { return }
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
    /// The head of the answer, whatever was made of it.
    fileprivate var head: HTTPResponse? {
        switch self {
        case .success(let result): result.head
        case .failure(let error): error.response
        }
    }
}
