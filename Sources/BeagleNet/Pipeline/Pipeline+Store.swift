extension Pipeline {
    /// A stored response for an operation that prefers it to the network's.
    enum StoredResult {
        /// Nothing that will do, or the operation doesn't prefer it.
        case nothing
        /// A result in memory, with which no interceptor above the cache has anything to do.
        case ready(NetworkOperation.Result)
        /// A result in memory, which interceptors above the cache are to see.
        case inMemory
        /// The store has to be waited for.
        case unknown
    }

    /// The stored response for an operation, if that is known without waiting.
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

    /// Whether a store that has to be waited for has a response that will do.
    nonisolated(nonsending) func hasStoredResult(for operation: NetworkOperation) async -> Bool {
        guard let result = await cache?.result(storedFor: limited(operation)) else { return false }
        return isAllowed(result, for: operation)
    }

    /// The operation with the limits on the age of stored responses.
    private func limited(_ operation: NetworkOperation) -> NetworkOperation {
        var operation = operation
        for case let limit as RequestPolicyInterceptor in aboveCache where limit.applies(to: operation) {
            operation = limit.limited(operation)
        }
        return operation
    }

    /// Whether the image limit allows it.
    private func isAllowed(_ result: NetworkOperation.Result, for operation: NetworkOperation) -> Bool {
        for case let limit as ImageInterceptor in aboveCache where limit.applies(to: operation) {
            if limit.refusal(of: result, to: operation) != nil { return false }
        }
        return true
    }
}
