import BeagleNetCache

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
        guard hasStore, operation.policy.prefersStore, let cache, let key = operation.responseKey,
            operation.hasKeyedPartition
        else { return .nothing }
        let found = cache.store.memory.flatMap { memory in
            acceptable(CacheLookup(limited(operation), key, memory, of: cache.store))
        }
        guard let found else { return cache.neverBlocks ? .nothing : .unknown }
        let isSeen = otherStepsAboveCache.contains { $0.interceptor.applies(to: operation) }
        return isSeen ? .inMemory : .ready(belowCache.used(found, for: operation))
    }

    /// Whether a store that requires waiting has a suitable response.
    nonisolated(nonsending) func hasStoredResult(for operation: NetworkOperation) async -> Bool {
        guard let cache, let key = operation.responseKey else { return false }
        return acceptable(await CacheLookup(limited(operation), key, cache.store)) != nil
    }

    /// The result of a lookup that nothing else has to happen for.
    private func acceptable(_ lookup: CacheLookup) -> NetworkOperation.Result? {
        guard case .hit(let stored) = lookup.decision, stored.head.status.kind == .successful,
            let result = lookup.result(stored), isAllowed(result, for: lookup.operation)
        else { return nil }
        return result
    }

    /// Returns the operation with the limits on the age of stored responses.
    private func limited(_ operation: NetworkOperation) -> NetworkOperation {
        ageLimits.reduce(operation) { $1.applies(to: $0) ? $1.limited($0) : $0 }
    }

    /// Whether the limit on images allows the result.
    private func isAllowed(_ result: NetworkOperation.Result, for operation: NetworkOperation) -> Bool {
        imageLimits.allSatisfy { !$0.applies(to: operation) || $0.refusal(of: result, to: operation) == nil }
    }
}

extension Pipeline.Next {
    /// Whether responses with a status outside of 200...299 fail.
    var failsOnStatus: Bool { pipeline.failsOnStatus }

    /// The outcome of an operation with a result from a store: a failure if its status is one.
    func outcome(of result: NetworkOperation.Result, for operation: NetworkOperation) -> NetworkOperation.Outcome {
        guard failsOnStatus, !operation.isStream, let response = result.response, response.status.kind != .successful
        else {
            return .success(result)
        }
        return .failure(response.statusError(for: operation.transfer.head))
    }
}
