import BeagleNetDependencies
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Says at level `debug` which operations go down past it, and which results come up.
public struct DebugExchange: Exchange {
    private let debug: Bool

    /// An exchange that says what passes.
    ///
    /// - Parameter debug: whether it says anything.
    public init(debug: Bool = true) {
        self.debug = debug
    }

    /// Hooks it into the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        guard debug else { return next(operations) }
        return LogExchange(level: .debug).register(client: client, operations: operations, next: next)
    }
}
