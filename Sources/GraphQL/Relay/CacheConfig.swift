public import BeagleNet

/// The options of one execution of an operation, such as its use of stored responses.
///
/// (The names are Relay's.)
public struct CacheConfig: Sendable {
    /// Whether to use the network even if a response is stored.
    ///
    /// The default is `false`.
    public var force: Bool
    /// The interval of repeated executions in seconds, counted from each response, or `nil`, the default, to execute
    /// once.
    public var poll: TimeInterval?
    /// An app-defined value for the code that carries out the execution.
    public var metadata: (any Sendable)?
    /// The name of this execution in logs, or `nil` if it has none.
    public var transactionID: String?
    /// The configuration that a server of live queries should use, or `nil` if the query isn't live.
    public var liveConfigID: String?

    /// Creates a configuration; by default, one without any options.
    ///
    /// - Parameters:
    ///   - force: Whether to use the network even if a response is stored.
    ///   - poll: The interval of repeated executions, in seconds.
    ///   - metadata: An app-defined value for the code that carries out the execution.
    ///   - transactionID: The name of this execution in logs.
    ///   - liveConfigID: The configuration that a server of live queries should use.
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
