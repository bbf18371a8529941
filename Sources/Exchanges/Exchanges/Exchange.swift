#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// The rest of the ladder, as an exchange sees it: operations go in, results come out.
public typealias ExchangeIO = (AnyPublisher<Operation, Never>) -> AnyPublisher<OperationResult, Never>

/// One rung of a ladder: operations go down past it, results come up (the protocol of seed
/// `002_aa836df89dbb820a.txt`, which is SwiftGraphQLClient's).
///
/// An exchange changes operations or results that pass, answers operations itself, or both. It hooks itself into the
/// streams once, when a `Client` or an `ExchangeInterceptor` is made of it; from then on everything runs in turns: no two
/// operations or results are in the ladder at the same time, whichever threads they are from.
///
/// ```swift
/// struct DoNothingExchange: Exchange {
///     func register(
///         client: GraphQLClient,
///         operations: AnyPublisher<BeagleNetExchanges.Operation, Never>,
///         next: @escaping ExchangeIO
///     ) -> AnyPublisher<OperationResult, Never> {
///         next(operations)
///     }
/// }
/// ```
///
/// What it does not handle it must hand on, teardowns above all: below they end what is under way.
public protocol Exchange {
    /// Hooks the exchange into the streams.
    ///
    /// - Parameters:
    ///   - client: whose ladder it is; it can run operations again, and is not kept alive by its exchanges.
    ///   - operations: what comes from above. It is shared: subscribing to it twice is safe, and each operation goes to the
    ///     one who subscribed first first.
    ///   - next: the rest of the ladder. To be called once.
    /// - Returns: what goes up.
    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never>
}
