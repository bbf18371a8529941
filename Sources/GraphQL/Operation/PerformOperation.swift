public import BeagleNet
import BeagleNetHTTP

/// Performs an operation with `Beagle.dependencies.networkClient` on `Beagle.dependencies.graphQLEndpoint`. (The function
/// of seed `003_31f48d2a11b2556d.txt`.)
///
/// - Parameters:
///   - operation: what to ask.
///   - completion: called exactly once, on a thread of the client's: with the object, also where errors came beside it,
///     which are logged; else with a `NetworkError`, whose `graphQLErrors` has what the server said.
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
    ///   - completion: called exactly once, with the object or why there is none, as `perform` says. What cannot be sent
    ///     is told before this returns.
    /// - Returns: the handle that cancels it.
    @discardableResult
    public func performOperation<Input: Encodable, Output: Decodable & SendableMetatype>(
        _ operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil,
        completion: @escaping @Sendable (Result<Output, NetworkError>) -> Void
    ) -> any RequestToken {
        do {
            let prepared = try PreparedOperation(operation, at: endpoint, in: container)
            let task = Task {
                let result = await Result<Output, NetworkError>.catching { () throws(NetworkError) in
                    try await object(of: prepared)
                }
                completion(result)
            }
            return TaskToken(task)
        } catch {
            completion(.failure(error))
            return EndedToken()
        }
    }
}
