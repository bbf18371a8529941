import BeagleNetHTTP
import Dispatch

/// What waits for the writer of a log: bounded, so that a slow disk costs neither time nor memory.
final class LogQueue: Sendable {
    /// What there was no room for.
    struct Losses: Sendable, Equatable {
        var bodies = 0
        var records = 0
        var isEmpty: Bool { bodies == 0 && records == 0 }
    }

    /// What the writer takes at a time.
    struct Batch: Sendable {
        var jobs: [LogJob] = []
        /// Bodies of which a piece is missing.
        var cuts: Set<BodyPlace> = []
        /// Exchanges whose end there was no room for.
        var forgotten: Set<Int> = []
        var losses = Losses()
    }

    fileprivate struct State: Sendable {
        var jobs: [LogJob] = []
        /// Bodies that get no more pieces.
        var cuts: Set<BodyPlace> = []
        var newCuts: Set<BodyPlace> = []
        var forgotten: Set<Int> = []
        var losses = Losses()
        /// Memory and number of what waits, also of what the writer is about to write.
        var bytes = 0
        var count = 0
        var isIdle = false
        var isClosed = false
        /// How many wait for room.
        var waiting = 0
        /// Whether the writer has ended, and who wants to know.
        var hasEnded = false
        var watchers: [@Sendable () -> Void] = []
    }

    private let maxBytes: Int
    private let maxCount: Int
    private let isLossless: Bool
    private let state = Lock(State())
    private let arrival = DispatchSemaphore(value: 0)
    private let room = DispatchSemaphore(value: 0)

    init(maxBytes: Int = 4 << 20, maxCount: Int = 1_024, isLossless: Bool) {
        self.maxBytes = maxBytes
        self.maxCount = maxCount
        self.isLossless = isLossless
    }

    /// Queues a job. Where there is no room it waits if nothing may be lost; else bodies are left out, then the oldest
    /// records that tell of no failure.
    ///
    /// - Parameter mayWait: whether this thread may wait; the job is queued at once otherwise, also where there is no room
    ///   for what may not be lost.
    /// - Returns: whether the queue is open.
    @discardableResult
    func add(_ job: LogJob, mayWait: Bool = true) -> Bool {
        while true {
            switch state.withLock({ $0.receive(job, isLossless, mayWait: mayWait, maxBytes, maxCount) }) {
            case .closed: return false
            case .added(let wakes):
                if wakes { arrival.signal() }
                return true
            case .full: room.wait()
            }
        }
    }

    /// Takes what there is, waiting for it until `deadline`; nil when the queue is closed and empty.
    func take(until deadline: DispatchTime) -> Batch? {
        while true {
            let (batch, isOver): (Batch?, Bool) = state.withLock { state in
                if let batch = state.take() { return (batch, false) }
                state.isIdle = !state.isClosed
                return (nil, state.isClosed)
            }
            if let batch { return batch }
            if isOver { return nil }
            if arrival.wait(timeout: deadline) == .timedOut { return Batch() }
        }
    }

    /// Jobs of a batch are done.
    func finish(_ jobs: Int, bytes: Int) {
        let waiting = state.withLock { state in
            state.count -= jobs
            state.bytes -= bytes
            defer { state.waiting = 0 }
            return state.waiting
        }
        for _ in 0..<waiting { room.signal() }
    }

    /// Whether the writer has more to do than what it took last.
    var isBusy: Bool { state.withLock { !$0.jobs.isEmpty || $0.isClosed } }

    /// Takes nothing more; what is there is still written.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            return state.waiting
        }
        arrival.signal()
        for _ in 0..<waiting { room.signal() }
    }
}

extension LogQueue {
    /// Calls back when the writer has ended.
    func callAtEnd(_ body: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.watchers.append(body) }
            return state.hasEnded
        }
        if hasEnded { body() }
    }

    /// The writer has ended.
    func end() {
        let watchers = state.withLock { state in
            state.hasEnded = true
            defer { state.watchers = [] }
            return state.watchers
        }
        for call in watchers { call() }
    }
}

extension LogQueue.State {
    fileprivate enum Reception {
        case closed, full
        case added(wakes: Bool)
    }

    fileprivate mutating func receive(
        _ job: LogJob,
        _ isLossless: Bool,
        mayWait: Bool,
        _ maxBytes: Int,
        _ maxCount: Int
    ) -> Reception {
        if isClosed { return .closed }
        if isLossless, mayWait, !has(room: job, maxBytes, maxCount) {
            waiting += 1
            return .full
        }
        if isLossless { add(job, .max, .max) } else { add(job, maxBytes, maxCount) }
        defer { isIdle = false }
        return .added(wakes: isIdle)
    }

    func has(room job: LogJob, _ maxBytes: Int, _ maxCount: Int) -> Bool {
        // One that is larger than the whole room goes alone.
        count < maxCount && (bytes + job.bytes <= maxBytes || bytes == 0)
    }

    mutating func take() -> LogQueue.Batch? {
        guard !jobs.isEmpty || !losses.isEmpty else { return nil }
        let batch = LogQueue.Batch(jobs: jobs, cuts: newCuts, forgotten: forgotten, losses: losses)
        jobs = []
        newCuts = []
        forgotten = []
        losses = LogQueue.Losses()
        return batch
    }

    mutating func add(_ job: LogJob, _ maxBytes: Int, _ maxCount: Int) {
        var job = job
        switch job.work {
        case .open(let side, _, _, _):
            let place = BodyPlace(exchange: job.exchange, side: side)
            cuts.remove(place)
            newCuts.remove(place)
        case .chunk(let side, _): if cuts.contains(BodyPlace(exchange: job.exchange, side: side)) { return }
        case .end:
            // The end has all that the beginning would say.
            if let start = jobs.lastIndex(where: { $0.isStart(of: job.exchange) }) { remove(start) }
            for side in BodySide.allCases { cuts.remove(BodyPlace(exchange: job.exchange, side: side)) }
        // Somebody waits for it.
        case .call: return append(job)
        case .start, .message, .note: break
        }
        makeRoom(for: &job, maxBytes, maxCount)
    }

    private mutating func makeRoom(for job: inout LogJob, _ maxBytes: Int, _ maxCount: Int) {
        while !has(room: job, maxBytes, maxCount) {
            if let place = job.chunkPlace { return cut(place) }
            if let place = jobs.lazy.compactMap(\.chunkPlace).first {
                cut(place)
            } else if bytes + job.bytes > maxBytes, let heavy = jobs.firstIndex(where: { $0.hasBodies }) {
                bytes -= jobs[heavy].leaveBodies()
                losses.bodies += 1
            } else if bytes + job.bytes > maxBytes, job.hasBodies {
                _ = job.leaveBodies()
                losses.bodies += 1
            } else if let oldest = jobs.firstIndex(where: { $0.isRecord && !$0.isFailure }) {
                remember(losing: jobs[oldest])
                remove(oldest)
            } else {
                return remember(losing: job)
            }
        }
        append(job)
    }

    /// Counts what there is no room for, and notes what becomes of its bodies.
    private mutating func remember(losing job: LogJob) {
        switch job.work {
        case .open(let side, _, _, _):
            cuts.insert(BodyPlace(exchange: job.exchange, side: side))
            losses.bodies += 1
            return
        case .end: forgotten.insert(job.exchange)
        case .start, .chunk, .message, .note, .call: break
        }
        losses.records += 1
    }

    private mutating func append(_ job: LogJob) {
        jobs.append(job)
        bytes += job.bytes
        count += 1
    }

    private mutating func remove(_ index: Int) {
        let job = jobs.remove(at: index)
        bytes -= job.bytes
        count -= 1
    }

    /// A body loses what is left of it.
    private mutating func cut(_ place: BodyPlace) {
        for index in jobs.indices.reversed() where jobs[index].chunkPlace == place { remove(index) }
        guard cuts.insert(place).inserted else { return }
        newCuts.insert(place)
        losses.bodies += 1
    }
}

extension LogJob {
    fileprivate func isStart(of exchange: Int) -> Bool {
        if case .start = work { return exchange == self.exchange }
        return false
    }

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

    /// - Returns: what is free now, in bytes.
    fileprivate mutating func leaveBodies() -> Int {
        isBodiless = true
        defer { bytes = Self.headBytes }
        return bytes - Self.headBytes
    }
}
