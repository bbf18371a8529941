public import BeagleNet

/// How one execution of an operation treats stored answers, and what else it is told. (The words are Relay's.)
public struct CacheConfig: Sendable {
    /// Whether the network is asked whatever is stored. No by default.
    public var force: Bool
    /// After how many seconds the operation is executed again, counted from its answer; nil, the default: never.
    public var poll: TimeInterval?
    /// What the app wants to hand to whoever carries the execution out.
    public var metadata: (any Sendable)?
    /// What this execution is called in logs; nil where it needs no name.
    public var transactionID: String?
    /// Which configuration a server of live queries is to use; nil where the query isn't live.
    public var liveConfigID: String?

    /// A configuration; by default, one in which nothing is asked for.
    ///
    /// - Parameters:
    ///   - force: whether the network is asked whatever is stored.
    ///   - poll: after how many seconds the operation is executed again.
    ///   - metadata: what is handed to whoever carries the execution out.
    ///   - transactionID: what this execution is called in logs.
    ///   - liveConfigID: which configuration a server of live queries is to use.
    public init(
        force: Bool = false,
        poll: TimeInterval? = nil,
        metadata: (any Sendable)? = nil,
        transactionID: String? = nil,
        liveConfigID: String? = nil
    ) {
        self.force = force
        self.poll = poll
        self.metadata = metadata
        self.transactionID = transactionID
        self.liveConfigID = liveConfigID
    }
}
