public import BeagleNet
import BeagleNetHTTP
public import Dispatch

/// Performs an operation with `Beagle.dependencies.networkClient` on `Beagle.dependencies.graphQLEndpoint`. (The function
/// of seed `003_31f48d2a11b2556d.txt`.)
///
/// - Parameters:
///   - operation: what to ask.
///   - completion: called exactly once: with the object, also where errors came beside it, which are logged; else with a
///     `NetworkError`, whose `graphQLErrors` has what the server said. It runs on a thread of the client's, or, for what
///     cannot be sent, on the caller's before this returns.
/// - Returns: the handle that cancels it.
@discardableResult
public func performOperation<Input: Encodable, Output: Decodable & SendableMetatype>(
    _ operation: GraphQLOperation<Input, Output>,
    completion: @escaping @Sendable (Result<Output, any Error>) -> Void
) -> any RequestToken {
    Beagle.dependencies.networkClient.performOperation(operation) { result in
        completion(result.mapError { $0 })
    }
}

extension NetworkClient {
    /// Performs an operation.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - endpoint: where; the container's `graphQLEndpoint` where nil.
    ///   - queue: where the completion runs; on a thread of the client's where nil, and for what cannot be sent on the
    ///     caller's before this returns.
    ///   - completion: called exactly once, with the object or why there is none, as `perform` says.
    /// - Returns: the handle that cancels it.
    @discardableResult
    public func performOperation<Input: Encodable, Output: Decodable & SendableMetatype>(
        _ operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil,
        deliverOn queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Output, NetworkError>) -> Void
    ) -> any RequestToken {
        start(operation, at: endpoint, on: queue, completion) { client, prepared throws(NetworkError) in
            try await client.object(of: prepared)
        }
    }

    /// Performs an operation whose completion gets all that the server said, errors beside the object included.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - endpoint: where; the container's `graphQLEndpoint` where nil.
    ///   - queue: where the completion runs; as with `performOperation` where nil.
    ///   - completion: called exactly once, with what `execute` gives.
    /// - Returns: the handle that cancels it.
    @discardableResult
    public func executeOperation<Input: Encodable, Output: Decodable & SendableMetatype>(
        _ operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil,
        deliverOn queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<GraphQLResponse<Output>, NetworkError>) -> Void
    ) -> any RequestToken {
        start(operation, at: endpoint, on: queue, completion) { client, prepared throws(NetworkError) in
            try await client.response(to: prepared, nil, nil, { _ in })
        }
    }

    private func start<Input: Encodable, Output: Decodable & SendableMetatype, Value>(
        _ operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint?,
        on queue: DispatchQueue?,
        _ completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void,
        _ perform:
            @escaping @Sendable (Self, PreparedOperation) async throws(NetworkError) -> Value
    ) -> any RequestToken {
        do {
            let prepared = try PreparedOperation(operation, at: endpoint, in: container)
            let task = Task {
                let result = await Result<Value, NetworkError>.catching { () throws(NetworkError) in
                    try await perform(self, prepared)
                }
                Self.deliver(result, on: queue, completion)
            }
            return AnyRequestToken(task)
        } catch {
            Self.deliver(.failure(error), on: queue, completion)
            return AnyRequestToken()
        }
    }

    private static func deliver<Value>(
        _ result: sending Result<Value, NetworkError>,
        on queue: DispatchQueue?,
        _ completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) {
        guard let queue else { return completion(result) }
        // Sound without `Sendable`: `sending` says that nobody else holds any part of it, nothing here touches it after this
        // line, and the queue runs the closure once.
        nonisolated(unsafe) let result = result
        queue.async { completion(result) }
    }
}
