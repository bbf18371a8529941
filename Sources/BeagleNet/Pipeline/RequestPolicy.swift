/// Whether a stored answer will do.
public enum RequestPolicy: Sendable, Hashable, CaseIterable {
    /// A stored answer where there is one, else the network. The default.
    case cacheFirst
    /// A stored answer; without one the operation fails.
    case cacheOnly
    /// The network, whatever is stored.
    case networkOnly
    /// The network; where it cannot be reached, a stored answer, marked stale.
    case networkFirst
    /// A stored answer at once, marked stale, and then the network's.
    case cacheAndNetwork
}
