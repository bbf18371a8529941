package import BeagleNetCache

extension NetworkOperation {
    /// Returns the responses to this operation that a store has: the complete ones, and the beginnings of others whose
    /// transfer ended early.
    package func storedResponses(
        in store: any ResponseStore
    ) async -> (complete: [StoredResponse], beginnings: [StoredResponse]) {
        guard var key = responseKey else { return ([], []) }
        if let ruleKey = key.varianceKey, let rule = await store.responses(for: ruleKey).first {
            key = key.reduced(by: rule)
        }
        return (await store.responses(for: key), await store.responses(for: key.beginningKey))
    }
}
