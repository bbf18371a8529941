/// Whether a stored response will do. Policies need a `CacheInterceptor`: without one, all responses come from the
/// network, and `cacheOnly` fails. Requests that may change something, such as forms and mutations, are sent whatever
/// the policy.
public enum RequestPolicy: Sendable, Hashable, CaseIterable {
    /// HTTP's own rules (RFC 9111): a stored response while it is fresh, and after that once the server has confirmed
    /// it. The default of raw requests.
    case http
    /// A stored response if it is fresh or the server states no lifetime; otherwise the network's. `maxAge` limits its
    /// age. While the network is asked, an older response is given as stale, as with `cacheAndNetwork`. The default of
    /// images and queries.
    case cacheFirst
    /// A stored response, fresh or stale. If no response is stored, the operation fails with an error of kind
    /// `.notStored`. Such an operation doesn't join others that ask the network, and `refetch` only looks into the
    /// store again.
    case cacheOnly
    /// The network's response, whatever is stored.
    case networkOnly
    /// The network's response, or the server's confirmation of the stored one. If the server can't be reached, or
    /// responds with 500, 502, 503 or 504, the stored response, marked stale, unless it must be validated (`no-cache`,
    /// `must-revalidate`). The server also counts as unreachable when a time limit of `TransferOptions` or
    /// `NetworkOperation.deadline` expires. If nothing is stored, the operation fails. An operation that joins a run of
    /// another policy shares its failure. The default of screens.
    case networkFirst
    /// The stored response immediately, marked stale, and then the network's response or failure.
    case cacheAndNetwork
}
