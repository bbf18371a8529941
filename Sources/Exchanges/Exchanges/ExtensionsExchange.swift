public import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Tells the server more with operations: replaces their `extensions`.
public struct ExtensionsExchange: Exchange {
    private let getExtensions: (Operation) -> [String: AnyCodable]?

    /// An exchange that sets the extensions of operations.
    ///
    /// - Parameter getExtensions: those of an operation; nil sends none.
    public init(getExtensions: @escaping (Operation) -> [String: AnyCodable]?) {
        self.getExtensions = getExtensions
    }

    /// Hooks it into the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        next(
            operations.map { operation in
                guard operation.kind != .teardown else { return operation }
                var operation = operation
                operation.args.extensions = getExtensions(operation)
                return operation
            }
            .eraseToAnyPublisher()
        )
    }
}
