import BeagleNetDependencies
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// An exchange that logs operations and results at level `debug`.
public struct DebugExchange: Exchange {
    private let debug: Bool

    /// Creates an exchange that logs operations and results.
    ///
    /// - Parameter debug: Whether it logs anything.
    public init(debug: Bool = true) {
        self.debug = debug
    }

    /// Connects the exchange to the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        guard debug else { return next(operations) }
        return LogExchange(level: .debug).register(client: client, operations: operations, next: next)
    }
}
