#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// The rest of an exchange chain, as an exchange sees it: a function from operations to results.
public typealias ExchangeIO = (AnyPublisher<Operation, Never>) -> AnyPublisher<OperationResult, Never>

/// A link of an exchange chain, through which operations pass on their way down and results on their way up (the
/// protocol of seed `002_aa836df89dbb820a.txt`, which is SwiftGraphQLClient's).
///
/// An exchange may change operations and results, answer operations itself, or both. It connects itself to the streams
/// once, when it is passed to a `Client` or an `ExchangeInterceptor`. From then on, the chain processes one operation
/// or result at a time, whichever threads they come from.
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
/// An exchange must forward all operations that it doesn't handle, and always teardowns, because exchanges below use
/// them to cancel requests in flight.
public protocol Exchange {
    /// Connects the exchange to the streams.
    ///
    /// - Parameters:
    ///   - client: The client that the chain belongs to. It can run operations again, and its exchanges don't keep it
    ///     alive.
    ///   - operations: The operations from above. The publisher is shared: more than one subscription is safe, and
    ///     subscribers receive each operation in the order in which they subscribed.
    ///   - next: The rest of the chain. Must be called once.
    /// - Returns: The results that go up.
    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never>
}
