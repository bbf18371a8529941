import BeagleNetHTTP

/// Stores responses in memory and on a disk, so that those that were used recently are served without waiting.
///
/// Responses that are read from the disk are added to the memory. New ones go to both, except those of keys that aren't
/// persistent, which stay in memory.
public struct TieredResponseStore: ResponseStore {
    private let tier: MemoryResponseStore
    /// The store on the disk.
    public let disk: any ResponseStore
    /// The number of changes. A response that was read from the disk before a change isn't added to the memory after
    /// it.
    private let changes = Lock(0)

    /// Creates a store of two tiers.
    ///
    /// - Parameters:
    ///   - memory: The tier in memory; by default one of at most 16 MiB.
    ///   - disk: The tier on the disk.
    public init(memory: MemoryResponseStore = MemoryResponseStore(), disk: any ResponseStore) {
        tier = memory
        self.disk = disk
    }

    /// The tier in memory.
    public var memory: MemoryResponseStore? { tier }
    /// The number of removals from the memory, which are before and after those from the disk.
    public var removals: Int { tier.removals }

    /// Whether one of the tiers accepts the response.
    public func accepts(_ key: ResponseKey, byteCount: Int) -> Bool {
        tier.accepts(key, byteCount: byteCount) || diskAccepts(key, byteCount: byteCount)
    }

    private func diskAccepts(_ key: ResponseKey, byteCount: Int) -> Bool {
        key.isPersistent && disk.accepts(key, byteCount: byteCount)
    }

    /// The form in which the disk holds values. The memory holds the same.
    public func digest(_ value: String) -> String { disk.digest(value) }

    /// The stored responses of a key, of both tiers: another process may have changed the disk, and the memory may hold
    /// only some of the variants.
    public func responses(for key: ResponseKey) async -> [StoredResponse] {
        guard key.isPersistent else { return tier.responses(for: key) }
        let changes = changes.withLock { $0 }
        let stored = await disk.responses(for: key)
        return self.changes.withLock { count in
            var responses = tier.responses(for: key)
            // The memory has more if the disk failed, or has evicted something.
            for response in stored where !responses.contains(where: { $0.isSameVariant(as: response, orNewer: true) }) {
                responses.removeAll { $0.isSameVariant(as: response) }
                responses.append(response)
                if count == changes { tier.insert(response, for: key) }
            }
            return responses
        }
    }

    /// Stores a response in the tiers that accept it. A tier that doesn't accept it forgets the older response.
    public func insert(_ response: StoredResponse, for key: ResponseKey) async {
        forget { $0.insert(response, for: key) }
        guard key.isPersistent else { return }
        if disk.accepts(key, byteCount: response.body.count) {
            await disk.insert(response, for: key)
        } else {
            await disk.remove(key)
        }
    }

    /// Removes the responses of a key.
    public func remove(_ key: ResponseKey) async {
        forget { $0.remove(key) }
        guard key.isPersistent else { return }
        await disk.remove(key)
        forget { $0.remove(key) }
    }

    /// Removes the responses of an origin that a user has.
    public func removeAll(ofOriginOf key: ResponseKey) async {
        forget { $0.removeAll(ofOriginOf: key) }
        guard key.isPersistent else { return }
        await disk.removeAll(ofOriginOf: key)
        forget { $0.removeAll(ofOriginOf: key) }
    }

    /// Removes the responses of a user.
    public func removeAll(of partition: String) async {
        forget { $0.removeAll(of: partition) }
        await disk.removeAll(of: partition)
        forget { $0.removeAll(of: partition) }
    }

    /// Removes all responses.
    public func removeAll() async {
        forget { $0.removeAll() }
        await disk.removeAll()
        forget { $0.removeAll() }
    }

    /// Changes the memory such that no response is added to it that was read from the disk before.
    ///
    /// Removals do so twice: a response that is read between them may be added and is removed again.
    private func forget(_ change: (MemoryResponseStore) -> Void) {
        changes.withLock { count in
            count += 1
            change(tier)
        }
    }
}

extension StoredResponse {
    fileprivate func isSameVariant(as other: StoredResponse, orNewer mustBeNewer: Bool = false) -> Bool {
        selectingFields == other.selectingFields && (!mustBeNewer || responseTime >= other.responseTime)
    }
}
