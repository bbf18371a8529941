public import BeagleNet
import BeagleNetHTTP

/// Sends GraphQL operations that start at about the same time in one request, as a list, and distributes the responses.
///
/// ```swift
/// dependencies.interceptors.add(BatchInterceptor())
/// ```
///
/// A batch contains operations of the same kind, to the same URL, with the same header fields and options, whose bodies
/// are JSON objects in memory. All other operations pass unchanged, such as those with files, which are forms, and
/// those over a WebSocket or an event stream. A batch of one operation is sent unchanged, and only then is progress
/// reported. Sharing, caching, retries, credentials and deadlines apply to each operation, because they lie above this
/// interceptor. A cancelled operation leaves the batch, and the request is cancelled when all have left. Responses from
/// a batch are stored only if the operation has a `partition`.
///
/// Spans, logs and recordings below this interceptor show the batch, without an operation name. Record without batching
/// if you want to replay, because a batch may consist of other operations the next time.
///
/// Responses are matched to operations by their position in the list, because they don't identify their operation. If
/// the server leaves some out, the whole batch fails. It also fails if a wrong order is detectable: the operations
/// request different root fields, and one receives data of a field that it didn't request. If the operations request
/// the same fields, a wrong order would go unnoticed.
///
/// The server must support batches. If it doesn't, it returns an error, which every operation of the batch receives.
public final class BatchInterceptor: Interceptor {
    /// `.persistedQuery`: messages already have their credentials, which keep operations of different users apart.
    public var place: Pipeline.Place? { .persistedQuery }
    /// The time for which the first operation of a batch waits for others.
    public let window: Duration
    /// The maximum number of operations in a batch.
    public let limit: Int
    /// The maximum size of a batch's body, in bytes.
    public let maxBytes: Int
    private let clock: any Clock<Duration>
    private let open = Lock<[Batch.Key: Batch]>([:])

    /// Creates an interceptor with the limits of its batches.
    ///
    /// - Parameters:
    ///   - window: The time for which the first operation of a batch waits for others; 10 ms by default.
    ///   - limit: The maximum number of operations, at least 2; 10 by default, because servers have limits of their
    ///     own.
    ///   - maxBytes: The maximum size of the body in bytes, above 0; 100 KiB by default.
    ///   - clock: The clock that measures `window`.
    public init(
        window: Duration = .milliseconds(10),
        limit: Int = 10,
        maxBytes: Int = 100 << 10,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.window = window
        self.limit = max(2, limit)
        self.maxBytes = max(1, maxBytes)
        self.clock = clock
    }

    /// Applies to queries and mutations that can be batched.
    public func applies(to operation: NetworkOperation) -> Bool {
        [.query, .mutation].contains(operation.kind) && operation.batchElement != nil
    }

    /// Adds the operation to a batch, and waits for its response.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let outcome = Promise<Batch.Outcome>()
        let batch = join(operation, next, emit, outcome)
        return try await withTaskCancellationHandler {
            await outcome.value
        } onCancel: {
            batch.leave(outcome)
        }.get()
    }

    private func join(
        _ operation: NetworkOperation,
        _ next: Next,
        _ emit: @escaping Emit,
        _ outcome: Promise<Batch.Outcome>
    ) -> Batch {
        let key = Batch.Key(of: operation)
        let (batch, isNew) = open.withLock { open -> (Batch, Bool) in
            if let batch = open[key] { return (batch, false) }
            let batch = Batch(limit: limit, maxBytes: maxBytes)
            open[key] = batch
            return (batch, true)
        }
        guard let isFull = batch.add(operation, emit, outcome) else {
            // The batch is full: it is sent, and this operation begins another.
            close(batch, of: key, next)
            return join(operation, next, emit, outcome)
        }
        if isFull {
            close(batch, of: key, next)
        } else if isNew {
            let (clock, window) = (clock, window)
            batch.wait(
                in: Task { [self] in
                    // The sleep ends early if the batch was already sent.
                    try? await clock.sleep(for: window, tolerance: nil)
                    close(batch, of: key, next)
                }
            )
        }
        return batch
    }

    private func close(_ batch: Batch, of key: Batch.Key, _ next: Next) {
        open.withLock { open in
            if open[key] === batch { open[key] = nil }
        }
        batch.send(next)
    }
}
