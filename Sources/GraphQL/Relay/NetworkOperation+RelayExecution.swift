public import BeagleNet

extension NetworkOperation {
    /// One execution of an operation for Relay, which interceptors see as `NetworkOperation.relayExecution`.
    ///
    /// Operations that share a run receive the execution of the first one.
    public struct RelayExecution: Sendable {
        /// The operation.
        public var request: RequestParameters
        /// The options of the execution, including `metadata` and `transactionID`.
        public var cacheConfig: CacheConfig

        /// Creates an execution.
        public init(request: RequestParameters, cacheConfig: CacheConfig) {
            self.request = request
            self.cacheConfig = cacheConfig
        }
    }
}

extension NetworkOperation {
    private enum RelayExecutionKey: ContextKey { static let defaultValue: RelayExecution? = nil }

    /// The Relay execution of this operation.
    ///
    /// `nil`, the default, for operations outside of Relay.
    public var relayExecution: RelayExecution? {
        get { context[RelayExecutionKey.self] }
        set { context[RelayExecutionKey.self] = newValue }
    }
}
