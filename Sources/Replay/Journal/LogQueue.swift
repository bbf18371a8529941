import BeagleNetHTTP
import Dispatch

/// The queue of a log's writer. It is bounded, so that a slow disk doesn't block callers or fill the memory.
final class LogQueue: Sendable {
    /// The numbers of bodies and records that were dropped.
    struct Losses: Sendable, Equatable {
        var bodies = 0
        var records = 0
        var isEmpty: Bool { bodies == 0 && records == 0 }
    }

    /// The jobs that the writer takes at a time.
    struct Batch: Sendable {
        var jobs: [LogJob] = []
        /// The bodies that lack a piece.
        var truncatedBodies: Set<BodyKey> = []
        /// The exchanges whose end was dropped.
        var droppedExchanges: Set<Int> = []
        var losses = Losses()
    }

    fileprivate enum Writer: Sendable {
        case busy, idle
        /// Waits briefly for more jobs.
        case lingering
        /// Waits for the ends of exchanges that have begun.
        ///
        /// New starts don't wake it.
        case waitingForEnds
    }

    fileprivate struct State: Sendable {
        var jobs: [LogJob] = []
        /// The bodies that receive no more pieces.
        var truncatedBodies: Set<BodyKey> = []
        var newTruncatedBodies: Set<BodyKey> = []
        var droppedExchanges: Set<Int> = []
        var losses = Losses()
        /// The memory and number of the queued jobs, including those that the writer is processing.
        var bytes = 0
        var count = 0
        /// The state of the writer.
        var writer = Writer.busy
        /// The number of jobs that are pieces of bodies.
        var pieces = 0
        var isClosed = false
        /// Whether a caller waits for the queued jobs to be written.
        var hasFlushWaiter = false
        /// The number of threads that wait for room.
        var waiting = 0
        /// Whether the writer has ended, and the callbacks to call when it does.
        var hasEnded = false
        var endCallbacks: [@Sendable () -> Void] = []
    }

    private let maxBytes: Int
    private let maxCount: Int
    private let isLossless: Bool
    private let lingerDuration: Duration
    private let startHoldDuration: Duration
    private let state = Lock(State())
    private let arrival = DispatchSemaphore(value: 0)
    private let space = DispatchSemaphore(value: 0)

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - lingerDuration: the time for which the writer waits for more jobs, unless a caller waits for it or the queue
    ///     fills up.
    ///   - startHoldDuration: the time for which a start is held back, so that its end can replace it.
    init(
        maxBytes: Int = 4 << 20,
        maxCount: Int = 1_024,
        isLossless: Bool,
        lingerDuration: Duration = .zero,
        startHoldDuration: Duration = .zero
    ) {
        self.maxBytes = maxBytes
        self.maxCount = maxCount
        self.isLossless = isLossless
        self.lingerDuration = lingerDuration
        self.startHoldDuration = startHoldDuration
    }

    /// Queues a job. If the queue is full, a lossless queue waits for room. Any other drops bodies, then the oldest
    /// records that aren't failures.
    ///
    /// - Parameter mayBlock: whether this thread may wait. Otherwise a lossless queue adds the job immediately, beyond
    ///   its limits.
    /// - Returns: whether the queue is open.
    @discardableResult
    func add(_ job: LogJob, mayBlock: Bool = true) -> Bool {
        while true {
            let (result, wakes) = state.withLock { state in
                let result = state.receive(job, isLossless, mayBlock: mayBlock, maxBytes, maxCount)
                return (result, state.wakes(for: job, maxBytes, maxCount))
            }
            if wakes { arrival.signal() }
            switch result {
            case .closed: return false
            case .added: return true
            case .full: space.wait()
            }
        }
    }

    /// Takes the queued jobs, or waits for them until `deadline`; returns `nil` if the queue is closed and empty.
    func take(until deadline: DispatchTime) -> Batch? {
        let neverLingers = lingerDuration == .zero
        var hasLingered = neverLingers
        while true {
            let step = state.withLock { state in
                state.nextStep(
                    neverLingers: neverLingers,
                    hasLingered: hasLingered,
                    holdingStartsAfter: .now() - startHoldDuration / .seconds(1),
                    maxBytes,
                    maxCount
                )
            }
            switch step {
            case .batch(let batch): return batch
            case .later:
                _ = arrival.wait(timeout: .now() + lingerDuration / .seconds(1))
                hasLingered = true
            case .nothing:
                if arrival.wait(timeout: deadline) == .timedOut { return Batch() }
            case .onlyStarts(let first):
                let due = first + startHoldDuration / .seconds(1)
                hasLingered = arrival.wait(timeout: min(due, deadline)) == .timedOut
                if hasLingered, deadline < due { return Batch() }
            case .closed: return nil
            }
        }
    }

    /// Frees the room of jobs that are done.
    func finish(_ jobs: Int, bytes: Int) {
        let waiting = state.withLock { state in
            state.count -= jobs
            state.bytes -= bytes
            defer { state.waiting = 0 }
            return state.waiting
        }
        for _ in 0..<waiting { space.signal() }
    }

    /// Whether the writer has more to do than its last batch.
    var isBusy: Bool {
        state.withLock { state in state.isClosed || state.jobs.contains { $0.start == nil } }
    }

    /// Closes the queue. Jobs that are already queued are still written.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            return state.waiting
        }
        arrival.signal()
        for _ in 0..<waiting { space.signal() }
    }
}

extension LogQueue {
    /// Calls back when the writer has ended.
    func callAtEnd(_ body: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.endCallbacks.append(body) }
            return state.hasEnded
        }
        if hasEnded { body() }
    }

    /// Records that the writer has ended, and calls back.
    func end() {
        let endCallbacks = state.withLock { state in
            state.hasEnded = true
            defer { state.endCallbacks = [] }
            return state.endCallbacks
        }
        for call in endCallbacks { call() }
    }
}

extension LogQueue.State {
    fileprivate enum AddResult {
        case closed, added, full
    }

    fileprivate mutating func receive(
        _ job: LogJob,
        _ isLossless: Bool,
        mayBlock: Bool,
        _ maxBytes: Int,
        _ maxCount: Int
    ) -> AddResult {
        if isClosed { return .closed }
        if isLossless, mayBlock, !hasSpace(for: job, maxBytes, maxCount) {
            waiting += 1
            return .full
        }
        if isLossless { add(job, .max, .max) } else { add(job, maxBytes, maxCount) }
        return .added
    }

    /// Returns whether a job wakes the writer, and marks the writer as busy if so.
    fileprivate mutating func wakes(for job: LogJob, _ maxBytes: Int, _ maxCount: Int) -> Bool {
        let wakes =
            switch writer {
            case .busy: false
            case .idle: true
            case .lingering: isUrgent(maxBytes, maxCount)
            case .waitingForEnds: job.start == nil || isUrgent(maxBytes, maxCount)
            }
        if wakes { writer = .busy }
        return wakes
    }

    /// Returns whether a caller waits for the writer, or the queue may be full soon. Pieces of bodies arrive faster
    /// than a thread wakes.
    private func isUrgent(_ maxBytes: Int, _ maxCount: Int) -> Bool {
        isClosed || hasFlushWaiter || waiting > 0 || pieces > 0 || bytes > maxBytes / 4 || count > maxCount / 4
    }

    func hasSpace(for job: LogJob, _ maxBytes: Int, _ maxCount: Int) -> Bool {
        // A job larger than the whole queue is accepted if the queue is empty.
        count < maxCount && (bytes + job.bytes <= maxBytes || bytes == 0)
    }

    fileprivate enum NextStep {
        case batch(LogQueue.Batch)
        /// More jobs may arrive shortly.
        case later
        /// Only starts whose ends may still replace them, with the time of the first one.
        case onlyStarts(DispatchTime)
        case nothing, closed
    }

    /// Returns the jobs for the writer.
    ///
    /// - Parameters:
    ///   - neverLingers: whether the writer never waits for more.
    ///   - latest: starts that were queued later are held back for their ends.
    fileprivate mutating func nextStep(
        neverLingers: Bool,
        hasLingered: Bool,
        holdingStartsAfter latest: DispatchTime,
        _ maxBytes: Int,
        _ maxCount: Int
    ) -> NextStep {
        guard !jobs.isEmpty || !losses.isEmpty else {
            writer = isClosed ? .busy : .idle
            return isClosed ? .closed : .nothing
        }
        let isUrgent = isUrgent(maxBytes, maxCount)
        writer = isUrgent || hasLingered ? .busy : .lingering
        if writer == .lingering { return .later }
        let due = isUrgent && !neverLingers ? next(maxBytes / 8) : jobs[...]
        let heldStarts = isUrgent || neverLingers ? [] : starts(after: latest)
        var batch = LogQueue.Batch(jobs: Array(due))
        if !heldStarts.isEmpty {
            let heldIndices = Set(heldStarts)
            batch.jobs = jobs.indices.filter { !heldIndices.contains($0) }.map { jobs[$0] }
        }
        jobs = heldStarts.map { jobs[$0] } + jobs[due.endIndex...]
        if batch.jobs.isEmpty, losses.isEmpty, let first = jobs.first {
            writer = .waitingForEnds
            return .onlyStarts(first.began)
        }
        hasFlushWaiter = jobs.contains(where: \.isCall)
        pieces = jobs.count { $0.chunkPlace != nil }
        takeLosses(&batch)
        return .batch(batch)
    }

    private mutating func takeLosses(_ batch: inout LogQueue.Batch) {
        swap(&batch.losses, &losses)
        swap(&batch.truncatedBodies, &newTruncatedBodies)
        swap(&batch.droppedExchanges, &droppedExchanges)
        // Losses of bodies whose start is still queued are reported together with the start.
        for job in jobs {
            guard let place = job.openPlace else { continue }
            if batch.truncatedBodies.remove(place) != nil { newTruncatedBodies.insert(place) }
            if batch.droppedExchanges.remove(place.exchange) != nil { droppedExchanges.insert(place.exchange) }
        }
    }

    /// Returns the first jobs up to a size, at least one. The rest may still be dropped to make room.
    private func next(_ maxBytes: Int) -> ArraySlice<LogJob> {
        var bytes = 0
        return jobs.prefix { job in
            defer { bytes += job.bytes }
            return bytes == 0 || bytes + job.bytes <= maxBytes
        }
    }

    /// Returns the indices of starts that were queued later, if nothing else of their exchanges is queued.
    private func starts(after latest: DispatchTime) -> [Int] {
        let heldStarts = jobs.indices.filter { jobs[$0].start != nil && jobs[$0].began > latest }
        if heldStarts.isEmpty { return [] }
        let others = Set(jobs.lazy.filter { $0.start == nil }.map(\.exchange))
        return heldStarts.filter { !others.contains(jobs[$0].exchange) }
    }

    mutating func add(_ job: LogJob, _ maxBytes: Int, _ maxCount: Int) {
        var job = job
        switch job.work {
        case .open(let side, _, _, _):
            let place = BodyKey(exchange: job.exchange, side: side)
            truncatedBodies.remove(place)
            newTruncatedBodies.remove(place)
        case .chunk(let side, _): if truncatedBodies.contains(BodyKey(exchange: job.exchange, side: side)) { return }
        case .end:
            // The end contains everything that its starts do. A start that is followed by messages remains.
            for index in jobs.indices.reversed() where jobs[index].exchange == job.exchange {
                if case .message = jobs[index].work { break }
                guard let start = jobs[index].start else { continue }
                remove(index)
                if start == .exchange { break }
            }
            for side in MessageSide.allCases where !truncatedBodies.isEmpty {
                truncatedBodies.remove(BodyKey(exchange: job.exchange, side: side))
            }
        // A caller waits for this job.
        case .call:
            hasFlushWaiter = true
            return append(job)
        case .start: job.began = .now()
        case .message, .note: break
        }
        makeRoom(for: &job, maxBytes, maxCount)
    }

    private mutating func makeRoom(for job: inout LogJob, _ maxBytes: Int, _ maxCount: Int) {
        while !hasSpace(for: job, maxBytes, maxCount) {
            if let place = lastBody(job) {
                truncate(place)
                if place == job.chunkPlace { return }
            } else if bytes + job.bytes > maxBytes, let heavy = jobs.firstIndex(where: { $0.hasBodies }) {
                bytes -= jobs[heavy].dropBodies()
                losses.bodies += 1
            } else if bytes + job.bytes > maxBytes, job.hasBodies {
                _ = job.dropBodies()
                losses.bodies += 1
            } else if let oldest = jobs.firstIndex(where: { $0.isRecord && !$0.isFailure }) {
                recordLoss(of: jobs[oldest])
                remove(oldest)
            } else {
                return recordLoss(of: job)
            }
        }
        append(job)
    }

    /// Returns the most recent body that arrives in pieces, because the least of it is written.
    private func lastBody(_ job: LogJob) -> BodyKey? {
        jobs.reduce(job.chunkPlace) { last, job in
            guard let place = job.chunkPlace else { return last }
            return place.exchange > last?.exchange ?? 0 ? place : last
        }
    }

    /// Counts a dropped job, and notes the consequences for its bodies.
    private mutating func recordLoss(of job: LogJob) {
        switch job.work {
        case .open(let side, _, _, _):
            truncatedBodies.insert(BodyKey(exchange: job.exchange, side: side))
            losses.bodies += 1
            return
        case .end: droppedExchanges.insert(job.exchange)
        case .start, .chunk, .message, .note, .call: break
        }
        losses.records += 1
    }

    private mutating func append(_ job: LogJob) {
        jobs.append(job)
        if job.chunkPlace != nil { pieces += 1 }
        bytes += job.bytes
        count += 1
    }

    private mutating func remove(_ index: Int) {
        let job = jobs.remove(at: index)
        if job.chunkPlace != nil { pieces -= 1 }
        bytes -= job.bytes
        count -= 1
    }

    /// Drops the queued pieces of a body.
    private mutating func truncate(_ place: BodyKey) {
        for index in jobs.indices.reversed() where jobs[index].chunkPlace == place { remove(index) }
        guard truncatedBodies.insert(place).inserted else { return }
        newTruncatedBodies.insert(place)
        losses.bodies += 1
    }
}

extension LogJob {
    fileprivate var hasBodies: Bool {
        if case .end = work { return !isBodiless && bytes > Self.headBytes }
        return false
    }

    fileprivate var isRecord: Bool {
        switch work {
        case .start, .message, .end: true
        case .open, .chunk, .note, .call: false
        }
    }

    /// Drops the bodies of a job.
    ///
    /// - Returns: the freed memory in bytes.
    fileprivate mutating func dropBodies() -> Int {
        isBodiless = true
        defer { bytes = Self.headBytes }
        return bytes - Self.headBytes
    }
}
