import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Waits for the first value of a publisher, and then cancels the subscription.
final class FirstValue<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var line: Line?
        var continuation: CheckedContinuation<Value, any Error>?
        var isOver = false
    }

    private let state = Lock(State())

    private init() {}

    /// Returns the first value of a publisher.
    ///
    /// - Throws: The publisher's failure, `NetworkError` of kind `.cancelled` if it completes without a value, or
    ///   `CancellationError` if the task is cancelled.
    nonisolated(nonsending) static func of<P: Publisher>(_ publisher: P) async throws -> Value
    where P.Output == Value {
        let first = FirstValue()
        let subscriber = first.subscriber(P.Failure.self)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = first.state.withLock { state in
                    if !state.isOver { state.continuation = continuation }
                    return state.isOver
                }
                if isOver { return continuation.resume(throwing: CancellationError()) }
                publisher.subscribe(subscriber)
            }
        } onCancel: {
            first.end(.failure(CancellationError()))
        }
    }

    private func subscriber<Failure: Error>(_ failure: Failure.Type) -> AnySubscriber<Value, Failure> {
        AnySubscriber(
            receiveSubscription: { self.begin(Line($0)) },
            receiveValue: { value in
                self.end(.success(value))
                return .none
            },
            receiveCompletion: { completion in
                if case .failure(let error) = completion { return self.end(.failure(error)) }
                self.end(.failure(NetworkError.endedWithoutAnswer))
            }
        )
    }

    private func begin(_ line: Line) {
        let isWanted = state.withLock { state in
            if !state.isOver { state.line = line }
            return !state.isOver
        }
        // Unlimited, because a filter requests more values by itself, and only the first is used.
        if isWanted { line.request(.unlimited) } else { line.cancel() }
    }

    private func end(_ result: Result<Value, any Error>) {
        let (line, continuation) = state.withLock { state in
            let ended = (state.line, state.continuation)
            state = State(isOver: true)
            return ended
        }
        line?.cancel()
        continuation?.resume(with: result)
    }
}

extension NetworkError {
    /// The operation was ended by a teardown, not by its own caller.
    static let endedWithoutAnswer = NetworkError(
        .cancelled,
        during: .response,
        "the operation was torn down before it had a result",
        advice: "run the operation again: an exchange or a teardown operation ended it"
    )
}
