import BeagleNet
import BeagleNetHTTP

/// One reader's side of a subscription: keeps what comes until it is read, as much as may be kept. Letting go of it ends the
/// subscription.
final class SubscriptionRun: Sendable {
    /// What there is to read.
    enum Step: Sendable {
        case result(NetworkOperation.Result)
        /// So many answers were dropped before this.
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

    /// A task of its own only where the client has none: many subscriptions are to cost little.
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

    /// What comes next; nil where nothing does. One asks at a time.
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

/// Holds what came and was not read.
private final class SubscriptionBuffer: Sendable {
    typealias Step = SubscriptionRun.Step
    typealias Outcome = Result<Step?, NetworkError>

    private struct State: Sendable {
        /// Read from the end.
        var ready: [Step] = []
        /// What came behind `ready`.
        var received: [Step] = []
        /// Answers among them, and their bytes.
        var answers = 0
        var bytes = 0
        /// Answers that were dropped before all of them, and behind them.
        var missedBefore = 0
        var missedBehind = 0
        /// What became of the connection since, behind all: the last that there is to tell.
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

        /// Of a connection that is lost again and again without an answer no more than the last losses are told.
        mutating func append(notice: NetworkOperation.Result) {
            if notices.count == 4 { notices.removeFirst(2) }
            notices.append(notice)
        }

        /// Whether there is no room for one more. One is kept, whatever its size.
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

        /// Drops the oldest answer, and what was told before it.
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

    /// Says what ends the sending where nobody keeps up with it; done at once where that is so already.
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

    /// Nobody wants what is kept any more.
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

    /// Nothing more comes but this.
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
    /// How much of a buffer it takes.
    fileprivate var byteCount: Int {
        if case .response(let response) = content { return response.data.count }
        return 0
    }
}

extension NetworkError {
    /// - Parameter isCount: whether it is the number of results that is too large, and not their bytes.
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
