package import BeagleNet

/// The end of a pipeline, controlled by a test: each run returns the outcome that the test gives it.
package final class ScriptedRuns: Interceptor {
    /// One run, until the test has finished it.
    package struct Run: Sendable {
        package let operation: NetworkOperation
        package let emit: Interceptor.Emit
        fileprivate let outcome: AsyncStream<Result<NetworkOperation.Result, NetworkError>>.Continuation

        package func finish(_ outcome: Result<NetworkOperation.Result, NetworkError>) {
            self.outcome.yield(outcome)
        }

        package func finish(_ text: String, from source: NetworkOperation.Result.Source = .network) {
            finish(.success(.init(text, from: source)))
        }
    }

    private let begun = Lock<[Run]>([])
    private let cancelled = Lock(0)
    private let arrivals = AsyncStream.makeStream(of: Run.self)
    private let immediate: (@Sendable (NetworkOperation, Emit) -> NetworkOperation.Result?)?

    /// - Parameter immediate: Ends a run immediately if it returns a result.
    package init(immediate: (@Sendable (NetworkOperation, Emit) -> NetworkOperation.Result?)? = nil) {
        self.immediate = immediate
    }

    /// The number of runs that began.
    package var count: Int { begun.withLock { $0.count } }
    package var policies: [RequestPolicy] { begun.withLock { $0.map(\.operation.policy) } }
    /// The number of runs that were cancelled.
    package var cancels: Int { cancelled.withLock { $0 } }

    /// Waits for the next run. Returns a run without effect if the test was cancelled.
    package func next() async -> Run {
        for await run in arrivals.stream { return run }
        let nowhere = AsyncStream.makeStream(of: Result<NetworkOperation.Result, NetworkError>.self)
        return Run(operation: .of(.raw), emit: { _ in }, outcome: nowhere.continuation)
    }

    package func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let outcome = AsyncStream.makeStream(of: Result<NetworkOperation.Result, NetworkError>.self)
        let run = Run(operation: operation, emit: emit, outcome: outcome.continuation)
        begun.withLock { $0.append(run) }
        if let result = immediate?(operation, emit) { return result }
        arrivals.continuation.yield(run)
        let answer = await withTaskCancellationHandler {
            for await answer in outcome.stream { return answer }
            return Result.failure(.cancelled)
        } onCancel: {
            cancelled.withLock { $0 += 1 }
        }
        return try answer.get()
    }
}

extension NetworkOperation.Result {
    package init(_ text: String, from source: Source = .network, isStale: Bool = false, hasNext: Bool = false) {
        self.init(NetworkResponse(text: text), from: source)
        self.isStale = isStale
        self.hasNext = hasNext
    }

    /// The text of the response, with the state of the result.
    package var shown: String {
        if let progress { return "\(progress.bytesReceived) bytes" }
        switch connection {
        case .open: return "open"
        case .interrupted(let error, let wait): return "lost: \(error.kind.rawValue), \(wait.milliseconds)"
        case .ended: return "ended"
        case nil: break
        }
        let text = response.map { String(decoding: $0.data, as: UTF8.self) } ?? "stream"
        return text + (isStale ? " stale" : "") + (hasNext ? " more" : "")
    }
}

/// Records the events of a subscriber, in order.
package final class EventRecorder: Sendable {
    private let events = Lock<[String]>([])
    private let arrivals = AsyncStream.makeStream(of: Void.self)

    package init() {}

    package var all: [String] { events.withLock { $0 } }

    package func receive(_ event: NetworkOperation.Event) {
        let text =
            switch event {
            case .result(let result): result.shown
            case .failure(let error): "failure: \(error.kind.rawValue)"
            case .end: "end"
            }
        events.withLock { $0.append(text) }
        arrivals.continuation.yield()
    }

    /// Waits until `count` events have been received.
    package func waitForEvents(_ count: Int) async {
        if all.count >= count { return }
        for await _ in arrivals.stream where all.count >= count { return }
    }
}
