import BeagleNetCache

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
        guard hasStore, operation.policy.prefersStore, let cache, let key = operation.responseKey,
            operation.isOfKeyedPartition
        else { return .nothing }
        let found = cache.store.memory.flatMap { memory in
            acceptable(CacheLookup(limited(operation), key, memory))
        }
        guard let found else { return cache.neverBlocks ? .nothing : .unknown }
        let isSeen = aboveCache.contains {
            !($0 is RequestPolicyInterceptor || $0 is ImageInterceptor) && $0.applies(to: operation)
        }
        return isSeen
            ? .inMemory : .ready(Next(pipeline: self, index: aboveCache.endIndex + 1).used(found, for: operation))
    }

    /// Whether a store that has to be waited for has a response that will do.
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

extension Pipeline.Next {
    /// Whether responses with a status outside of 200...299 fail.
    var failsOnStatus: Bool { pipeline.failsOnStatus }

    /// The outcome of an operation with a response that was taken from a store.
    func outcome(of response: NetworkResponse, for operation: NetworkOperation) -> NetworkOperation.Outcome {
        if response.status.kind != .successful, failsOnStatus {
            return .failure(response.refusal(of: operation.transfer.head))
        }
        return .success(.init(response))
    }
}
