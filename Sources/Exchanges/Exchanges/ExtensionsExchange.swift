public import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// An exchange that sets the `extensions` of operations, which replaces existing ones.
public struct ExtensionsExchange: Exchange {
    private let getExtensions: (Operation) -> [String: AnyCodable]?

    /// Creates an exchange that sets the extensions of operations.
    ///
    /// - Parameter getExtensions: Returns the extensions of an operation, or `nil` to send none.
    public init(getExtensions: @escaping (Operation) -> [String: AnyCodable]?) {
        self.getExtensions = getExtensions
    }

    /// Connects the exchange to the streams.
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
