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
        expect(id, in: message.queue, turn)
        // Not on the caller's thread, which may be the one that draws or the transport's.
        let writing = Task.detached { () -> Result<Entry, NetworkError> in
            await place.wait()
            defer { place.leave() }
            return Result { () throws(NetworkError) in
                if Task.isCancelled { throw NetworkError.cancelledBeforeStart }
                let entry = try self.files.write(message)
                self.tell()
                return entry
            }
        }
        let written = await withTaskCancellationHandler {
            await writing.value
        } onCancel: {
            writing.cancel()
        }
        let entry: Entry
        switch written {
        case .success(let there): entry = there
        case .failure(let error):
            giveUp(id)
            throw error
        }
        return try await withCancellableToken { completion in
            self.wait(for: entry, completion)
        }.get()
    }

    /// Somebody is about to wait for an answer.
    private func expect(_ id: String, in queue: String, _ turn: OutboxTurn) {
        let isKnown = state.withLock { state in
            guard state.live[id] == nil else {
                state.live[id]?.comers += 1
                return true
            }
            state.live[id] = Live(queue: queue, turn: turn)
            return false
        }
        if isKnown { turn.drop() }
    }

    /// What somebody was about to wait for was not written.
    private func giveUp(_ id: String) {
        let (turn, queue): (OutboxTurn?, String?) = state.withLock { state in
            state.live[id]?.comers -= 1
            let queue = state.live[id]?.queue
            let turn = state.removeIfDone(id)
            let isAwaited = !state.clients.isEmpty || state.live.values.contains { $0.queue == queue && $0.isWritten }
            return (turn, isAwaited ? queue : nil)
        }
        turn?.drop()
        // The queue may have waited for it.
        if let queue { run([queue]) }
    }

    private func wait(for entry: Entry, _ completion: @escaping Completion) -> any RequestToken {
        let (number, outcome): (Int, Outcome?) = state.withLock { state in
            let number = state.nextNumber()
            state.live[entry.id]?.comers -= 1
            state.live[entry.id]?.queue = entry.queue
            guard let outcome = state.live[entry.id]?.outcome else {
                state.live[entry.id]?.completions[number] = completion
                state.live[entry.id]?.isWritten = true
                return (number, nil)
            }
            _ = state.removeIfDone(entry.id)
            return (number, outcome)
        }
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
    fileprivate mutating func removeIfDone(_ id: String) -> OutboxTurn? {
        guard let found = live[id], found.comers == 0, found.completions.isEmpty else { return nil }
        live[id] = nil
        return found.turn
    }
}

// MARK: - Queues

extension Outbox {
    /// Sends what waits in these queues; what is being sent already looks once more.
    ///
    /// - Returns: the tasks that do.
    @discardableResult
    func run(_ queues: some Sequence<String>) -> [Task<Report, Never>] {
        state.withLock { state in
            queues.map { queue in
                if let run = state.runs[queue] {
                    state.runs[queue]?.isAskedAgain = true
                    return run.task
                }
                let task = Task.detached { await self.send(queue) }
                state.runs[queue] = Run(task: task)
                return task
            }
        }
    }

    private func send(_ queue: String) async -> Report {
        var report = Report()
        do throws(NetworkError) {
            try hold()
            repeat {
                while report.failures.isEmpty, let file = try next(in: queue, &report) {
                    if let failure = try await send(file, &report) { report.failures.append(failure) }
                }
            } while report.failures.isEmpty && !isOver(queue)
        } catch {
            report.trouble = error
        }
        if let failure = report.trouble ?? report.failures.first { stop(queue, failure) }
        tell()
        lookForNews()
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
        for file in files where file.entry.queue == queue {
            if state.withLock({ $0.settled.contains(file.name) }) {
                try self.files.remove(file)
                continue
            }
            if let maxAge = limits.maxAge, now() - file.entry.accepted.timeIntervalSince1970 > maxAge / .seconds(1) {
                try refuse(file, "expired", .failure(.expired), &report)
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
        state.withLock { _ = $0.sending.insert(id) }
        tell()
        defer { state.withLock { _ = $0.sending.remove(id) } }
        let outcome: Outcome
        do throws(NetworkError) {
            outcome = try await answer(to: file)
        } catch {
            // Damaged, and moved aside: the others go on.
            guard error.kind == .decoding else { throw error }
            lose([id])
            return nil
        }
        switch outcome.verdict {
        case .accepted:
            state.withLock { _ = $0.settled.insert(file.name) }
            try settle(file, outcome) { () throws(NetworkError) in try files.remove(file) }
            report.delivered.append(Delivery(entry: file.entry, status: outcome.status?.code))
        case .refused(let reason):
            try refuse(file, reason, outcome, &report)
        case .open(let error):
            return error
        }
        return nil
    }

    /// Sends an entry through the pipeline of the one who waits for it, else through a client.
    private func answer(to file: OutboxFiles.File) async throws(NetworkError) -> Outcome {
        let turn = state.withLock { $0.live[file.entry.id]?.turn }
        if let turn, let outcome = await turn.take() { return outcome }
        guard let client = state.withLock({ $0.clients.last?.client }) else { return .failure(.nobodySends) }
        let operation: NetworkOperation
        do throws(NetworkError) {
            operation = try NetworkOperation(kept: try files.message(of: file))
        } catch {
            if error.kind == .badURL { return .failure(error) }
            throw error
        }
        return await .catching { () throws(NetworkError) in try await client.run(operation, emit: { _ in }) }
    }

    /// The server, or our own rules, will not have it. Whoever waits is told and it is gone; else it is kept aside.
    private func refuse(
        _ file: OutboxFiles.File,
        _ reason: String,
        _ outcome: Outcome,
        _ report: inout Report
    ) throws(NetworkError) {
        let isHeard = state.withLock { state in
            state.live[file.entry.id].map { !$0.completions.isEmpty || $0.comers > 0 } ?? false
        }
        if isHeard { state.withLock { _ = $0.settled.insert(file.name) } }
        try settle(file, outcome) { () throws(NetworkError) in
            if isHeard { try files.remove(file) } else { try files.refuse(file, reason) }
        }
        var entry = file.entry
        entry.state = .refused(reason)
        report.refused.append(entry)
    }

    /// Tells those who wait, after the file is out of the way.
    private func settle(
        _ file: OutboxFiles.File,
        _ outcome: Outcome,
        _ clear: () throws(NetworkError) -> Void
    ) throws(NetworkError) {
        defer { complete(file.entry.id, outcome) }
        try clear()
        state.withLock { _ = $0.settled.remove(file.name) }
        tell()
    }

    /// Tells all who wait for an entry, and with `isFinal` those who are about to as well.
    private func complete(_ id: String, _ outcome: Outcome, isFinal: Bool = true) {
        let live: Live? = state.withLock { state in
            let live = state.live[id]
            state.live[id]?.completions = [:]
            if isFinal { state.live[id]?.outcome = outcome }
            _ = state.removeIfDone(id)
            return live
        }
        guard let live else { return }
        live.turn.drop()
        for completion in live.completions.values { completion(outcome) }
    }

    /// What is on the disk no more, although nobody here has sent it.
    private func lose(_ ids: Set<String>) {
        for id in ids { complete(id, .failure(.taken), isFinal: false) }
    }

    /// Whether there is nothing more to do in a queue.
    private func isOver(_ queue: String) -> Bool {
        let (isOver, lock): (Bool, OpenFile?) = state.withLock { state in
            if state.runs[queue]?.isAskedAgain == true {
                state.runs[queue]?.isAskedAgain = false
                return (false, nil)
            }
            return (true, Self.end(queue, &state))
        }
        withExtendedLifetime(lock) {}
        return isOver
    }

    /// Ends the sending of a queue: what is in it waits, and whoever waits for it is told so.
    private func stop(_ queue: String, _ error: NetworkError) {
        let (told, resting, lock): ([(String, Live)], [@Sendable (NetworkError) -> Void], OpenFile?) = state.withLock {
            state in
            let told = state.live.filter { $0.value.queue == queue && $0.value.isWritten }
            for id in told.keys {
                state.live[id]?.completions = [:]
                if state.live[id]?.comers == 0 { state.live[id] = nil }
            }
            return (told.map { ($0.key, $0.value) }, Array(state.resting.values), Self.end(queue, &state))
        }
        withExtendedLifetime(lock) {}
        for (id, live) in told {
            live.turn.drop()
            for completion in live.completions.values { completion(.failure(.kept(id, error))) }
        }
        for rest in resting { rest(error) }
    }

    /// - Returns: the right to send, to be let go outside of the lock, where nothing else is sent.
    private static func end(_ queue: String, _ state: inout State) -> OpenFile? {
        state.runs[queue] = nil
        guard state.runs.isEmpty else { return nil }
        defer { state.lock = nil }
        return state.lock
    }

    /// What another process has written while this one had the right to send, it has left to this one.
    private func lookForNews() {
        let isFree = state.withLock { $0.lock == nil && !$0.clients.isEmpty }
        // What cannot be read now is sent with the next flush.
        guard isFree, (try? files.hasNews()) == true, let waiting = try? files.waiting() else { return }
        run(Set(waiting.map(\.entry.queue)))
    }
}
