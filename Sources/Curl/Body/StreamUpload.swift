import BeagleNetHTTP

/// A source that reads chunks from an async reader in its own task, ahead of libcurl. The first read opens the reader,
/// so a request that is never sent doesn't touch its body.
final class StreamUpload: UploadSource, Sendable {
    private static let high = 256 << 10

    private struct State {
        var chunks: [Data] = []
        var position = 0
        var bytes = 0
        var total: Int64 = 0
        var isWanted = false
        var end: Result<Void, NetworkError>?
        /// The promise of room for the next chunk, while the task waits for it.
        var room: Promise<Void>?
        var task: Task<Void, Never>?
        /// The number of rewinds. Calls from the task of an earlier attempt are ignored.
        var rewinds = 0
    }

    let length: Int64?
    private let isReplayable: Bool
    private let state = Lock(State())
    private let open: @Sendable () -> HTTPBody.Reader
    private let resume: @Sendable () -> Void
    private let entry: ResourceTracker.Entry

    init(
        length: Int64?,
        isReplayable: Bool,
        _ open: @escaping @Sendable () -> HTTPBody.Reader,
        resourceTracker: ResourceTracker?,
        resume: @escaping @Sendable () -> Void
    ) {
        self.length = length
        self.isReplayable = isReplayable
        self.open = open
        self.resume = resume
        entry = ResourceTracker.Entry(.upload, in: resourceTracker)
    }

    // MARK: the loop's side

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> UploadRead {
        let (result, room) = try state.withLock { state throws(NetworkError) in
            if state.task == nil && state.end == nil {
                let time = state.rewinds
                state.task = Task { await pump(open(), time) }
            }
            return try Self.read(&state, buffer, length)
        }
        room?.complete()
        return result
    }

    private static func read(
        _ state: inout State,
        _ buffer: UnsafeMutableRawBufferPointer,
        _ length: Int64?
    ) throws(NetworkError) -> (UploadRead, Promise<Void>?) {
        if case .failure(let error) = state.end { throw error }
        guard let first = state.chunks.first else {
            guard state.end != nil else {
                state.isWanted = true
                return (.pending, nil)
            }
            if let length, length != state.total { throw .wrongLength(state.total, declared: length) }
            return (.end, nil)
        }
        // The last byte is held back until the reader ends: once it is sent, the server has a complete request, and an
        // error could no longer stop it.
        let isHeldBack = state.end == nil && state.total == length && state.chunks.count == 1
        let available = first.count - state.position - (isHeldBack ? 1 : 0)
        guard available > 0 else {
            state.isWanted = true
            return (.pending, nil)
        }
        let count = min(buffer.count, available)
        let start = first.startIndex + state.position
        first.copyBytes(to: buffer, from: start..<(start + count))
        state.position += count
        state.bytes -= count
        if state.position == first.count {
            state.chunks.removeFirst()
            state.position = 0
        }
        return (.bytes(count), state.bytes < high ? state.room.take() : nil)
    }

    func rewind() -> Bool {
        guard isReplayable else { return false }
        let (task, room) = state.withLock { state in
            defer { state = State(rewinds: state.rewinds + 1) }
            return (state.task, state.room)
        }
        task?.cancel()
        room?.complete()
        return true
    }

    func close() {
        let (task, room) = state.withLock { state in
            if state.end == nil {
                state.end = .failure(NetworkError(.cancelled, during: .send, "the transfer ended"))
            }
            defer {
                state.task = nil
                state.room = nil
            }
            return (state.task, state.room)
        }
        task?.cancel()
        room?.complete()
    }

    // MARK: the task's side

    private func pump(_ reader: HTTPBody.Reader, _ time: Int) async {
        do {
            while let chunk = try await reader() {
                guard put(chunk, time) else { return }
                await waitForRoom(time)
            }
            finish(.success(()), time)
        } catch {
            var error = NetworkError(wrapping: error)
            error.phase = .send
            finish(.failure(error), time)
        }
    }

    /// Adds a chunk. Returns false if no more chunks will be read.
    private func put(_ chunk: Data, _ time: Int) -> Bool {
        if chunk.isEmpty { return true }
        let (isOpen, isWanted) = state.withLock { state in
            guard state.end == nil, state.rewinds == time else { return (false, false) }
            defer { state.isWanted = false }
            state.total += Int64(chunk.count)
            if let length, state.total > length {
                // Bytes beyond the declared length must not be sent, because the server would take them for the next
                // request.
                state.end = .failure(.wrongLength(state.total, declared: length))
                return (false, state.isWanted)
            }
            state.chunks.append(chunk)
            state.bytes += chunk.count
            return (true, state.isWanted)
        }
        if isWanted { resume() }
        return isOpen
    }

    private func waitForRoom(_ time: Int) async {
        let room: Promise<Void>? = state.withLock { state in
            if state.bytes < Self.high || state.end != nil || state.rewinds != time { return nil }
            let room = Promise<Void>()
            state.room = room
            return room
        }
        await room?.value
    }

    private func finish(_ end: Result<Void, NetworkError>, _ time: Int) {
        let isWanted = state.withLock { state in
            guard state.rewinds == time else { return false }
            if state.end == nil { state.end = end }
            defer { state.isWanted = false }
            return state.isWanted
        }
        if isWanted { resume() }
    }
}
