extension Pipeline {
    /// A stored response that may replace a network request.
    enum StoredResult {
        /// There is no suitable response, or the operation's policy doesn't prefer a stored one.
        case nothing
        /// A result in memory that no interceptor above the cache needs to see.
        case ready(NetworkOperation.Result)
        /// A result in memory that interceptors above the cache must see.
        case inMemory
        /// Reading the store requires waiting.
        case unknown
    }

    /// Returns the stored response for an operation, if it is available without waiting.
    func storedResult(for operation: NetworkOperation) -> StoredResult {
        guard hasStore, operation.policy.prefersStore, let cache, cache.applies(to: operation) else { return .nothing }
        guard cache.neverBlocks else { return .unknown }
        guard let result = cache.result(inMemoryFor: limited(operation)), isAllowed(result, for: operation) else {
            return .nothing
        }
        let isSeen = aboveCache.contains {
            !($0 is RequestPolicyInterceptor || $0 is ImageInterceptor) && $0.applies(to: operation)
        }
        return isSeen
            ? .inMemory : .ready(Next(pipeline: self, index: aboveCache.endIndex + 1).used(result, for: operation))
    }

    /// Whether a store that requires waiting has a suitable response.
    nonisolated(nonsending) func hasStoredResult(for operation: NetworkOperation) async -> Bool {
        guard let result = await cache?.result(storedFor: limited(operation)) else { return false }
        return isAllowed(result, for: operation)
    }

    /// Returns the operation with the limits on the age of stored responses.
    private func limited(_ operation: NetworkOperation) -> NetworkOperation {
        var operation = operation
        for case let limit as RequestPolicyInterceptor in aboveCache where limit.applies(to: operation) {
            operation = limit.limited(operation)
        }
        return operation
    }

    /// Whether the limit on images allows the result.
    private func isAllowed(_ result: NetworkOperation.Result, for operation: NetworkOperation) -> Bool {
        for case let limit as ImageInterceptor in aboveCache where limit.applies(to: operation) {
            if limit.refusal(of: result, to: operation) != nil { return false }
        }
        return true
    }
}
