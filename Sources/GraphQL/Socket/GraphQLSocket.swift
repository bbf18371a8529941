import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A WebSocket shared by operations. It connects when the first operation joins, and closes some time after the last
/// has left.
///
/// One task reads and delivers the results directly, so that slow subscribers slow down the server. Another task
/// writes, in order. Each operation ends exactly once. The transport is retained until the WebSocket is open, and this
/// object as long as it is open.
final class GraphQLSocket: Sendable {
    /// The loss of a WebSocket that had operations.
    struct Loss: Sendable {
        let error: NetworkError
        /// Whether the server had acknowledged the connection.
        let isAcknowledged: Bool
        /// Whether a result was received.
        let hasDeliveredResults: Bool
        /// The clock of the operations' delays.
        let clock: any Clock<Duration>
    }

    /// A closure that is called when the WebSocket has ended, with the loss if it had operations. It may return a
    /// different error for them.
    typealias OnEnd = @Sendable (GraphQLSocket, Loss?) -> NetworkError?

    /// An entry of the write queue.
    private enum Outgoing {
        case request(SocketRequest)
        /// The operation with this number, unless it was cancelled.
        case operation(Int)
        case close(WebSocket.Close)
    }

    /// The kinds of timers.
    private enum Timer {
        case acknowledgement, linger, keepAlive, close
    }

    private struct State {
        var session: SocketSession
        /// The parameters of the connection, until connecting has begun.
        var connector: WebSocketConnector?
        var isOpen = false
        /// Whether the WebSocket accepts no more operations and closes after its last one.
        var isRetired = false
        var isFinished = false
        var outgoing: [Outgoing] = []
        /// The response to the last ping. One pong is enough for several pings.
        var pong: SocketRequest?
        /// The end of the writer's wait for entries.
        var writerWait: Promise<Void>?
        var driver: Task<Void, Never>?
        var timers: [Timer: Task<Void, Never>] = [:]
        /// Whether a result was received.
        var hasDeliveredResults = false
        /// Whether a message was received since this was last reset.
        var hasReceived = false
        /// The close code and reason of this side, or `nil` if it didn't close the WebSocket.
        var close: WebSocket.Close?
        /// The error of an unintended end.
        var failure: NetworkError?
    }

    /// The time limit for sending the remaining messages at the end.
    private static let closeTimeout = Duration.seconds(10)

    private let state: Lock<State>
    private let options: GraphQLSocketOptions
    private let maxMessageBytes: Int
    private let clock: any Clock<Duration>
    private let reporter: SocketEventReporter
    private let onEnd: OnEnd

    /// Creates a WebSocket that connects when the first operation joins.
    ///
    /// - Parameters:
    ///   - clock: The clock of all delays.
    ///   - isRetry: Whether the WebSocket before this one failed.
    ///   - onEnd: Called once, when no more operations can join.
    init(
        _ connector: WebSocketConnector,
        _ options: GraphQLSocketOptions,
        clock: any Clock<Duration>,
        isRetry: Bool = false,
        onEnd: @escaping OnEnd
    ) {
        self.options = options
        maxMessageBytes = connector.maxMessageBytes
        reporter = SocketEventReporter(options, in: connector.scope, isRetry: isRetry)
        self.clock = clock
        self.onEnd = onEnd
        state = Lock(State(session: SocketSession(options.subprotocol), connector: connector))
    }

    // MARK: - The operations' side

    /// Adds an operation.
    ///
    /// - Returns: The operation's number for `leave`, or `nil` if the WebSocket has ended.
    func join(_ operation: SocketOperation) -> Int? {
        let (id, wait, linger) = state.withLock { state -> (Int?, Promise<Void>?, Task<Void, Never>?) in
            if state.isFinished || state.isRetired { return (nil, nil, nil) }
            let id = state.session.add(operation)
            let linger = state.timers.removeValue(forKey: .linger)
            if state.driver == nil { state.driver = Task.detached { await self.run() } }
            guard state.session.isAcknowledged else { return (id, nil, linger) }
            state.outgoing.append(.operation(id))
            return (id, state.writerWait, linger)
        }
        linger?.cancel()
        wait?.complete()
        return id
    }

    /// Removes an operation, which immediately ends as cancelled. If it was sent, the server is asked to end it.
    func leave(_ id: Int) {
        let (operation, wait) = state.withLock { state -> (SocketOperation?, Promise<Void>?) in
            guard let (operation, isSent) = state.session.remove(id) else { return (nil, nil) }
            lingerIfEmpty(&state)
            guard isSent else { return (operation, nil) }
            state.outgoing.append(.request(.cancellation(id: id)))
            return (operation, state.writerWait)
        }
        operation?.end(.failure(.operationCancelled))
        wait?.complete()
    }

    /// Whether there are no operations.
    var isIdle: Bool { state.withLock { $0.session.isEmpty } }

    /// Retires the WebSocket. It accepts no more operations and closes after its last one. Holds are removed, because
    /// they move to another WebSocket.
    func retire() {
        let holders = state.withLock { state in
            state.isRetired = true
            return state.session.removeHolders()
        }
        for holder in holders { holder.end(.failure(.socketRetired)) }
        end(.unusedSocketClosed, WebSocket.Close(.normal), ifEmpty: true)
    }

    /// Drops the connection without a closing handshake.
    func terminate() {
        end(.terminated, nil, as: .terminated)
    }

    private func lingerIfEmpty(_ state: inout State) {
        guard state.session.isEmpty, !state.isFinished else { return }
        start(.linger, state.isRetired ? .zero : options.lingerDuration, &state) {
            $0.end(.unusedSocketClosed, WebSocket.Close(.normal), ifEmpty: true)
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
            // Throws only if the timer is no longer needed.
            do { try await clock.sleep(for: duration) } catch { return }
            if let self { await body(self) }
        }
    }

    // MARK: - The end

    /// Ends the WebSocket and its operations. Only the first end counts.
    ///
    /// - Parameters:
    ///   - error: The error of the operations.
    ///   - closeMessage: The close message to the server, or `nil` to drop the connection.
    ///   - close: The close code and reason reported to the app if the server is sent none.
    ///   - ifEmpty: Whether to do nothing if there are operations.
    ///   - ifSilent: Whether to do nothing if the server has acknowledged the connection.
    private func end(
        _ error: NetworkError,
        _ closeMessage: WebSocket.Close?,
        as close: WebSocket.Close? = nil,
        ifEmpty: Bool = false,
        ifSilent: Bool = false
    ) {
        let endState = state.withLock { state -> EndState? in
            if state.isFinished || ifEmpty && !state.session.isEmpty { return nil }
            if ifSilent, state.session.isAcknowledged { return nil }
            state.isFinished = true
            state.close = close ?? (state.isOpen ? closeMessage : nil)
            if !ifEmpty, close == nil, error.webSocketClose == nil { state.failure = error }
            let timers = Array(state.timers.values)
            (state.timers, state.connector) = ([:], nil)
            if let closeMessage, state.isOpen {
                if options.subprotocol == .graphQLWS { state.outgoing.append(.request(.termination)) }
                state.outgoing.append(.close(closeMessage))
                // A server that stops reading must not delay the end forever.
                start(.close, Self.closeTimeout, &state) { socket in
                    socket.state.withLock { $0.driver }?.cancel()
                }
            } else {
                state.outgoing = []
            }
            let loss = Loss(
                error: error,
                isAcknowledged: state.session.isAcknowledged,
                hasDeliveredResults: state.hasDeliveredResults,
                clock: clock
            )
            let isLoss = !state.session.isEmpty
            return EndState(
                loss: isLoss ? loss : nil,
                operations: state.session.removeAll(),
                timers: timers,
                writerWait: state.writerWait,
                driver: closeMessage == nil || !state.isOpen ? state.driver : nil
            )
        }
        guard let endState else { return }
        let shared = onEnd(self, endState.loss) ?? error
        for timer in endState.timers { timer.cancel() }
        for (operation, isSent) in endState.operations {
            var error = shared
            error.mayHaveReachedServer = isSent
            operation.end(.failure(error))
        }
        endState.writerWait?.complete()
        endState.driver?.cancel()
    }

    private struct EndState {
        let loss: Loss?
        let operations: [(operation: SocketOperation, isSent: Bool)]
        let timers: [Task<Void, Never>]
        let writerWait: Promise<Void>?
        let driver: Task<Void, Never>?
    }

    // MARK: - The connection

    private func run() async {
        reporter.reportConnecting()
        do throws(NetworkError) {
            guard let webSocket = try await open() else { return reportEnd(nil) }
            reporter.report(.opened)
            async let writing: Void = write(to: webSocket)
            end(await read(webSocket), nil)
            await writing
            state.withLock { $0.timers.removeValue(forKey: .close) }?.cancel()
            reportEnd(webSocket)
        } catch {
            end(error, nil)
            reportEnd(nil)
        }
    }

    /// Reports the end. Called after both tasks have reported their events.
    private func reportEnd(_ webSocket: WebSocket?) {
        let (close, failure) = state.withLock { ($0.close, $0.failure) }
        reporter.reportEnd(failure, close ?? webSocket?.peerClose ?? .abnormal)
    }

    /// Connects and releases the connection parameters. Returns `nil` if the WebSocket is no longer needed.
    private func open() async throws(NetworkError) -> WebSocket? {
        let connector = state.withLock { state in
            defer { state.connector = nil }
            return state.connector
        }
        guard let (webSocket, parameters) = try await connector?.open() else { return nil }
        let isActive = state.withLock { state in
            if state.isFinished { return false }
            state.isOpen = true
            state.outgoing.append(.request(.initialisation(parameters)))
            start(.acknowledgement, options.acknowledgementTimeout, &state) {
                $0.end(.notAcknowledged, .acknowledgementTimeout, ifSilent: true)
            }
            return true
        }
        return isActive ? webSocket : nil
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
            // The reader gets the same error and reports it.
        }
    }

    /// - Returns: Whether another entry may follow.
    private func write(_ next: Outgoing, to webSocket: WebSocket) async throws(NetworkError) -> Bool {
        switch next {
        case .request(let request): try await send(request, to: webSocket)
        case .operation(let id):
            // Delivered before the request is sent, because the server's messages for an operation that wasn't sent are
            // ignored.
            state.withLock { $0.session.operation(id) }?.deliver(.open)
            guard let parameters = state.withLock({ $0.session.markSent(id) })?.parameters else { break }
            try await send(.operation(id: id, parameters), to: webSocket)
        case .close(let close):
            try await webSocket.close(close.code, reason: close.reason)
            return false
        }
        return true
    }

    private func send(_ request: SocketRequest, to webSocket: WebSocket) async throws(NetworkError) {
        try await webSocket.send(.text(request.text(options.subprotocol)))
        reporter.report(sent: request)
    }

    /// Waits for entries of the write queue and returns them, or `nil` at the end.
    private func nextOutgoing() async -> [Outgoing]? {
        while true {
            let (batch, wait) = state.withLock { state -> ([Outgoing], Promise<Void>?) in
                var batch = state.outgoing
                state.outgoing = []
                if let pong = state.pong.take() { batch.insert(.request(pong), at: 0) }
                state.writerWait = batch.isEmpty && !state.isFinished ? Promise() : nil
                return (batch, state.writerWait)
            }
            if !batch.isEmpty { return batch }
            guard let wait else { return nil }
            await wait.value
        }
    }

    // MARK: - Reading

    /// - Returns: The reason for which no more messages arrive.
    private func read(_ webSocket: WebSocket) async -> NetworkError {
        var messages = webSocket.messages.makeAsyncIterator()
        do throws(NetworkError) {
            // If the connection is dropped, the remaining messages are not read.
            while !Task.isCancelled, let message = try await messages.next() {
                guard take(message) else { return .operationCancelled }
            }
        } catch {
            return webSocket.peerClose.map { .ended($0, isAcknowledged) } ?? error.ofSocket(maxMessageBytes)
        }
        return .ended(webSocket.peerClose ?? WebSocket.Close(.noStatus), isAcknowledged)
    }

    private var isAcknowledged: Bool { state.withLock { $0.session.isAcknowledged } }

    /// - Returns: Whether to continue reading.
    private func take(_ message: WebSocket.Message) -> Bool {
        do throws(SocketProtocolError) {
            guard case .text(let text) = message else { throw SocketProtocolError(reason: "a message is not text") }
            let message = try SocketMessage(text, options.subprotocol)
            try reporter.report(received: message, isFirst: !isAcknowledged)
            return try follow(try receive(message))
        } catch {
            end(error.error, WebSocket.Close(.badResponse, reason: error.reason))
            return false
        }
    }

    private func receive(_ message: SocketMessage) throws(SocketProtocolError) -> SocketSession.Step {
        try state.withLock { state throws(SocketProtocolError) in
            state.hasReceived = true
            let step = try state.session.receive(message)
            switch step {
            case .begin(let ids): state.outgoing += ids.map { .operation($0) }
            case .pong(let payload): state.pong = .pong(payload)
            case .end: lingerIfEmpty(&state)
            case .deliver: state.hasDeliveredResults = true
            case .nothing, .reject: break
            }
            return step
        }
    }

    private func follow(_ step: SocketSession.Step) throws(SocketProtocolError) -> Bool {
        switch step {
        case .nothing: break
        case .begin: begin()
        case .pong: wakeWriter()
        case .deliver(let operation, let payload): operation.deliver(.payload(payload))
        case .end(let operation, nil): operation.end(.success(()))
        case .end(let operation, let payload?): operation.end(.failure(.errors(payload)))
        case .reject(let payload):
            end(.refused(payload), WebSocket.Close(.normal))
            return false
        }
        return true
    }

    private func wakeWriter() {
        state.withLock { $0.writerWait }?.complete()
    }

    /// Handles the server's acknowledgement of the connection.
    private func begin() {
        let timer = state.withLock { state in
            if let keepAlive = options.keepAlive, options.subprotocol != .graphQLWS, !state.isFinished {
                start(.keepAlive, keepAlive, &state) { await $0.keepAlive(every: keepAlive) }
            }
            return state.timers.removeValue(forKey: .acknowledgement)
        }
        timer?.cancel()
        wakeWriter()
    }

    // MARK: - Signs of life

    /// Sends a ping whenever no message was received for a while.
    private func keepAlive(every interval: Duration) async {
        // Throws only if the WebSocket has ended.
        do {
            while true {
                while takeReceived() { try await clock.sleep(for: interval) }
                state.withLock { $0.outgoing.append(.request(.ping)) }
                wakeWriter()
                try await clock.sleep(for: options.pongTimeout)
                guard takeReceived() else { return end(.pongTimedOut, nil) }
                try await clock.sleep(for: interval)
            }
        } catch {}
    }

    private func takeReceived() -> Bool {
        state.withLock { state in
            defer { state.hasReceived = false }
            return state.hasReceived
        }
    }
}

extension WebSocket.Close {
    fileprivate static let acknowledgementTimeout = WebSocket.Close(
        WebSocket.Close.Code(rawValue: 4504),
        reason: "Connection acknowledgement timeout"
    )
    /// The close code of the `graphql-ws` reference for a terminated connection; never sent.
    fileprivate static let terminated = WebSocket.Close(WebSocket.Close.Code(rawValue: 4499), reason: "Terminated")
    /// 1006: the connection was lost (RFC 6455, 7.1.5); never sent.
    fileprivate static let abnormal = WebSocket.Close(WebSocket.Close.Code(rawValue: 1006))
}

extension WebSocket.Close.Code {
    /// 4004: the server sent a message that the protocol doesn't define.
    fileprivate static let badResponse = Self(rawValue: 4004)
}
