import BeagleNetHTTP

/// Carries one WebSocket's messages between the app's tasks and the loop, and tells each side when to wait.
final class WebSocketPipe: WebSocketChannel {
    /// Bytes that may wait to be read before the loop reads no more.
    private static let receiveLimit = 1 << 20
    /// Bytes that may wait to be sent before a sender waits.
    private static let sendLimit = 256 << 10
    /// What a message counts for besides its bytes, so that empty ones are held back too.
    private static let messageCost = 64

    /// Resumed with whether there is what was waited for; false: the end came before.
    private typealias Continuation = UnsafeContinuation<Bool, Never>

    private enum Side {
        case reader, sender
    }

    private struct State {
        /// Read from the end.
        var ready: [WebSocketMessage] = []
        /// What comes behind `ready`.
        var received: [WebSocketMessage] = []
        var receivedBytes = 0
        var isPaused = false

        var posted: [WebSocketMessage] = []
        var postedBytes = 0
        /// What the loop has taken and not sent yet.
        var unsentBytes = 0
        /// How the app ends it.
        var close: WebSocketClose?
        /// Whether the loop has been told of what is posted.
        var isAnnounced = false

        /// What the server closed with, or why it did not come to that.
        var end: Result<WebSocketClose, NetworkError>?
        var waiting: [Side: [Continuation]] = [:]
        /// Ways to the transfer, without effect once it has ended; none before `connect`.
        var resume: (@Sendable () -> Void)?
        var cancel: (@Sendable () -> Void)?

        /// Whether no sender has to wait.
        var hasRoom: Bool { postedBytes + unsentBytes <= WebSocketPipe.sendLimit }

        mutating func takeWaiting(_ side: Side) -> [Continuation] {
            waiting.removeValue(forKey: side) ?? []
        }
    }

    private let state = Lock(State())
    /// What errors say they are about.
    private let head: HTTPRequest
    private let forks = ForkCount.now
    private let ledger: Ledger?
    private let entry: Ledger.Entry

    init(of head: HTTPRequest, ledger: Ledger?) {
        self.head = head
        self.ledger = ledger
        entry = Ledger.Entry(.webSocket, in: ledger)
    }

    deinit {
        ledger?.add(.buffered, -state.withLock { $0.receivedBytes })
    }

    /// Says how the transfer is reached; called once, before it starts.
    func connect(resume: @escaping @Sendable () -> Void, cancel: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.resume = resume
            state.cancel = cancel
        }
    }

    // MARK: the loop's side

    /// Whether the reader is behind; remembers that the loop waits for it then.
    func isFull() -> Bool {
        state.withLock { state in
            state.isPaused = state.receivedBytes >= Self.receiveLimit
            return state.isPaused
        }
    }

    func deliver(_ messages: [WebSocketMessage]) {
        guard !messages.isEmpty else { return }
        let waiting = state.withLock { state in
            let bytes = messages.reduce(0) { $0 + $1.byteCount + Self.messageCost }
            state.received += messages
            state.receivedBytes += bytes
            ledger?.add(.buffered, bytes)
            return state.takeWaiting(.reader)
        }
        for continuation in waiting { continuation.resume(returning: true) }
    }

    /// What the app wants sent.
    func takePosted() -> (messages: [WebSocketMessage], close: WebSocketClose?) {
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

    /// Tells how much of what was taken has yet to go out.
    func note(unsentBytes: Int) {
        let waiting = state.withLock { state -> [Continuation] in
            // What it ended with unsent stays so.
            guard state.end == nil else { return [] }
            state.unsentBytes = unsentBytes
            return state.hasRoom ? state.takeWaiting(.sender) : []
        }
        for continuation in waiting { continuation.resume(returning: true) }
    }

    /// Ends the conversation; the first end counts.
    func end(_ end: Result<WebSocketClose, NetworkError>) {
        let waiting = state.withLock { state -> [Continuation] in
            guard state.end == nil else { return [] }
            state.end = end
            state.posted = []
            return state.takeWaiting(.reader) + state.takeWaiting(.sender)
        }
        for continuation in waiting { continuation.resume(returning: false) }
    }

    // MARK: the app's side

    var peerClose: WebSocketClose? {
        state.withLock { state in
            if case .success(let close) = state.end { return close }
            return nil
        }
    }

    func receive() async throws(NetworkError) -> WebSocketMessage? {
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

    private enum Taken {
        case message(WebSocketMessage), end(NetworkError?), nothing
    }

    private func take() -> Taken {
        let (taken, resume) = state.withLock { state -> (Taken, (@Sendable () -> Void)?) in
            if state.ready.isEmpty {
                state.ready = state.received.reversed()
                state.received = []
            }
            guard let message = state.ready.popLast() else { return (self.taken(at: state.end, state.close), nil) }
            let bytes = message.byteCount + Self.messageCost
            state.receivedBytes -= bytes
            ledger?.add(.buffered, -bytes)
            guard state.isPaused, state.receivedBytes <= Self.receiveLimit / 2 else { return (.message(message), nil) }
            state.isPaused = false
            return (.message(message), state.resume)
        }
        resume?()
        return taken
    }

    private func taken(at end: Result<WebSocketClose, NetworkError>?, _ own: WebSocketClose?) -> Taken {
        switch end {
        case .success(let close): .end(close.code.isNormal || own != nil ? nil : closed(close.code))
        case .failure(let error): .end(error)
        case nil: .nothing
        }
    }

    func send(_ message: WebSocketMessage) async throws(NetworkError) {
        try checkProcess()
        let resume = try state.withLock { state throws(NetworkError) -> (@Sendable () -> Void)? in
            try requireOpen(state)
            state.posted.append(message)
            state.postedBytes += message.byteCount + Self.messageCost
            defer { state.isAnnounced = true }
            return state.isAnnounced ? nil : state.resume
        }
        resume?()
        // An end that comes when there is room is none of this message's, and may be the answer to it.
        if await wait(for: .sender, while: { !$0.hasRoom }) { return }
        try state.withLock { state throws(NetworkError) in try requireNoEnd(state) }
    }

    func close(_ close: WebSocketClose) async throws(NetworkError) -> WebSocketClose {
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

    /// One that has ended is left to say goodbye, for which it has a time limit.
    func abandon() {
        // What the parent's loop has locked stays locked in a child.
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

    /// Waits for the loop's news, unless there is nothing to wait for. Cancelling ends the connection, which is news.
    ///
    /// - Returns: whether that came; false where the end did.
    @discardableResult
    private func wait(for side: Side, while isPending: @Sendable (State) -> Bool) async -> Bool {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isThere = state.withLock { state -> Bool? in
                    guard isPending(state) else { return true }
                    guard state.end == nil else { return false }
                    state.waiting[side, default: []].append(continuation)
                    return nil
                }
                if let isThere { continuation.resume(returning: isThere) }
            }
        } onCancel: {
            abandon()
        }
    }

    /// The loop of a parent has no thread here, and would never answer.
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

    private func closed(_ code: WebSocketClose.Code) -> NetworkError { code.error(of: head) }
}
