import BeagleNet
import BeagleNetHTTP

/// A reader's side of a subscription, which buffers events until they are read. Releasing it ends the subscription.
final class SubscriptionRun: Sendable {
    /// An element to read.
    enum Element: Sendable {
        case result(NetworkOperation.Result)
        /// The number of results that were dropped at this point.
        case dropped(Int)
    }

    private let buffer: SubscriptionBuffer
    private let token: any RequestToken

    init(_ client: any NetworkClient, _ operation: NetworkOperation, _ buffering: GraphQLBuffering) {
        let buffer = SubscriptionBuffer(buffering)
        self.buffer = buffer
        token = Self.start(operation, client, buffer)
        let token = token
        buffer.onOverflow { token.cancel() }
    }

    /// Starts the operation. A task is only created if the client can't start it itself, because many subscriptions
    /// should need little memory.
    private static func start(
        _ operation: NetworkOperation,
        _ client: any NetworkClient,
        _ buffer: SubscriptionBuffer
    ) -> any RequestToken {
        let token = (client as? NetworkClientDefault)?.start(operation) {
            buffer.add($0)
        } completion: {
            buffer.end($0)
        }
        if let token { return token }
        return AnyRequestToken(
            Task {
                buffer.end(
                    await Result<NetworkOperation.Result, NetworkError>.catching { () throws(NetworkError) in
                        try await client.run(operation) { buffer.add($0) }
                    }
                )
            }
        )
    }

    deinit {
        token.cancel()
    }

    /// Returns the next element, or `nil` at the end. Only one caller may wait at a time.
    func next() async throws(NetworkError) -> Element? {
        let (token, buffer) = (token, buffer)
        return try await withTaskCancellationHandler {
            await buffer.next()
        } onCancel: {
            token.cancel()
            buffer.drop()
        }.get()
    }
}

/// A buffer of events that weren't read yet.
private final class SubscriptionBuffer: Sendable {
    typealias Element = SubscriptionRun.Element
    typealias Outcome = Result<Element?, NetworkError>

    private struct State: Sendable {
        /// The elements to read next, in reverse order.
        var outbound: [Element] = []
        /// The elements after `outbound`.
        var inbound: [Element] = []
        /// The number of buffered results, and their size in bytes.
        var resultCount = 0
        var bytes = 0
        /// The number of results dropped before all elements, and after them.
        var droppedBefore = 0
        var droppedAfter = 0
        /// The latest connection events, after all other elements.
        var connectionEvents: [NetworkOperation.Result] = []
        var end: Result<Void, NetworkError>?
        /// The next element for the waiting reader.
        var next: Promise<Outcome>?
        var onOverflow: (@Sendable () -> Void)?

        mutating func append(result: NetworkOperation.Result) {
            if droppedAfter > 0 { inbound.append(.dropped(droppedAfter)) }
            droppedAfter = 0
            inbound += connectionEvents.map { .result($0) }
            connectionEvents = []
            resultCount += 1
            bytes += result.byteCount
            inbound.append(.result(result))
        }

        /// Adds a connection event. If the connection is lost repeatedly without a result, only the latest losses are
        /// kept.
        mutating func append(connectionEvent: NetworkOperation.Result) {
            if connectionEvents.count == 4 { connectionEvents.removeFirst(2) }
            connectionEvents.append(connectionEvent)
        }

        /// Returns whether the buffer has no room for another result. A single result always fits, whatever its size.
        func isFull(for result: NetworkOperation.Result, _ buffering: GraphQLBuffering) -> Bool {
            resultCount >= buffering.limit || resultCount > 0 && result.byteCount > buffering.maxBytes - bytes
        }

        mutating func takeFirst() -> Element? {
            if droppedBefore > 0 {
                defer { droppedBefore = 0 }
                return .dropped(droppedBefore)
            }
            if let element = popFirst() { return element }
            if droppedAfter > 0 {
                defer { droppedAfter = 0 }
                return .dropped(droppedAfter)
            }
            return connectionEvents.isEmpty ? nil : .result(connectionEvents.removeFirst())
        }

        /// Drops the oldest result and the connection events before it.
        mutating func dropOldest() {
            while let element = popFirst() {
                switch element {
                case .dropped(let count): droppedBefore += count
                case .result(let result) where result.isResponse:
                    droppedBefore += 1
                    return
                case .result: break
                }
            }
        }

        private mutating func popFirst() -> Element? {
            if outbound.isEmpty {
                outbound = inbound.reversed()
                inbound = []
            }
            let element = outbound.popLast()
            if case .result(let result) = element, result.isResponse {
                resultCount -= 1
                bytes -= result.byteCount
            }
            return element
        }
    }

    private let state = Lock(State())
    private let buffering: GraphQLBuffering

    init(_ buffering: GraphQLBuffering) {
        self.buffering = buffering
    }

    /// Sets a closure that ends the subscription when the buffer overflows. It is called immediately if the
    /// subscription has already ended.
    func onOverflow(_ body: @escaping @Sendable () -> Void) {
        let isFinished = state.withLock { state in
            if state.end == nil { state.onOverflow = body }
            return state.end != nil
        }
        if isFinished { body() }
    }

    func add(_ result: NetworkOperation.Result) {
        let (next, overflow): (Promise<Outcome>?, (@Sendable () -> Void)?) = state.withLock { state in
            guard state.end == nil else { return (nil, nil) }
            if let next = state.next.take() { return (next, nil) }
            guard result.isResponse else {
                state.append(connectionEvent: result)
                return (nil, nil)
            }
            guard state.isFull(for: result, buffering) else {
                state.append(result: result)
                return (nil, nil)
            }
            switch buffering {
            case .failing:
                state.end = .failure(.notReadInTime(buffering, isCount: state.resultCount >= buffering.limit))
                return (nil, state.onOverflow)
            case .newest:
                while state.isFull(for: result, buffering) { state.dropOldest() }
                state.append(result: result)
            case .oldest: state.droppedAfter += 1
            }
            return (nil, nil)
        }
        next?.complete(.success(.result(result)))
        overflow?()
    }

    /// Discards the buffered elements and ends the subscription.
    func drop() {
        let dropped = state.withLock { state in
            defer {
                (state.outbound, state.inbound, state.connectionEvents) = ([], [], [])
                (state.resultCount, state.bytes, state.droppedBefore, state.droppedAfter) = (0, 0, 0, 0)
            }
            return (state.outbound, state.inbound)
        }
        withExtendedLifetime(dropped) {}
        end(.unsubscribed)
    }

    /// Adds the final event and ends the subscription.
    func end(_ outcome: Result<NetworkOperation.Result, NetworkError>) {
        switch outcome {
        case .success(let last):
            add(last)
            end(nil)
        case .failure(let error): end(error)
        }
    }

    private func end(_ error: NetworkError?) {
        let next: Promise<Outcome>? = state.withLock { state in
            guard state.end == nil else { return nil }
            state.end = error.map { .failure($0) } ?? .success(())
            state.onOverflow = nil
            return state.next.take()
        }
        next?.complete(error.map { .failure($0) } ?? .success(nil))
    }

    func next() async -> Outcome {
        let next: Promise<Outcome> = state.withLock { state in
            if let element = state.takeFirst() { return Promise(.success(element)) }
            switch state.end {
            case .success: return Promise(.success(nil))
            case .failure(let error): return Promise(.failure(error))
            case nil:
                let next = Promise<Outcome>()
                state.next = next
                return next
            }
        }
        return await next.value
    }
}

extension NetworkOperation.Result {
    /// The size of the result in the buffer, in bytes.
    fileprivate var byteCount: Int {
        if case .response(let response) = content { return response.data.count }
        return 0
    }
}

extension NetworkError {
    /// - Parameter isCount: Whether the number of results exceeds its limit, instead of their size.
    fileprivate static func notReadInTime(_ buffering: GraphQLBuffering, isCount: Bool) -> NetworkError {
        NetworkError(
            .tooLarge,
            during: .body,
            isCount
                ? "the subscription has more than \(buffering.limit) unread results"
                : "the subscription has more than \(buffering.maxBytes) bytes of unread results",
            advice: isCount
                ? "read faster, or subscribe with another GraphQLBuffering"
                : "read faster, or subscribe with a GraphQLBuffering that has a larger maxBytes"
        )
    }

    fileprivate static let unsubscribed = NetworkError(.cancelled, during: .body, "the subscription was cancelled")
}
