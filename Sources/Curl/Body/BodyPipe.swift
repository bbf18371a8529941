import BeagleNetHTTP

/// A pipe that carries a streamed body from the loop to its reader and pauses the loop while the reader is behind.
///
/// The reader takes all available chunks in one call, so there is one lock operation and thread hop per batch, not per
/// chunk.
final class BodyPipe: Sendable {
    private struct State {
        var chunks: [Data] = []
        /// The slab being filled, which follows the chunks.
        var slab: SlabPool.Slab?
        var bytes = 0
        var isPaused = false
        var end: Result<Void, NetworkError>?
        /// Not a `Promise`, which would be allocated for each wait.
        var waiter: UnsafeContinuation<Void, Never>?

        mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? {
            defer { waiter = nil }
            return waiter
        }
    }

    private let state = Lock(State())
    private let slabs: SlabPool
    private let room: BufferBudget
    /// A closure that resumes the transfer. The reader calls it at most once per pause.
    private let resume: @Sendable () -> Void
    /// A closure that cancels the transfer when the reader is released or cancelled.
    private let cancel: @Sendable () -> Void

    /// `ForkCount.now` when the pipe was created.
    private let forks = ForkCount.now
    private let resourceTracker: ResourceTracker?
    private let entry: ResourceTracker.Entry

    /// - Parameter room: The limit on the bytes that this pipe may hold, shared with other pipes.
    init(
        in room: BufferBudget,
        resourceTracker: ResourceTracker?,
        resume: @escaping @Sendable () -> Void,
        cancel: @escaping @Sendable () -> Void
    ) {
        self.room = room
        self.resourceTracker = resourceTracker
        entry = ResourceTracker.Entry(.pipe, in: resourceTracker)
        slabs = SlabPool(in: room, resourceTracker: resourceTracker)
        self.resume = resume
        self.cancel = cancel
        room.count(open: 1)
    }

    deinit {
        room.count(open: -1)
        guard forks == ForkCount.now else { return }
        let bytes = state.withLock { $0.bytes }
        if bytes > 0 { room.count(filled: -1) }
        count(held: -bytes)
        if let slab = state.withLock({ $0.slab }) { slabs.discard(slab) }
    }

    // MARK: the loop's side

    /// Returns whether the transfer must pause. If so, the pipe resumes it later.
    func isFull() -> Bool {
        state.withLock { state in
            if room.isFull(at: state.bytes) { state.isPaused = true }
            return state.isPaused
        }
    }

    /// Adds bytes; `wake` notifies the reader.
    func write(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            if state.bytes == 0, bytes.count < SlabPool.smallSize {
                state.chunks.append(Data(bytes))
            } else {
                append(bytes, &state)
            }
            if state.bytes == 0, !bytes.isEmpty { room.count(filled: 1) }
            state.bytes += bytes.count
            count(held: bytes.count)
        }
    }

    /// Adds to the count of bytes that the pipe and its reader hold.
    fileprivate func count(held change: Int) {
        room.count(held: change)
        resourceTracker?.add(.buffered, change)
    }

    /// Copies the bytes into slabs.
    private func append(_ bytes: UnsafeRawBufferPointer, _ state: inout State) {
        var rest = bytes
        while !rest.isEmpty {
            var slab = state.slab ?? slabs.take()
            let count = min(slab.room, rest.count)
            slab.append(UnsafeRawBufferPointer(rebasing: rest[..<count]))
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            state.slab = slab
            if slab.room == 0 { seal(&state) }
        }
    }

    private func seal(_ state: inout State) {
        guard let slab = state.slab else { return }
        state.slab = nil
        state.chunks.append(slab.count < SlabPool.smallSize ? slabs.copy(of: slab) : slabs.data(of: slab))
    }

    /// Resumes a waiting reader.
    func wake() {
        state.withLock { $0.takeWaiter() }?.resume()
    }

    func end(_ result: Result<Void, NetworkError>) {
        slabs.close()
        let waiter = state.withLock { state in
            if state.end == nil { state.end = result }
            return state.takeWaiter()
        }
        waiter?.resume()
    }

    // MARK: the reader's side

    /// Returns all available chunks, waiting for the first if necessary; `nil` at the end.
    fileprivate func read() async throws(NetworkError) -> [Data]? {
        while true {
            switch try take() {
            case .chunks(let chunks): return chunks
            case .end: return nil
            case .nothing: await wait()
            }
        }
    }

    private enum ReadResult {
        case chunks([Data]), end, nothing
    }

    private func take() throws(NetworkError) -> ReadResult {
        // In a forked child, the parent's loop has no thread and may have held the lock.
        guard forks == ForkCount.now else {
            throw NetworkError(
                .network,
                during: .body,
                "the body belongs to the parent of this forked process",
                advice: "send the request again"
            )
        }
        let (taken, mayGoOn) = try state.withLock { state throws(NetworkError) -> (ReadResult, Bool) in
            guard state.bytes == 0 else {
                seal(&state)
                let chunks = state.chunks
                room.count(filled: -1)
                state.chunks = []
                state.bytes = 0
                defer { state.isPaused = false }
                return (.chunks(chunks), state.isPaused)
            }
            guard let end = state.end else { return (.nothing, false) }
            try end.get()
            return (.end, false)
        }
        if mayGoOn { resume() }
        return taken
    }

    private func wait() async {
        await suspend { continuation in
            let isReady = state.withLock { state in
                if state.bytes > 0 || state.end != nil { return true }
                state.waiter = continuation
                return false
            }
            if isReady { continuation.resume() }
        } onCancel: {
            cancel()
        }
    }

    fileprivate func abandon() {
        if forks == ForkCount.now { cancel() }
    }
}

/// The reading end of a pipe. It cancels the transfer when it is released.
final class BodyPipeReader: Sendable {
    private let pipe: BodyPipe
    /// The chunks that were taken from the pipe and not returned yet, in reverse order.
    private let pending = Lock<[Data]>([])

    init(_ pipe: BodyPipe) {
        self.pipe = pipe
    }

    deinit {
        pipe.abandon()
        pipe.count(held: -pending.withLock { $0.reduce(0) { $0 + $1.count } })
    }

    func next() async throws -> Data? {
        while true {
            if let chunk = pending.withLock({ $0.popLast() }) {
                pipe.count(held: -chunk.count)
                return chunk
            }
            guard let chunks = try await pipe.read() else { return nil }
            pending.withLock { $0.insert(contentsOf: chunks.reversed(), at: 0) }
        }
    }
}
