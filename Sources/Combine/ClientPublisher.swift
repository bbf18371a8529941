public import BeagleNet
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// A publisher of the results of a request.
///
/// The publisher is cold: it sends a request for each subscriber, when the subscriber first requests a value.
/// Cancelling the subscription cancels the request down to the transport, unless another caller shares it.
///
/// Values are delivered on any thread. To change that, use `receive(on:)`; for the main thread it is
/// `receive(on: DispatchQueue.main)`, or without Combine `receive(on: DispatchQueue.main.ocombine)`.
///
/// Up to 64 values that the subscriber hasn't requested yet are buffered; after that the oldest are dropped. Only
/// `RelayNetwork` buffers more: 4,096 results of a subscription, and all pieces if its `pieces` are `.patches`. If
/// results of GraphQL operations are dropped, the container's logger receives a warning, once per subscriber.
public struct ClientPublisher<Output: Sendable>: Publisher, Sendable {
    /// The error type of a failed request.
    public typealias Failure = NetworkError

    typealias Emit = @Sendable (Output) -> Void

    private let limit: Int?
    private let bytes: ByteLimit<Output>?
    private let onDrop: (@Sendable () -> Void)?
    private let produce: @Sendable (@escaping Emit) async throws(NetworkError) -> Void

    /// Creates a publisher.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of buffered values; `nil` for no limit.
    ///   - bytes: The limit on the size of the buffered values; `nil` for no limit.
    ///   - onDrop: Called once per subscriber, when the first value is dropped.
    ///   - produce: Sends the request and emits its results; called in a task for each subscriber.
    init(
        bufferLimit limit: Int? = 64,
        bytes: ByteLimit<Output>? = nil,
        onDrop: (@Sendable () -> Void)? = nil,
        _ produce: @escaping @Sendable (@escaping Emit) async throws(NetworkError) -> Void
    ) {
        self.limit = limit
        self.bytes = bytes
        self.onDrop = onDrop
        self.produce = produce
    }

    /// Attaches a subscriber, whose request is sent when it first requests a value.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == NetworkError {
        let subscription = BufferedSubscription(to: subscriber, bufferLimit: limit, bytes: bytes, onDrop: onDrop) {
            [produce] subscription in
            AnyRequestToken(
                Task {
                    do throws(NetworkError) {
                        try await produce { subscription.send($0) }
                        subscription.finish(.finished)
                    } catch {
                        subscription.finish(.failure(error))
                    }
                }
            )
        }
        subscriber.receive(subscription: subscription)
    }
}

extension NetworkClient {
    /// Returns a publisher of the response to a request.
    ///
    /// A status outside 200...299 is a failure of kind `.status` with response and data.
    public func publisher(for request: Request) -> ClientPublisher<NetworkResponse> {
        ClientPublisher { emit throws(NetworkError) in
            guard let response = try await run(NetworkOperation(request)).response else {
                throw NetworkError(.other, during: .response, "the client returned no complete response")
            }
            emit(response)
        }
    }

    /// Returns a publisher of all results of an operation until it is settled: progress, a stored response, the
    /// network's response.
    public func publisher(for operation: NetworkOperation) -> ClientPublisher<NetworkOperation.Result> {
        ClientPublisher { emit throws(NetworkError) in emit(try await run(operation, emit: emit)) }
    }
}

/// A limit on the total size of values, in bytes.
struct ByteLimit<Value>: Sendable {
    let limit: Int
    /// A closure that returns the size of a value, in bytes.
    let size: @Sendable (Value) -> Int
}
