public import BeagleNet
import BeagleNetHTTP

/// Sends GraphQL operations that come at about the same time in one request, as a list, and gives each its answer.
///
/// ```swift
/// dependencies.interceptors.add(BatchInterceptor())
/// ```
///
/// Together go operations of one kind, to one URL with the same header fields and options, whose bodies are JSON objects in
/// memory; everything else passes, as what has files, which is a form, and what goes over a WebSocket or an event stream. What
/// finds no company is sent as it is, and alone tells how far it is. Each operation keeps what lies above: sharing, stored
/// answers, retries, credentials, deadlines. Who leaves is not waited for, and the request is cancelled when
/// all have left. Answers of a batch are stored only where the operation has a `partition`.
///
/// Spans, logs and recordings below show the request that went out, under no operation's name: what is to be replayed from a
/// recording should be recorded without batches, as other operations may meet the next time.
///
/// Answers are told apart by their places in the server's list, as nothing in them says whose they are. One that leaves some out
/// fails them all, and so does one that gives them in another order, where that shows: where operations ask for other root
/// fields, and one is given data of a field for which it did not ask. Of operations that ask for the same each would get the
/// answer of another.
///
/// The server must know batches: one that does not answers with an error, which all of the batch get.
public final class BatchInterceptor: Interceptor {
    /// `.persistedQuery`: credentials are on the messages, by which they are told apart.
    public var place: Pipeline.Place? { .persistedQuery }
    /// How long the first of a batch waits for company.
    public let window: Duration
    /// The most operations of a batch.
    public let limit: Int
    /// The most bytes of a batch's body.
    public let maxBytes: Int
    private let clock: any Clock<Duration>
    private let open = Lock<[Batch.Company: Batch]>([:])

    /// Batches of a size.
    ///
    /// - Parameters:
    ///   - window: how long the first of a batch waits for company; 10 ms by default.
    ///   - limit: the most operations of one, above 1; 10 by default, as servers have limits of their own.
    ///   - maxBytes: the most bytes of one, above 0; 100 KiB by default.
    ///   - clock: what `window` is measured with.
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

    /// With queries and mutations that can stand in a list.
    public func applies(to operation: NetworkOperation) -> Bool {
        [.query, .mutation].contains(operation.kind) && operation.listed != nil
    }

    /// Waits for company, and for the answer to it.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try await withCancellableToken { completion in
            join(operation, next, emit, completion)
        }.get()
    }

    private func join(
        _ operation: NetworkOperation,
        _ next: Next,
        _ emit: @escaping Emit,
        _ completion: @escaping Batch.Completion
    ) -> any RequestToken {
        let company = Batch.Company(of: operation)
        let (batch, isNew) = open.withLock { open -> (Batch, Bool) in
            if let batch = open[company] { return (batch, false) }
            let batch = Batch(limit: limit, maxBytes: maxBytes)
            open[company] = batch
            return (batch, true)
        }
        guard let (token, isFull) = batch.add(operation, emit, completion) else {
            // There is no room: it goes, and this one begins another.
            close(batch, of: company, next)
            return join(operation, next, emit, completion)
        }
        if isFull {
            close(batch, of: company, next)
        } else if isNew {
            let (clock, window) = (clock, window)
            batch.wait(
                in: Task { [self] in
                    // A sleep that ends early is that of a batch which was sent.
                    try? await clock.sleep(for: window, tolerance: nil)
                    close(batch, of: company, next)
                }
            )
        }
        return token
    }

    private func close(_ batch: Batch, of company: Batch.Company, _ next: Next) {
        open.withLock { open in
            if open[company] === batch { open[company] = nil }
        }
        batch.send(next)
    }
}
