/// Whether a stored answer will do. A `CacheInterceptor` makes it so: without one, all are the network's but
/// `cacheOnly`, which fails. What may act, as forms and mutations, asks the network whatever the policy.
public enum RequestPolicy: Sendable, Hashable, CaseIterable {
    /// A stored answer where there is one, else the network. The default. One that is older than `maxAge` is not enough:
    /// then it is as `cacheAndNetwork`.
    case cacheFirst
    /// A stored answer; without one the operation fails with an error of kind `.notStored`. Who asks or watches so joins
    /// nobody who asks the network, and `refetch` looks into the store once more.
    case cacheOnly
    /// The network, whatever is stored.
    case networkOnly
    /// The network; where it cannot be reached, or the server answers 500, 502, 503 or 504, a stored answer, marked stale.
    /// The time limits of `TransferOptions` say when it cannot be reached, and so does a `NetworkOperation.deadline` that
    /// passes first; where nothing is stored, it is the operation's failure. Who joins a run of another policy that is
    /// under way has that run's failure, whatever is stored.
    case networkFirst
    /// A stored answer at once, marked stale, and then the network's, or its failure.
    case cacheAndNetwork
}
