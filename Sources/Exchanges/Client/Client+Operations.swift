#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif
#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension Client {
    /// Returns a publisher of a query's results, including those of each later run.
    ///
    /// - Parameters:
    ///   - args: The document, the variables and the other parameters.
    ///   - request: The URL and header fields, or `nil` for the client's.
    ///   - policy: Whether a stored result may be used.
    ///   - types: The names of the types in the query's result, as far as they are known.
    public func query(
        _ args: ExecutionArgs,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) -> AnyPublisher<OperationResult, Never> {
        execute(operation: operation(.query, args, request, policy, types))
    }

    /// Returns a publisher of a mutation's single result.
    ///
    /// Each subscriber runs the mutation.
    ///
    /// - Parameters:
    ///   - args: The document, the variables and the other parameters.
    ///   - request: The URL and header fields, or `nil` for the client's.
    ///   - policy: A policy for exchanges of your own. The built-in exchanges always use the network.
    ///   - types: The names of the types that the mutation changes. Stored results that contain one of them are
    ///     removed.
    public func mutate(
        _ args: ExecutionArgs,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) -> AnyPublisher<OperationResult, Never> {
        Deferred { [self] in execute(operation: operation(.mutation, args, request, policy, types)) }
            .eraseToAnyPublisher()
    }

    /// Returns a publisher of a subscription's results, until the server ends it.
    ///
    /// - Parameters:
    ///   - args: The document, the variables and the other parameters.
    ///   - request: The URL and header fields, or `nil` for the client's.
    ///   - policy: A policy for exchanges of your own. The built-in exchanges always use the network.
    ///   - types: The names of the types in the subscription's results, as far as they are known.
    public func subscribe(
        to args: ExecutionArgs,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) -> AnyPublisher<OperationResult, Never> {
        execute(operation: operation(.subscription, args, request, policy, types))
    }

    /// Returns the first result of a query that isn't stale and has no more results after it.
    ///
    /// - Parameters: As for the publisher of the same name.
    /// - Throws: `CancellationError` if the task is cancelled, or `NetworkError` of kind `.cancelled` if another
    ///   teardown ends the operation before it has a result. Other errors are in the result.
    public func query(
        _ args: ExecutionArgs,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) async throws -> OperationResult {
        try await first(of: operation(.query, args, request, policy, types))
    }

    /// Returns the result of a mutation.
    ///
    /// - Parameters: As for the publisher of the same name.
    /// - Throws: `CancellationError` if the task is cancelled, or `NetworkError` of kind `.cancelled` if another
    ///   teardown ends the operation before it has a result. Other errors are in the result.
    public func mutate(
        _ args: ExecutionArgs,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) async throws -> OperationResult {
        try await first(of: operation(.mutation, args, request, policy, types))
    }

    /// Returns the first result of a query that isn't stale and has no more results after it, with its data decoded.
    ///
    /// - Parameters:
    ///   - args: The document, the variables and the other parameters.
    ///   - type: The type to decode.
    ///   - request: The URL and header fields, or `nil` for the client's.
    ///   - policy: Whether a stored result may be used.
    ///   - types: The names of the types in the query's result, as far as they are known.
    /// - Throws: The result's `CombinedError` if there is no data, `NetworkError` of kind `.decoding` if the data can't
    ///   be decoded as the type, `CancellationError` if the task is cancelled, or `NetworkError` of kind `.cancelled`
    ///   if another teardown ends the operation.
    public func query<T: Decodable>(
        _ args: ExecutionArgs,
        as type: T.Type,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) async throws -> DecodedOperationResult<T> {
        try await query(args, request: request, policy: policy, types: types).decoded(as: type)
    }

    /// Returns the result of a mutation, with its data decoded.
    ///
    /// - Parameters: As for the query of the same name.
    /// - Throws: The same errors as the query of the same name.
    public func mutate<T: Decodable>(
        _ args: ExecutionArgs,
        as type: T.Type,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) async throws -> DecodedOperationResult<T> {
        try await mutate(args, request: request, policy: policy, types: types).decoded(as: type)
    }

    /// Creates a client with `DedupExchange`, `CacheExchange` and `FetchExchange`.
    ///
    /// - Parameter request: The URL and header fields of operations.
    public convenience init(request: URLRequest) {
        self.init(request: request, exchanges: [DedupExchange(), CacheExchange(), FetchExchange()])
    }

    private func operation(
        _ kind: Operation.Kind,
        _ args: ExecutionArgs,
        _ request: URLRequest?,
        _ policy: Operation.Policy,
        _ types: [String]
    ) -> Operation {
        let request = request ?? self.request
        let id = Operation.id(of: kind, request, args)
        return Operation(id: id, kind: kind, request: request, policy: policy, types: types, args: args)
    }

    private func first(of operation: Operation) async throws -> OperationResult {
        let results = execute(operation: operation)
        return try await FirstValue.of(results.filter(\.isSettled))
    }
}

extension OperationResult {
    fileprivate func decoded<T: Decodable>(as type: T.Type) throws -> DecodedOperationResult<T> {
        if let error, data == .null { throw error }
        return try decode(type)
    }
}
