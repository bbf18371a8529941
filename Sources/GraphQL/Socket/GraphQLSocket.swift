import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One WebSocket that operations share: connects when the first joins, and ends some time after the last has left.
///
/// One task reads: it hands results on itself, so that the server waits where they are not taken. One task writes, in order.
/// Whatever happens, each operation ends once. The transport is kept until the WebSocket is open, this object as long as it
/// is.
final class GraphQLSocket: Sendable {
    /// What a WebSocket ended with that operations were on.
    struct Loss: Sendable {
        let error: NetworkError
        /// Whether the server took operations.
        let isAcknowledged: Bool
        /// Whether a result came.
        let hasGiven: Bool
        /// What it waited by.
        let clock: any Clock<Duration>
    }

    /// Hears that a WebSocket is over: with operations on it, why. It may give another error for them.
    typealias OnEnd = @Sendable (GraphQLSocket, Loss?) -> NetworkError?

    /// What waits to be written.
    private enum Outgoing {
        case request(SocketRequest)
        /// The operation of this number, where somebody wants it still.
        case operation(Int)
        case close(WebSocketClose)
    }

    /// What waits for its time.
    private enum Timer {
        case acknowledgement, linger, keepAlive, goodbye
    }

    private struct State {
        var session: SocketSession
        /// How to connect, until that has begun.
        var opening: SocketOpening?
        var isOpen = false
        /// Whether it ends with its last operation, and takes no more.
        var isRetired = false
        var isOver = false
        var outgoing: [Outgoing] = []
        /// The answer to the last ping; one is enough for several.
        var pong: SocketRequest?
        var writer: UnsafeContinuation<Void, Never>?
        var driver: Task<Void, Never>?
        var timers: [Timer: Task<Void, Never>] = [:]
        /// Whether a result came.
        var hasGiven = false
        /// Whether anything came since this was last unset.
        var hasHeard = false
        /// What this side ended it with; nil where the other did, or nobody.
        var close: WebSocketClose?
        /// Why it ended that neither side meant to end.
        var failure: NetworkError?

        mutating func takeWriter() -> UnsafeContinuation<Void, Never>? {
            defer { writer = nil }
            return writer
        }
    }

    /// How long what is to be sent at the end may take.
    private static let goodbyeTime = Duration.seconds(10)

    private let state: Lock<State>
    private let options: GraphQLSocketOptions
    private let maxMessageBytes: Int
    private let clock: any Clock<Duration>
    private let news: SocketNews
    private let onEnd: OnEnd

    /// A WebSocket that connects when it is joined.
    ///
    /// - Parameters:
    ///   - clock: what it waits by.
    ///   - isRetry: whether the one before it failed.
    ///   - onEnd: called once, when nobody can join any more.
    init(
        _ opening: SocketOpening,
        _ options: GraphQLSocketOptions,
        clock: any Clock<Duration>,
        isRetry: Bool = false,
        onEnd: @escaping OnEnd
    ) {
        self.options = options
        maxMessageBytes = opening.maxMessageBytes
        news = SocketNews(options, in: opening.scope, isRetry: isRetry)
        self.clock = clock
        self.onEnd = onEnd
        state = Lock(State(session: SocketSession(options.subprotocol), opening: opening))
    }

    // MARK: - The operations' side

    /// Takes an operation on; nil where the WebSocket is over.
    ///
    /// - Returns: its number, to `leave` with.
    func join(_ operation: SocketOperation) -> Int? {
        let (id, writer, linger) = state.withLock {
            state -> (Int?, UnsafeContinuation<Void, Never>?, Task<Void, Never>?) in
            if state.isOver || state.isRetired { return (nil, nil, nil) }
            let id = state.session.add(operation)
            let linger = state.timers.removeValue(forKey: .linger)
            if state.driver == nil { state.driver = Task.detached { await self.run() } }
            guard state.session.isAcknowledged else { return (id, nil, linger) }
            state.outgoing.append(.operation(id))
            return (id, state.takeWriter(), linger)
        }
        linger?.cancel()
        writer?.resume()
        return id
    }

    /// Lets an operation go, which ends as cancelled at once; the server is told where it was asked.
    func leave(_ id: Int) {
        let (operation, writer) = state.withLock { state -> (SocketOperation?, UnsafeContinuation<Void, Never>?) in
            guard let (operation, isAsked) = state.session.remove(id) else { return (nil, nil) }
            lingerIfEmpty(&state)
            guard isAsked else { return (operation, nil) }
            state.outgoing.append(.request(.cancellation(id: id)))
            return (operation, state.takeWriter())
        }
        operation?.end(.failure(.leftSocket))
        writer?.resume()
    }

    /// Whether it has no operation.
    var isIdle: Bool { state.withLock { $0.session.isEmpty } }

    /// Takes no more operations; ends when there are none but those that only hold it open, which go elsewhere.
    func retire() {
        let holders = state.withLock { state in
            state.isRetired = true
            return state.session.removeHolders()
        }
        for holder in holders { holder.end(.failure(.socketRetired)) }
        end(.socketLeft, WebSocketClose(.normal), ifEmpty: true)
    }

    /// Drops the connection, without a word to the server.
    func terminate() {
        end(.terminated, nil, as: .terminated)
    }

    private func lingerIfEmpty(_ state: inout State) {
        guard state.session.isEmpty, !state.isOver else { return }
        start(.linger, state.isRetired ? .zero : options.linger, &state) {
            $0.end(.socketLeft, WebSocketClose(.normal), ifEmpty: true)
        }
    }

    private func start(
        _ timer: Timer,
        _ duration: Duration,
        _ state: inout State,
        _ body: @escaping @Sendable (GraphQLSocket) async -> Void
    ) {
        state.timers[timer]?.cancel()
        state.timers[timer] = Task.detached { [weak self, clock] in
            // Thrown only where the time does not matter any more.
            do { try await clock.sleep(for: duration) } catch { return }
            if let self { await body(self) }
        }
    }

    // MARK: - The end

    /// Ends all; the first end counts.
    ///
    /// - Parameters:
    ///   - error: what operations end with.
    ///   - goodbye: what the server is told, if there is a connection; nil drops that.
    ///   - close: what the app is told that it ended with, where the server is told nothing.
    ///   - ifEmpty: whether it goes on where there are operations.
    ///   - ifSilent: whether it goes on where the server takes operations.
    private func end(
        _ error: NetworkError,
        _ goodbye: WebSocketClose?,
        as close: WebSocketClose? = nil,
        ifEmpty: Bool = false,
        ifSilent: Bool = false
    ) {
        let ending = state.withLock { state -> Ending? in
            if state.isOver || ifEmpty && !state.session.isEmpty { return nil }
            if ifSilent, state.session.isAcknowledged { return nil }
            state.isOver = true
            state.close = close ?? (state.isOpen ? goodbye : nil)
            if !ifEmpty, close == nil, error.webSocketClose == nil { state.failure = error }
            let timers = Array(state.timers.values)
            (state.timers, state.opening) = ([:], nil)
            if let goodbye, state.isOpen {
                if options.subprotocol == .graphQLWS { state.outgoing.append(.request(.termination)) }
                state.outgoing.append(.close(goodbye))
                // A server that takes nothing any more is not said goodbye to for ever.
                start(.goodbye, Self.goodbyeTime, &state) { socket in
                    socket.state.withLock { $0.driver }?.cancel()
                }
            } else {
                state.outgoing = []
            }
            let loss = Loss(
                error: error,
                isAcknowledged: state.session.isAcknowledged,
                hasGiven: state.hasGiven,
                clock: clock
            )
            let isLoss = !state.session.isEmpty
            return Ending(
                loss: isLoss ? loss : nil,
                operations: state.session.removeAll(),
                timers: timers,
                writer: state.takeWriter(),
                driver: goodbye == nil || !state.isOpen ? state.driver : nil
            )
        }
        guard let ending else { return }
        let shared = onEnd(self, ending.loss) ?? error
        for timer in ending.timers { timer.cancel() }
        for (operation, isAsked) in ending.operations {
            var error = shared
            error.mayHaveReachedServer = isAsked
            operation.end(.failure(error))
        }
        ending.writer?.resume()
        ending.driver?.cancel()
    }

    private struct Ending {
        let loss: Loss?
        let operations: [(operation: SocketOperation, isAsked: Bool)]
        let timers: [Task<Void, Never>]
        let writer: UnsafeContinuation<Void, Never>?
        let driver: Task<Void, Never>?
    }

    // MARK: - The connection

    private func run() async {
        news.tellOfBeginning()
        do throws(NetworkError) {
            guard let webSocket = try await open() else { return tellOfTheEnd(nil) }
            news.tell(.opened)
            async let writing: Void = write(to: webSocket)
            end(await read(webSocket), nil)
            await writing
            state.withLock { $0.timers.removeValue(forKey: .goodbye) }?.cancel()
            tellOfTheEnd(webSocket)
        } catch {
            end(error, nil)
            tellOfTheEnd(nil)
        }
    }

    /// Told when both tasks have told all.
    private func tellOfTheEnd(_ webSocket: WebSocket?) {
        let (close, failure) = state.withLock { ($0.close, $0.failure) }
        news.tellOfEnd(failure, close ?? webSocket?.peerClose ?? .abnormal)
    }

    /// Connects, and lets go of what that takes; nil where nobody wants it any more.
    private func open() async throws(NetworkError) -> WebSocket? {
        let opening = state.withLock { state in
            defer { state.opening = nil }
            return state.opening
        }
        guard let (webSocket, parameters) = try await opening?.open() else { return nil }
        let isWanted = state.withLock { state in
            if state.isOver { return false }
            state.isOpen = true
            state.outgoing.append(.request(.initialisation(parameters)))
            start(.acknowledgement, options.acknowledgementTimeout, &state) {
                $0.end(.notAcknowledged, .acknowledgementTimeout, ifSilent: true)
            }
            return true
        }
        return isWanted ? webSocket : nil
    }

    // MARK: - Writing

    private func write(to webSocket: WebSocket) async {
        do throws(NetworkError) {
            while let batch = await nextOutgoing() {
                for next in batch {
                    guard try await write(next, to: webSocket) else { return }
                }
            }
        } catch {
            // The reader hears of it too, and says so.
        }
    }

    /// - Returns: whether anything may follow.
    private func write(_ next: Outgoing, to webSocket: WebSocket) async throws(NetworkError) -> Bool {
        switch next {
        case .request(let request): try await send(request, to: webSocket)
        case .operation(let id):
            // Told before the server can answer: what it says of an operation that was not asked for is passed over.
            state.withLock { $0.session.operation(id) }?.give(.open)
            guard let parameters = state.withLock({ $0.session.ask(id) })?.parameters else { break }
            try await send(.operation(id: id, parameters), to: webSocket)
        case .close(let close):
            try await webSocket.close(close.code, reason: close.reason)
            return false
        }
        return true
    }

    private func send(_ request: SocketRequest, to webSocket: WebSocket) async throws(NetworkError) {
        try await webSocket.send(.text(request.text(options.subprotocol)))
        news.tell(ofSent: request)
    }

    /// What is to be written next, as soon as there is something; nil at the end.
    private func nextOutgoing() async -> [Outgoing]? {
        while true {
            let (batch, isOver) = state.withLock { state -> ([Outgoing], Bool) in
                var batch = state.outgoing
                state.outgoing = []
                if let pong = state.pong.take() { batch.insert(.request(pong), at: 0) }
                return (batch, state.isOver)
            }
            if !batch.isEmpty { return batch }
            if isOver { return nil }
            await withUnsafeContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.isOver || !state.outgoing.isEmpty || state.pong != nil { return true }
                    state.writer = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        }
    }

    // MARK: - Reading

    /// - Returns: why no more comes.
    private func read(_ webSocket: WebSocket) async -> NetworkError {
        var messages = webSocket.messages.makeAsyncIterator()
        do throws(NetworkError) {
            // What is ended without a goodbye reads no further, however much is there.
            while !Task.isCancelled, let message = try await messages.next() {
                guard take(message) else { return .leftSocket }
            }
        } catch {
            return webSocket.peerClose.map { .ended($0, isAcknowledged) } ?? error.ofConversation(maxMessageBytes)
        }
        return .ended(webSocket.peerClose ?? WebSocketClose(.noStatus), isAcknowledged)
    }

    private var isAcknowledged: Bool { state.withLock { $0.session.isAcknowledged } }

    /// - Returns: whether to read on.
    private func take(_ message: WebSocketMessage) -> Bool {
        do throws(SocketFault) {
            guard case .text(let text) = message else { throw SocketFault(reason: "a message is not text") }
            let message = try SocketMessage(text, options.subprotocol)
            try news.tell(ofReceived: message, isFirst: !isAcknowledged)
            return try follow(try receive(message))
        } catch {
            end(error.error, WebSocketClose(.badResponse, reason: error.reason))
            return false
        }
    }

    private func receive(_ message: SocketMessage) throws(SocketFault) -> SocketSession.Step {
        try state.withLock { state throws(SocketFault) in
            state.hasHeard = true
            let step = try state.session.receive(message)
            switch step {
            case .begin(let ids): state.outgoing += ids.map { .operation($0) }
            case .pong(let payload): state.pong = .pong(payload)
            case .end: lingerIfEmpty(&state)
            case .give: state.hasGiven = true
            case .nothing, .refuse: break
            }
            return step
        }
    }

    private func follow(_ step: SocketSession.Step) throws(SocketFault) -> Bool {
        switch step {
        case .nothing: break
        case .begin: begin()
        case .pong: wakeWriter()
        case .give(let operation, let payload): operation.give(.payload(payload))
        case .end(let operation, nil): operation.end(.success(()))
        case .end(let operation, let payload?): operation.end(.failure(.errors(payload)))
        case .refuse(let payload):
            end(.refused(payload), WebSocketClose(.normal))
            return false
        }
        return true
    }

    private func wakeWriter() {
        state.withLock { $0.takeWriter() }?.resume()
    }

    /// The server takes operations.
    private func begin() {
        let timer = state.withLock { state in
            if let keepAlive = options.keepAlive, options.subprotocol != .graphQLWS, !state.isOver {
                start(.keepAlive, keepAlive, &state) { await $0.keepAlive(every: keepAlive) }
            }
            return state.timers.removeValue(forKey: .acknowledgement)
        }
        timer?.cancel()
        wakeWriter()
    }

    // MARK: - Signs of life

    /// Asks for signs of life whenever nothing came for a while.
    private func keepAlive(every interval: Duration) async {
        // Thrown only where the WebSocket is over.
        do {
            while true {
                while takeHeard() { try await clock.sleep(for: interval) }
                let writer = state.withLock { state in
                    state.outgoing.append(.request(.ping))
                    return state.takeWriter()
                }
                writer?.resume()
                try await clock.sleep(for: options.pongTimeout)
                guard takeHeard() else { return end(.noSignOfLife, nil) }
                try await clock.sleep(for: interval)
            }
        } catch {}
    }

    private func takeHeard() -> Bool {
        state.withLock { state in
            defer { state.hasHeard = false }
            return state.hasHeard
        }
    }
}

extension WebSocketClose {
    fileprivate static let acknowledgementTimeout = WebSocketClose(
        WebSocketClose.Code(rawValue: 4504),
        reason: "Connection acknowledgement timeout"
    )
    /// As the reference has it; never on the wire.
    fileprivate static let terminated = WebSocketClose(WebSocketClose.Code(rawValue: 4499), reason: "Terminated")
    /// 1006: the connection was lost (RFC 6455, 7.1.5); never on the wire.
    fileprivate static let abnormal = WebSocketClose(WebSocketClose.Code(rawValue: 1006))
}

extension WebSocketClose.Code {
    /// 4004: the server says what the protocol does not know.
    fileprivate static let badResponse = Self(rawValue: 4004)
}
