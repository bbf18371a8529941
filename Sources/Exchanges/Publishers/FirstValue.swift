import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Waits for the first value of a publisher, and then cancels the subscription.
final class FirstValue<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var subscription: SendableSubscription?
        var isFinished = false
    }

    private let state = Lock(State())
    private let result = Promise<Result<Value, any Error>>()

    private init() {}

    /// Returns the first value of a publisher.
    ///
    /// - Throws: The publisher's failure, `NetworkError` of kind `.cancelled` if it completes without a value, or
    ///   `CancellationError` if the task is cancelled.
    nonisolated(nonsending) static func of<P: Publisher>(_ publisher: P) async throws -> Value
    where P.Output == Value {
        let first = FirstValue()
        let subscriber = first.subscriber(P.Failure.self)
        try Task.checkCancellation()
        publisher.subscribe(subscriber)
        return try await withTaskCancellationHandler {
            await first.result.value
        } onCancel: {
            first.end(.failure(CancellationError()))
        }.get()
    }

    private func subscriber<Failure: Error>(_ failure: Failure.Type) -> AnySubscriber<Value, Failure> {
        AnySubscriber(
            receiveSubscription: { self.begin(SendableSubscription($0)) },
            receiveValue: { value in
                self.end(.success(value))
                return .none
            },
            receiveCompletion: { completion in
                if case .failure(let error) = completion { return self.end(.failure(error)) }
                self.end(.failure(NetworkError.endedWithoutResult))
            }
        )
    }

    private func begin(_ subscription: SendableSubscription) {
        let isWanted = state.withLock { state in
            if !state.isFinished { state.subscription = subscription }
            return !state.isFinished
        }
        // Unlimited, because a filter requests more values by itself, and only the first is used.
        if isWanted { subscription.request(.unlimited) } else { subscription.cancel() }
    }

    private func end(_ result: Result<Value, any Error>) {
        let subscription = state.withLock { state in
            state.isFinished = true
            return state.subscription.take()
        }
        subscription?.cancel()
        self.result.complete(result)
    }
}

extension NetworkError {
    /// The operation was ended by a teardown, not by its own caller.
    static let endedWithoutResult = NetworkError(
        .cancelled,
        during: .response,
        "the operation was torn down before it had a result",
        advice: "run the operation again: an exchange or a teardown operation ended it"
    )
}
