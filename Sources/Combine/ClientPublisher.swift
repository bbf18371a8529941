public import BeagleNet
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Gives what comes of a request. Cold: nothing is asked before somebody wants a value, and each subscriber asks anew.
///
/// Values come on any thread: say where they are wanted with `receive(on:)`, on the main thread
/// `receive(on: DispatchQueue.main)`, without Combine `receive(on: DispatchQueue.main.ocombine)`. Cancelling ends the
/// request, down to the transport, unless somebody else waits for the same. Values that nobody wants yet are kept, up to
/// 64 of them; then the oldest make room. Only `RelayNetwork` keeps more: 4,096 results of a subscription, and all pieces
/// where its `pieces` are `.patches`. Of results that had to make room the container's logger is told, once for each
/// subscriber.
public struct ClientPublisher<Output: Sendable>: Publisher, Sendable {
    /// Why there is no answer.
    public typealias Failure = NetworkError

    typealias Emit = @Sendable (Output) -> Void

    private let limit: Int?
    private let bytes: ByteLimit<Output>?
    private let onDrop: (@Sendable () -> Void)?
    private let produce: @Sendable (@escaping Emit) async throws(NetworkError) -> Void

    /// - Parameters:
    ///   - limit: how many values are kept that nobody wants yet; nil keeps all.
    ///   - bytes: how many bytes they may have; nil counts none.
    ///   - onDrop: hears, once for each subscriber, that values had to make room.
    ///   - produce: asks, and sends what comes; called in a task for each subscriber.
    init(
        keeping limit: Int? = 64,
        bytes: ByteLimit<Output>? = nil,
        onDrop: (@Sendable () -> Void)? = nil,
        _ produce: @escaping @Sendable (@escaping Emit) async throws(NetworkError) -> Void
    ) {
        self.limit = limit
        self.bytes = bytes
        self.onDrop = onDrop
        self.produce = produce
    }

    /// Connects a subscriber, for whom it is asked when it wants a value.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == NetworkError {
        let outlet = Outlet(to: subscriber, keeping: limit, bytes: bytes, onDrop: onDrop) { [produce] outlet in
            AnyRequestToken(
                Task {
                    do throws(NetworkError) {
                        try await produce { outlet.send($0) }
                        outlet.finish(.finished)
                    } catch {
                        outlet.finish(.failure(error))
                    }
                }
            )
        }
        subscriber.receive(subscription: outlet)
    }
}

extension NetworkClient {
    /// A publisher of a request's answer, whose status is in 200...299; any other is a failure of kind `.status` with
    /// response and data.
    public func publisher(for request: Request) -> ClientPublisher<NetworkResponse> {
        ClientPublisher { emit throws(NetworkError) in
            guard let response = try await run(NetworkOperation(request)).response else {
                throw NetworkError(.other, during: .response, "the client returned no complete response")
            }
            emit(response)
        }
    }

    /// A publisher of all that comes of an operation, up to its settled result: progress, a stored answer, the network's.
    public func publisher(for operation: NetworkOperation) -> ClientPublisher<NetworkOperation.Result> {
        ClientPublisher { emit throws(NetworkError) in emit(try await run(operation, emit: emit)) }
    }
}
