import BeagleNetHTTP
import BeagleNetRequestBuilder

extension Outbox {
    /// Writes a message and returns its response after its turn has come.
    ///
    /// - Parameters:
    ///   - message: The message to write. Cancelling the caller's task cancels the write until it begins.
    ///   - place: The place in line for writing; left after writing.
    ///   - sendTask: Sends the message.
    /// - Throws: An error if the message can't be written, and then nothing is sent; an error that `isStoredInOutbox`
    ///   if there is no response now.
    nonisolated(nonsending) func deliver(
        _ message: OutboxMessage,
        at place: OutboxWriteQueue.Ticket,
        _ sendTask: OutboxSendTask
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let id = try message.id()
        registerWaiter(id, in: message.queue)
        // Not on the caller's thread, which may be the main thread or the transport's.
        let writing = Task.detached { () -> Result<(file: OutboxFiles.File, isNew: Bool), NetworkError> in
            await place.wait()
            defer { place.leave() }
            return Result { () throws(NetworkError) in
                if Task.isCancelled { throw NetworkError.cancelledBeforeStart }
                let written = try self.files.write(message)
                self.notifySubscribers()
                return written
            }
        }
        let written = await withTaskCancellationHandler {
            await writing.value
        } onCancel: {
            writing.cancel()
        }
        let (file, isNew): (OutboxFiles.File, Bool)
        switch written {
        case .success(let there): (file, isNew) = there
        case .failure(let error):
            sendTask.cancel()
            unregisterWaiter(id)
            throw error
        }
        return try await withCancellableToken { completion in
            self.wait(for: file, isNew: isNew, sendTask, completion)
        }.get()
    }

    /// Registers a caller that is about to wait for a response.
    private func registerWaiter(_ id: String, in queue: String) {
        state.withLock { $0.live[id, default: Live(queue: queue)].pendingWaiters += 1 }
    }

    /// Unregisters a caller whose message wasn't written.
    private func unregisterWaiter(_ id: String) {
        let queue: String? = state.withLock { state in
            guard let queue = state.live[id]?.queue else { return nil }
            state.live[id]?.pendingWaiters -= 1
            state.removeIfDone(id)
            let isAwaited = !state.clients.isEmpty || state.live.values.contains { $0.queue == queue && $0.isWritten }
            return isAwaited ? queue : nil
        }
        // The queue may have waited for this message.
        if let queue { run([queue]) }
    }

    private func wait(
        for file: OutboxFiles.File,
        isNew: Bool,
        _ sendTask: OutboxSendTask,
        _ completion: @escaping Completion
    ) -> any RequestToken {
        let entry = file.entry
        let (number, outcome, isSpare): (Int, Outcome?, Bool) = state.withLock { state in
            let number = state.nextNumber()
            var live = state.live[entry.id] ?? Live(queue: entry.queue, pendingWaiters: 1)
            live.pendingWaiters -= 1
            live.queue = entry.queue
            let isSpare = live.outcome != nil || live.sendTask != nil
            if live.outcome == nil {
                if !isSpare { live.sendTask = sendTask }
                if isNew { live.isUnsent = true }
                live.isWritten = true
                live.completions[number] = completion
            } else {
                // The same message was written after its response had arrived; it must not be sent again.
                state.settled[file.name] = Settlement(reason: nil)
            }
            state.live[entry.id] = live
            state.removeIfDone(entry.id)
            return (number, live.outcome, isSpare)
        }
        if isSpare { sendTask.cancel() }
        if let outcome {
            // Not on the caller's thread either.
            Task.detached {
                self.withdraw(file)
                completion(outcome)
            }
        } else {
            run([entry.queue])
        }
        return AnyRequestToken { self.leave(entry, number) }
    }

    /// Removes an entry that was answered before it was written.
    private func withdraw(_ file: OutboxFiles.File) {
        do throws(NetworkError) {
            try clear(file, Settlement(reason: nil))
        } catch {
            // The next run of the queue tries again.
            files.note(error)
        }
    }

    /// Ends a caller's wait; the entry stays.
    fileprivate func leave(_ entry: Entry, _ number: Int) {
        let completion = state.withLock { $0.live[entry.id]?.completions.removeValue(forKey: number) }
        completion?(.failure(.left(entry)))
    }
}

extension Outbox.State {
    /// Removes a live operation that no caller waits for or is about to.
    mutating func removeIfDone(_ id: String) {
        guard let found = live[id], found.pendingWaiters == 0, found.completions.isEmpty else { return }
        // A pending entry is sent even if no caller waits for its response.
        if found.isWritten, found.outcome == nil { return }
        live[id] = nil
    }

    /// Removes and returns the completions of callers that wait for an entry.
    mutating func takeCompletions(of id: String) -> [Outbox.Completion] {
        guard let found = live[id] else { return [] }
        live[id]?.completions = [:]
        return Array(found.completions.values)
    }

    /// Ends the wait for an entry.
    ///
    /// Callers that are about to wait get the outcome; without one, they bring their own turn.
    mutating func finishWaiting(for id: String, _ outcome: Outbox.Outcome?) -> Outbox.Live? {
        guard let found = live[id] else { return nil }
        live[id] =
            found.pendingWaiters > 0
            ? Outbox.Live(queue: found.queue, pendingWaiters: found.pendingWaiters, outcome: outcome) : nil
        return found
    }
}
