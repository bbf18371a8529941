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
    /// A publisher of what comes of a query, now and each time it is run again.
    ///
    /// - Parameters:
    ///   - args: what is sent.
    ///   - request: where; the client's where nil.
    ///   - policy: whether a stored answer will do.
    ///   - types: the names of the types that its answer is made of, as far as they are known.
    public func query(
        _ args: ExecutionArgs,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) -> AnyPublisher<OperationResult, Never> {
        execute(operation: operation(.query, args, request, policy, types))
    }

    /// A publisher of what comes of a mutation: one result. Each who subscribes to it performs it.
    ///
    /// - Parameters:
    ///   - args: what is sent.
    ///   - request: where; the client's where nil.
    ///   - policy: for exchanges of your own; ours always ask the network.
    ///   - types: the names of the types that it changes: stored answers that are made of one are forgotten.
    public func mutate(
        _ args: ExecutionArgs,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) -> AnyPublisher<OperationResult, Never> {
        Deferred { [self] in execute(operation: operation(.mutation, args, request, policy, types)) }
            .eraseToAnyPublisher()
    }

    /// A publisher of what a subscription gives, up to its end.
    ///
    /// - Parameters:
    ///   - args: what is sent.
    ///   - request: where; the client's where nil.
    ///   - policy: for exchanges of your own; ours always ask the network.
    ///   - types: the names of the types that its answers are made of, as far as they are known.
    public func subscribe(
        to args: ExecutionArgs,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) -> AnyPublisher<OperationResult, Never> {
        execute(operation: operation(.subscription, args, request, policy, types))
    }

    /// The first result of a query that is not stale and has no more after it.
    ///
    /// - Parameters: as of the publisher of the same name.
    /// - Throws: `CancellationError` where the task is cancelled; `NetworkError` of kind `.cancelled` where the operation was torn
    ///   down by somebody else before it had an answer. What went wrong otherwise is in the result.
    public func query(
        _ args: ExecutionArgs,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) async throws -> OperationResult {
        try await first(of: operation(.query, args, request, policy, types))
    }

    /// The result of a mutation.
    ///
    /// - Parameters: as of the publisher of the same name.
    /// - Throws: `CancellationError` where the task is cancelled; `NetworkError` of kind `.cancelled` where the operation was torn
    ///   down by somebody else before it had an answer. What went wrong otherwise is in the result.
    public func mutate(
        _ args: ExecutionArgs,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) async throws -> OperationResult {
        try await first(of: operation(.mutation, args, request, policy, types))
    }

    /// The first result of a query that is not stale and has no more after it, with a value made of its data.
    ///
    /// - Parameters:
    ///   - args: what is sent.
    ///   - type: what to make of the data.
    ///   - request: where; the client's where nil.
    ///   - policy: whether a stored answer will do.
    ///   - types: the names of the types that its answer is made of, as far as they are known.
    /// - Throws: its `CombinedError` where there is no data, `NetworkError` of kind `.decoding` where it is not of the type,
    ///   `CancellationError` where the task is cancelled, `NetworkError` of kind `.cancelled` where somebody else tore the
    ///   operation down.
    public func query<T: Decodable>(
        _ args: ExecutionArgs,
        as type: T.Type,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) async throws -> DecodedOperationResult<T> {
        try await query(args, request: request, policy: policy, types: types).decoded(as: type)
    }

    /// The result of a mutation, with a value made of its data.
    ///
    /// - Parameters: as of the query of the same name.
    /// - Throws: as the query of the same name does.
    public func mutate<T: Decodable>(
        _ args: ExecutionArgs,
        as type: T.Type,
        request: URLRequest? = nil,
        policy: Operation.Policy = .cacheFirst,
        types: [String] = []
    ) async throws -> DecodedOperationResult<T> {
        try await mutate(args, request: request, policy: policy, types: types).decoded(as: type)
    }

    /// A client with `DedupExchange`, `CacheExchange` and `FetchExchange`.
    ///
    /// - Parameter request: where operations go: URL and header fields.
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
