/// A policy that decides whether stored responses are used.
///
/// A `CacheInterceptor` applies it. Without one, all policies use the network except `cacheOnly`, which fails.
/// Operations that may change data, such as forms and mutations, use the network whatever the policy.
public enum RequestPolicy: Sendable, Hashable, CaseIterable {
    /// Uses a stored response if there is one, otherwise the network. The default. If the stored response is older than
    /// `maxAge`, behaves as `cacheAndNetwork`.
    case cacheFirst
    /// Uses a stored response; without one, the operation fails with an error of kind `.notStored`. Such an operation
    /// never joins one that uses the network, and `refetch` reads the store again.
    case cacheOnly
    /// Uses the network, whatever is stored.
    case networkOnly
    /// Uses the network. If the server can't be reached or returns 500, 502, 503 or 504, uses a stored response, marked
    /// stale.
    ///
    /// The server counts as unreachable when a time limit of `TransferOptions` or the `NetworkOperation.deadline`
    /// passes. Without a stored response, the operation fails with that error. An operation that joins a run of another
    /// policy gets that run's failure, whatever is stored.
    case networkFirst
    /// Emits a stored response immediately, marked stale, and then returns the network's response or its error.
    case cacheAndNetwork
}
