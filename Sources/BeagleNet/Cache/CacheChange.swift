import BeagleNetCache

/// A change of a store.
enum CacheChange: Sendable {
    case remove(ResponseKey)
    case removeOrigin(ResponseKey)
    case insert(StoredResponse, ResponseKey)
    /// Also the rule that says which parts of the query count.
    case insertWithRule(StoredResponse, ResponseKey, StoredResponse, ResponseKey)

    func apply(to memory: MemoryResponseStore) {
        switch self {
        case .remove(let key): memory.remove(key)
        case .removeOrigin(let key): memory.removeAll(ofOriginOf: key)
        case .insert(let response, let key): memory.insert(response, for: key)
        case .insertWithRule(let response, let key, let rule, let ruleKey):
            memory.insert(rule, for: ruleKey)
            memory.insert(response, for: key)
        }
    }

    func apply(to store: any ResponseStore) async {
        switch self {
        case .remove(let key): await store.remove(key)
        case .removeOrigin(let key): await store.removeAll(ofOriginOf: key)
        case .insert(let response, let key): await store.insert(response, for: key)
        case .insertWithRule(let response, let key, let rule, let ruleKey):
            await store.insert(rule, for: ruleKey)
            await store.insert(response, for: key)
        }
    }
}

extension [CacheChange] {
    func apply(to memory: MemoryResponseStore) {
        for change in self { change.apply(to: memory) }
    }

    func apply(to store: any ResponseStore) async {
        for change in self { await change.apply(to: store) }
    }
}
