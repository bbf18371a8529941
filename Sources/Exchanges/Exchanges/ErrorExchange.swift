#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// An exchange that reports errors.
///
/// Place it above the exchanges that answer operations.
public struct ErrorExchange: Exchange {
    private let onError: (CombinedError, Operation) -> Void

    /// Creates an exchange that reports errors.
    ///
    /// - Parameter onError: Called with each error and its operation, before the result is passed on.
    public init(onError: @escaping (CombinedError, Operation) -> Void) {
        self.onError = onError
    }

    /// Connects the exchange to the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        next(operations)
            .handleEvents(receiveOutput: { result in
                if let error = result.error { onError(error, result.operation) }
            })
            .eraseToAnyPublisher()
    }
}
