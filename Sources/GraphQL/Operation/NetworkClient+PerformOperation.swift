public import BeagleNet
import BeagleNetHTTP
public import Dispatch

/// Performs an operation with `Beagle.dependencies.networkClient` on `Beagle.dependencies.graphQLEndpoint`.
///
/// The function comes from seed `003_31f48d2a11b2556d.txt`.
///
/// - Parameters:
///   - operation: The operation to perform.
///   - completion: Called exactly once, with the object or a `NetworkError`, whose `graphQLErrors` has the server's
///     errors. If there is an object, errors are only logged. It runs on a thread of the client's; for an operation
///     that can't be sent it runs on the caller's thread before this function returns.
/// - Returns: A token that cancels the operation.
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
    /// Performs an operation and passes its value to a completion handler.
    ///
    /// - Parameters:
    ///   - operation: The operation to perform.
    ///   - endpoint: The endpoint, or `nil` for the container's `graphQLEndpoint`.
    ///   - queue: The queue for the completion. If `nil`, it runs on a thread of the client's; for an operation that
    ///     can't be sent it runs on the caller's thread before this method returns.
    ///   - completion: Called exactly once, with the object or an error of `perform`.
    /// - Returns: A token that cancels the operation.
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

    /// Performs an operation and passes the complete response, including errors, to a completion handler.
    ///
    /// - Parameters:
    ///   - operation: The operation to perform.
    ///   - endpoint: The endpoint, or `nil` for the container's `graphQLEndpoint`.
    ///   - queue: The queue for the completion; if `nil`, the same threads as in `performOperation`.
    ///   - completion: Called exactly once, with the result of `execute`.
    /// - Returns: A token that cancels the operation.
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
        // Safe without `Sendable`: `sending` guarantees that no other code refers to any part of the result, it is not
        // accessed here after this line, and the queue runs the closure once.
        nonisolated(unsafe) let result = result
        queue.async { completion(result) }
    }
}
