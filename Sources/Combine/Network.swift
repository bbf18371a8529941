public import BeagleNetGraphQL
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Executes the operations of an app for Relay: the protocol of seed `000_da437bb786693eb1.txt`, which an app implements
/// with whatever it likes, or takes `RelayNetwork`.
public protocol Network {
    /// Executes an operation.
    ///
    /// - Parameters:
    ///   - request: which operation.
    ///   - variables: its variables.
    ///   - cacheConfig: how stored answers are treated.
    /// - Returns: gives the answer: the text of a JSON object with `data`, `errors`, or both.
    func execute(
        request: RequestParameters,
        variables: VariableData,
        cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error>
}
