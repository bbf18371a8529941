public import BeagleNet

/// One execution of an operation for Relay, which interceptors see as `NetworkOperation.relayExecution`.
///
/// Operations that share a run are given that of the first.
public struct RelayExecution: Sendable {
    /// Which operation.
    public var request: RequestParameters
    /// What it was told, `metadata` and `transactionID` among it.
    public var cacheConfig: CacheConfig

    /// An execution.
    public init(request: RequestParameters, cacheConfig: CacheConfig) {
        self.request = request
        self.cacheConfig = cacheConfig
    }
}

extension NetworkOperation {
    private enum RelayExecutionKey: ContextKey { static let defaultValue: RelayExecution? = nil }

    /// The execution that this operation is for; nil, the default, of all others.
    public var relayExecution: RelayExecution? {
        get { context[RelayExecutionKey.self] }
        set { context[RelayExecutionKey.self] = newValue }
    }
}
