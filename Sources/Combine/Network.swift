public import BeagleNetGraphQL
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// A network layer that executes operations for Relay.
///
/// This is the protocol of seed `000_da437bb786693eb1.txt`. An app implements it in any way it likes, or uses
/// `RelayNetwork`.
public protocol Network {
    /// Executes an operation.
    ///
    /// - Parameters:
    ///   - request: The operation to execute.
    ///   - variables: The variables of the operation.
    ///   - cacheConfig: The use of stored responses.
    /// - Returns: A publisher of responses, each the text of a JSON object with `data`, `errors`, or both.
    func execute(
        request: RequestParameters,
        variables: VariableData,
        cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error>
}
