import BeagleNetHTTP

/// Carries a streamed body from the loop to its reader and tells the loop when to pause and when to go on.
///
/// The reader takes everything that is there at once, so that lock and thread hop are paid per batch, not per chunk.
final class BodyPipe: Sendable {
    private struct State {
        var chunks: [Data] = []
        /// What comes behind the chunks and is being filled.
        var slab: SlabPool.Slab?
        var bytes = 0
        var isPaused = false
        var end: Result<Void, NetworkError>?
        var waiter: UnsafeContinuation<Void, Never>?

        mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? {
            defer { waiter = nil }
            return waiter
        }
    }

    private let state = Lock(State())
    private let slabs: SlabPool
    private let room: PipeRoom
    /// Tells the loop to go on: called by the reader, at most once per pause.
    private let resume: @Sendable () -> Void
    /// Ends the transfer when the reader goes away or is cancelled.
    private let cancel: @Sendable () -> Void

    /// `ForkCount.now` when the loop began to fill it.
    private let forks = ForkCount.now
    private let ledger: Ledger?
    private let entry: Ledger.Entry

    /// - Parameter room: how much it may hold, beside others.
    init(
        in room: PipeRoom,
        ledger: Ledger?,
        resume: @escaping @Sendable () -> Void,
        cancel: @escaping @Sendable () -> Void
    ) {
        self.room = room
        self.ledger = ledger
        entry = Ledger.Entry(.pipe, in: ledger)
        slabs = SlabPool(in: room, ledger: ledger)
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

    /// Whether the transfer has to pause before it gives more; remembers that it does.
    func isFull() -> Bool {
        state.withLock { state in
            if room.isFull(at: state.bytes) { state.isPaused = true }
            return state.isPaused
        }
    }

    /// Takes bytes in; the reader hears of them by `wake`.
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

    /// It and its reader hold so many bytes more.
    fileprivate func count(held change: Int) {
        room.count(held: change)
        ledger?.add(.buffered, change)
    }

    /// Fills slabs with any number of bytes.
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

    /// Lets a waiting reader go on.
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

    /// Everything that is there, as soon as there is something; nil at the end.
    fileprivate func read() async throws(NetworkError) -> [Data]? {
        while true {
            switch try take() {
            case .chunks(let chunks): return chunks
            case .end: return nil
            case .nothing: await wait()
            }
        }
    }

    private enum Taken {
        case chunks([Data]), end, nothing
    }

    private func take() throws(NetworkError) -> Taken {
        // The loop of a parent has no thread here, and may have held the lock.
        guard forks == ForkCount.now else {
            throw NetworkError(
                .network,
                during: .body,
                "the body belongs to the parent of this forked process",
                advice: "send the request again"
            )
        }
        let (taken, mayGoOn) = try state.withLock { state throws(NetworkError) -> (Taken, Bool) in
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

/// The reading end of a pipe: lives as long as somebody may read, and ends the transfer when nobody can.
final class BodyPipeReader: Sendable {
    private let pipe: BodyPipe
    /// What was taken and not given out, the last first.
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
