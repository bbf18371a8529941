#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Hears of the errors that come up past it. It stands above the exchanges that answer.
public struct ErrorExchange: Exchange {
    private let onError: (CombinedError, Operation) -> Void

    /// An exchange that tells of errors.
    ///
    /// - Parameter onError: called with each error, and the operation that it is of, before the result goes on.
    public init(onError: @escaping (CombinedError, Operation) -> Void) {
        self.onError = onError
    }

    /// Hooks it into the streams.
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
