import BeagleNetHTTP

/// A pipe that carries the messages of one WebSocket between the app's tasks and the loop, with backpressure on both
/// sides.
final class WebSocketPipe: WebSocket.Channel {
    /// The number of unread bytes at which the loop stops reading.
    private static let receiveLimit = 1 << 20
    /// The number of unsent bytes above which a sender waits.
    private static let sendLimit = 256 << 10
    /// The fixed cost of a message in addition to its bytes, so that empty messages also cause backpressure.
    private static let messageCost = 64

    private enum Side {
        case reader, sender
    }

    private struct State {
        /// Received messages in reverse order; the next one is the last element.
        var ready: [WebSocket.Message] = []
        /// Received messages that follow those in `ready`.
        var received: [WebSocket.Message] = []
        var receivedBytes = 0
        var isPaused = false

        var posted: [WebSocket.Message] = []
        var postedBytes = 0
        /// The number of bytes that the loop has taken but not sent yet.
        var unsentBytes = 0
        /// The close frame of the app, if it has closed the WebSocket.
        var close: WebSocket.Close?
        /// Whether the loop has been notified of the posted messages.
        var isAnnounced = false

        /// The server's close frame, or the error that ended the connection.
        var end: Result<WebSocket.Close, NetworkError>?
        /// Completed with true when the awaited state may be reached, or with false if the pipe ended first.
        var waits: [Side: Promise<Bool>] = [:]
        /// Closures that resume or cancel the transfer. They have no effect after its end, and are `nil` before
        /// `connect`.
        var resume: (@Sendable () -> Void)?
        var cancel: (@Sendable () -> Void)?

        /// Whether senders may continue without waiting.
        var hasRoom: Bool { postedBytes + unsentBytes <= WebSocketPipe.sendLimit }
    }

    private let state = Lock(State())
    /// The request to include in errors.
    private let head: HTTPRequest
    private let forks = ForkCount.now
    private let resourceTracker: ResourceTracker?
    private let entry: ResourceTracker.Entry

    init(of head: HTTPRequest, resourceTracker: ResourceTracker?) {
        self.head = head
        self.resourceTracker = resourceTracker
        entry = ResourceTracker.Entry(.webSocket, in: resourceTracker)
    }

    deinit {
        resourceTracker?.add(.buffered, -state.withLock { $0.receivedBytes })
    }

    /// Sets the connection to the transfer. Call it once, before the transfer starts.
    func connect(resume: @escaping @Sendable () -> Void, cancel: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.resume = resume
            state.cancel = cancel
        }
    }

    // MARK: the loop's side

    /// Returns whether too many bytes are unread. If so, the loop pauses, and the pipe resumes it later.
    func isFull() -> Bool {
        state.withLock { state in
            state.isPaused = state.receivedBytes >= Self.receiveLimit
            return state.isPaused
        }
    }

    func deliver(_ messages: [WebSocket.Message]) {
        guard !messages.isEmpty else { return }
        let wait = state.withLock { state in
            let bytes = messages.reduce(0) { $0 + $1.byteCount + Self.messageCost }
            state.received += messages
            state.receivedBytes += bytes
            resourceTracker?.add(.buffered, bytes)
            return state.waits.removeValue(forKey: .reader)
        }
        wait?.complete(true)
    }

    /// Takes the messages and the close frame that the app wants to send.
    func takePosted() -> (messages: [WebSocket.Message], close: WebSocket.Close?) {
        state.withLock { state in
            defer {
                state.posted = []
                state.unsentBytes += state.postedBytes
                state.postedBytes = 0
                state.isAnnounced = false
            }
            return (state.posted, state.close)
        }
    }

    /// Updates the number of taken bytes that haven't been sent yet.
    func note(unsentBytes: Int) {
        let wait: Promise<Bool>? = state.withLock { state in
            // After the end, bytes that weren't sent stay unsent.
            guard state.end == nil else { return nil }
            state.unsentBytes = unsentBytes
            return state.hasRoom ? state.waits.removeValue(forKey: .sender) : nil
        }
        wait?.complete(true)
    }

    /// Ends the WebSocket; later calls have no effect.
    func end(_ end: Result<WebSocket.Close, NetworkError>) {
        let waits: [Side: Promise<Bool>] = state.withLock { state in
            guard state.end == nil else { return [:] }
            state.end = end
            state.posted = []
            defer { state.waits = [:] }
            return state.waits
        }
        for wait in waits.values { wait.complete(false) }
    }

    // MARK: the app's side

    var peerClose: WebSocket.Close? {
        state.withLock { state in
            if case .success(let close) = state.end { return close }
            return nil
        }
    }

    func receive() async throws(NetworkError) -> WebSocket.Message? {
        try checkProcess()
        while true {
            switch take() {
            case .message(let message): return message
            case .end(let error):
                if let error { throw error }
                return nil
            case .nothing: await wait(for: .reader) { $0.receivedBytes == 0 }
            }
        }
    }

    private enum ReadResult {
        case message(WebSocket.Message), end(NetworkError?), nothing
    }

    private func take() -> ReadResult {
        let (taken, resume) = state.withLock { state -> (ReadResult, (@Sendable () -> Void)?) in
            if state.ready.isEmpty {
                state.ready = state.received.reversed()
                state.received = []
            }
            guard let message = state.ready.popLast() else { return (self.taken(at: state.end, state.close), nil) }
            let bytes = message.byteCount + Self.messageCost
            state.receivedBytes -= bytes
            resourceTracker?.add(.buffered, -bytes)
            guard state.isPaused, state.receivedBytes <= Self.receiveLimit / 2 else { return (.message(message), nil) }
            state.isPaused = false
            return (.message(message), state.resume)
        }
        resume?()
        return taken
    }

    private func taken(at end: Result<WebSocket.Close, NetworkError>?, _ own: WebSocket.Close?) -> ReadResult {
        switch end {
        case .success(let close): .end(close.code.isNormal || own != nil ? nil : closed(close.code))
        case .failure(let error): .end(error)
        case nil: .nothing
        }
    }

    func send(_ message: WebSocket.Message) async throws(NetworkError) {
        try checkProcess()
        let resume = try state.withLock { state throws(NetworkError) -> (@Sendable () -> Void)? in
            try requireOpen(state)
            state.posted.append(message)
            state.postedBytes += message.byteCount + Self.messageCost
            defer { state.isAnnounced = true }
            return state.isAnnounced ? nil : state.resume
        }
        resume?()
        // If the end comes when there is already room, it doesn't concern this message; it may even be the response to
        // it.
        if await wait(for: .sender, while: { !$0.hasRoom }) { return }
        try state.withLock { state throws(NetworkError) in try requireNoEnd(state) }
    }

    func close(_ close: WebSocket.Close) async throws(NetworkError) -> WebSocket.Close {
        try checkProcess()
        let resume = state.withLock { state -> (@Sendable () -> Void)? in
            if state.close == nil { state.close = close }
            return state.resume
        }
        resume?()
        while true {
            if let end = state.withLock({ $0.end }) { return try end.get() }
            await wait(for: .sender) { _ in true }
        }
    }

    /// Cancels the transfer unless it has ended. After the end it may still complete the closing handshake, which has
    /// its own timeout.
    func abandon() {
        // In a forked child, a lock that the parent's loop held remains locked.
        if forks == ForkCount.now { state.withLock { $0.end == nil ? $0.cancel : nil }?() }
    }

    private func requireNoEnd(_ state: State) throws(NetworkError) {
        switch state.end {
        case .failure(let error): throw error
        case .success(let close): throw closed(close.code)
        case nil: break
        }
    }

    private func requireOpen(_ state: State) throws(NetworkError) {
        try requireNoEnd(state)
        if state.close != nil {
            throw NetworkError(.closed, during: .build, "the WebSocket was closed by close()")
        }
    }

    /// Waits for the loop while `isPending` returns true. Cancellation ends the connection, which also ends the wait.
    ///
    /// - Returns: Whether the awaited state was reached; false if the pipe ended first.
    @discardableResult
    private func wait(for side: Side, while isPending: @Sendable (State) -> Bool) async -> Bool {
        let (isReached, wait): (Bool, Promise<Bool>?) = state.withLock { state in
            guard isPending(state) else { return (true, nil) }
            guard state.end == nil else { return (false, nil) }
            let wait = state.waits[side] ?? Promise()
            state.waits[side] = wait
            return (false, wait)
        }
        return await withTaskCancellationHandler {
            await wait?.value ?? isReached
        } onCancel: {
            abandon()
        }
    }

    /// Throws in a forked child, where the parent's loop has no thread and would never respond.
    private func checkProcess() throws(NetworkError) {
        guard forks == ForkCount.now else {
            throw NetworkError(
                .network,
                during: .queue,
                "the WebSocket belongs to the parent of this forked process",
                advice: "open a new WebSocket"
            )
        }
    }

    private func closed(_ code: WebSocket.Close.Code) -> NetworkError { code.error(of: head) }
}
