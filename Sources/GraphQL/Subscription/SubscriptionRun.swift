import BeagleNet
import BeagleNetHTTP

/// A reader's side of a subscription, which buffers events until they are read. Releasing it ends the subscription.
final class SubscriptionRun: Sendable {
    /// An element to read.
    enum Step: Sendable {
        case result(NetworkOperation.Result)
        /// The number of results that were dropped at this point.
        case missed(Int)
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
    func next() async throws(NetworkError) -> Step? {
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
    typealias Step = SubscriptionRun.Step
    typealias Outcome = Result<Step?, NetworkError>

    private struct State: Sendable {
        /// The elements to read next, in reverse order.
        var ready: [Step] = []
        /// The elements after `ready`.
        var received: [Step] = []
        /// The number of buffered results, and their size in bytes.
        var answers = 0
        var bytes = 0
        /// The number of results dropped before all elements, and after them.
        var missedBefore = 0
        var missedBehind = 0
        /// The latest connection events, after all other elements.
        var notices: [NetworkOperation.Result] = []
        var end: Result<Void, NetworkError>?
        var reader: UnsafeContinuation<Outcome, Never>?
        var onOverflow: (@Sendable () -> Void)?

        mutating func append(answer: NetworkOperation.Result) {
            if missedBehind > 0 { received.append(.missed(missedBehind)) }
            missedBehind = 0
            received += notices.map { .result($0) }
            notices = []
            answers += 1
            bytes += answer.byteCount
            received.append(.result(answer))
        }

        /// Adds a connection event. If the connection is lost repeatedly without a result, only the latest losses are
        /// kept.
        mutating func append(notice: NetworkOperation.Result) {
            if notices.count == 4 { notices.removeFirst(2) }
            notices.append(notice)
        }

        /// Returns whether the buffer has no room for another result. A single result always fits, whatever its size.
        func isFull(for answer: NetworkOperation.Result, _ buffering: GraphQLBuffering) -> Bool {
            answers >= buffering.limit || answers > 0 && answer.byteCount > buffering.maxBytes - bytes
        }

        mutating func takeFirst() -> Step? {
            if missedBefore > 0 {
                defer { missedBefore = 0 }
                return .missed(missedBefore)
            }
            if let step = popFirst() { return step }
            if missedBehind > 0 {
                defer { missedBehind = 0 }
                return .missed(missedBehind)
            }
            return notices.isEmpty ? nil : .result(notices.removeFirst())
        }

        /// Drops the oldest result and the connection events before it.
        mutating func dropOldest() {
            while let step = popFirst() {
                switch step {
                case .missed(let count): missedBefore += count
                case .result(let result) where result.isAnswer:
                    missedBefore += 1
                    return
                case .result: break
                }
            }
        }

        private mutating func popFirst() -> Step? {
            if ready.isEmpty {
                ready = received.reversed()
                received = []
            }
            let step = ready.popLast()
            if case .result(let result) = step, result.isAnswer {
                answers -= 1
                bytes -= result.byteCount
            }
            return step
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
        let isOver = state.withLock { state in
            if state.end == nil { state.onOverflow = body }
            return state.end != nil
        }
        if isOver { body() }
    }

    func add(_ result: NetworkOperation.Result) {
        let (reader, overflow): (UnsafeContinuation<Outcome, Never>?, (@Sendable () -> Void)?) = state.withLock {
            state in
            guard state.end == nil else { return (nil, nil) }
            if let reader = state.reader.take() { return (reader, nil) }
            guard result.isAnswer else {
                state.append(notice: result)
                return (nil, nil)
            }
            guard state.isFull(for: result, buffering) else {
                state.append(answer: result)
                return (nil, nil)
            }
            switch buffering {
            case .failing:
                state.end = .failure(.notReadInTime(buffering, isCount: state.answers >= buffering.limit))
                return (nil, state.onOverflow)
            case .newest:
                while state.isFull(for: result, buffering) { state.dropOldest() }
                state.append(answer: result)
            case .oldest: state.missedBehind += 1
            }
            return (nil, nil)
        }
        reader?.resume(returning: .success(.result(result)))
        overflow?()
    }

    /// Discards the buffered elements and ends the subscription.
    func drop() {
        let dropped = state.withLock { state in
            defer {
                (state.ready, state.received, state.notices) = ([], [], [])
                (state.answers, state.bytes, state.missedBefore, state.missedBehind) = (0, 0, 0, 0)
            }
            return (state.ready, state.received)
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
        let reader: UnsafeContinuation<Outcome, Never>? = state.withLock { state in
            guard state.end == nil else { return nil }
            state.end = error.map { .failure($0) } ?? .success(())
            state.onOverflow = nil
            return state.reader.take()
        }
        reader?.resume(returning: error.map { .failure($0) } ?? .success(nil))
    }

    func next() async -> Outcome {
        await withUnsafeContinuation { continuation in
            let outcome: Outcome? = state.withLock { state in
                if let step = state.takeFirst() { return .success(step) }
                switch state.end {
                case .success: return .success(nil)
                case .failure(let error): return .failure(error)
                case nil:
                    state.reader = continuation
                    return nil
                }
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
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
