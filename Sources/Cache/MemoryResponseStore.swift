import BeagleNetHTTP

/// Stores responses in memory, and evicts the least recently used ones if there are too many.
public final class MemoryResponseStore: ResponseStore {
    private struct State: Sendable {
        var entries = RecentEntries()
        var bytes = 0
        var removals = 0
    }

    /// The most bytes to hold: bodies, fields, and 1 KiB for each response.
    public let maxBytes: Int
    /// The most URLs to hold responses of.
    public let maxEntries: Int
    private let state = Lock(State())

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - maxBytes: The most bytes to hold: bodies, fields, and 1 KiB for each response; 16 MiB by default. A response
    ///     of more than a quarter of it isn't stored, so that one response doesn't evict all others.
    ///   - maxEntries: The most URLs to hold responses of; 1,000 by default. 0 of either stores nothing.
    public init(maxBytes: Int = 16 << 20, maxEntries: Int = 1_000) {
        self.maxBytes = max(0, maxBytes)
        self.maxEntries = max(0, maxEntries)
    }

    /// The number of URLs that responses are stored of.
    public var count: Int { state.withLock { $0.entries.count } }
    /// The bytes that they take: bodies, fields, and 1 KiB for each response.
    public var bytes: Int { state.withLock { $0.bytes } }

    /// The number of times that a user's or all responses were removed.
    public var removals: Int { state.withLock { $0.removals } }
    /// The store itself.
    public var memory: MemoryResponseStore? { self }

    /// Whether a body isn't too large.
    public func accepts(_ key: ResponseKey, byteCount: Int) -> Bool {
        maxEntries > 0 && byteCount <= maxBytes / 4 - StoredResponse.overhead
    }

    /// The stored responses of a key.
    public func responses(for key: ResponseKey) -> [StoredResponse] {
        state.withLock { $0.entries.used(key)?.responses } ?? []
    }

    /// Stores a response, and evicts the least recently used ones if there are too many. A response that is too large
    /// is removed.
    public func insert(_ response: StoredResponse, for key: ResponseKey) {
        // Entries are released outside of the lock.
        let evicted: [RecentEntries.Entry] = state.withLock { state in
            var evicted: [RecentEntries.Entry] = []
            func evict(_ entry: RecentEntries.Entry?) {
                guard let entry else { return }
                state.bytes -= entry.bytes
                evicted.append(entry)
            }
            let earlier = state.entries.remove(key)
            evict(earlier)
            let isAccepted = maxEntries > 0 && response.byteCount <= maxBytes / 4
            let entry = RecentEntries.Entry(earlier?.responses ?? [], with: response, isAccepted: isAccepted, maxBytes)
            if entry.responses.isEmpty { return evicted }
            while state.entries.count >= maxEntries || state.bytes + entry.bytes > maxBytes {
                evict(state.entries.removeOldest())
            }
            state.entries.insert(entry, for: key)
            state.bytes += entry.bytes
            return evicted
        }
        withExtendedLifetime(evicted) {}
    }

    /// Removes the responses of a key.
    public func remove(_ key: ResponseKey) {
        let removed = state.withLock { state in
            let removed = state.entries.remove(key)
            state.bytes -= removed?.bytes ?? 0
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    /// Removes the responses of an origin that a user has.
    public func removeAll(ofOriginOf key: ResponseKey) {
        removeAll {
            $0.scheme == key.scheme && $0.authority == key.authority && $0.partition == key.partition
                && $0.account == key.account
        }
    }

    /// Removes the responses of a user.
    public func removeAll(of partition: String) {
        state.withLock { $0.removals += 1 }
        removeAll { $0.partition == partition }
    }

    /// Removes all responses.
    public func removeAll() {
        let removed = state.withLock { state in
            defer { state = State(removals: state.removals + 1) }
            return state
        }
        withExtendedLifetime(removed) {}
    }

    private func removeAll(where isMeant: (ResponseKey) -> Bool) {
        let removed: [RecentEntries.Entry] = state.withLock { state in
            let entries = state.entries.keys.filter(isMeant).compactMap { state.entries.remove($0) }
            state.bytes -= entries.reduce(0) { $0 + $1.bytes }
            return entries
        }
        withExtendedLifetime(removed) {}
    }
}
