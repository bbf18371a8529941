import BeagleNetHTTP

/// A store of responses in memory, which evicts the least recently used ones when it is full.
public final class MemoryDocumentStore: DocumentStore {
    /// The approximate size of an entry apart from its body and fields, in bytes.
    fileprivate static let overhead = 1_024

    private struct State: Sendable {
        var entries = RecentEntries()
        var bytes = 0
    }

    /// The maximum size of all responses, in bytes: bodies, fields, and 1 KiB for each response.
    public let maxBytes: Int
    /// The maximum number of responses.
    public let maxEntries: Int
    private let state = Lock(State())

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - maxBytes: The maximum size of all responses, in bytes: bodies, fields, and 1 KiB for each response; 16 MiB
    ///     by default. A response that is larger than a quarter of this isn't stored, so that one response doesn't
    ///     evict all others.
    ///   - maxEntries: The maximum number of responses; 1,000 by default. If either limit is 0, nothing is stored.
    public init(maxBytes: Int = 16 << 20, maxEntries: Int = 1_000) {
        self.maxBytes = max(0, maxBytes)
        self.maxEntries = max(0, maxEntries)
    }

    /// The number of stored responses.
    public var count: Int { state.withLock { $0.entries.count } }
    /// The size of the stored responses, in bytes: bodies, fields, and 1 KiB for each response.
    public var bytes: Int { state.withLock { $0.bytes } }

    /// Returns the stored response of an operation.
    public func document(for operation: NetworkOperation) -> StoredDocument? {
        guard let key = operation.key else { return nil }
        guard let entry = state.withLock({ $0.entries.used(key) }) else { return nil }
        return StoredDocument(entry.response, age: entry.age())
    }

    /// Stores a response and evicts others until the limits are met.
    public func store(_ response: NetworkResponse, for operation: NetworkOperation) {
        guard let key = operation.key else { return }
        let entry = RecentEntries.Entry(response, age: operation.stopwatch())
        // Evicted entries are released outside of the lock.
        let dropped: [RecentEntries.Entry] = state.withLock { state in
            var dropped: [RecentEntries.Entry] = []
            func drop(_ entry: RecentEntries.Entry?) {
                guard let entry else { return }
                state.bytes -= entry.bytes
                dropped.append(entry)
            }
            drop(state.entries.remove(key))
            guard mayKeep(entry.bytes) else { return dropped }
            while state.entries.count >= maxEntries || state.bytes + entry.bytes > maxBytes {
                drop(state.entries.removeOldest())
            }
            state.entries.insert(entry, for: key)
            state.bytes += entry.bytes
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// Whether a response is small enough to be stored.
    func mayKeep(_ response: NetworkResponse) -> Bool { mayKeep(response.storedBytes) }

    private func mayKeep(_ bytes: Int) -> Bool { maxEntries > 0 && bytes <= maxBytes / 4 }

    /// Removes the stored response of an operation.
    public func remove(_ operation: NetworkOperation) {
        guard let key = operation.key else { return }
        let dropped = state.withLock { state in
            let dropped = state.entries.remove(key)
            state.bytes -= dropped?.bytes ?? 0
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// Removes all responses.
    public func removeAll() {
        let dropped = state.withLock { state in
            defer { state = State() }
            return state
        }
        withExtendedLifetime(dropped) {}
    }
}

/// Entries in the order of their last use: a list that is linked by indices of an array.
private struct RecentEntries: Sendable {
    struct Entry: Sendable {
        let response: NetworkResponse
        let age: @Sendable () -> Duration
        let bytes: Int

        init(_ response: NetworkResponse, age: @escaping @Sendable () -> Duration) {
            (self.response, self.age, bytes) = (response, age, response.storedBytes)
        }
    }

    private struct Slot: Sendable {
        let key: NetworkOperation.Key
        var entry: Entry?
        var older: Int?
        var newer: Int?
    }

    private var places: [NetworkOperation.Key: Int] = [:]
    private var slots: [Slot] = []
    private var free: [Int] = []
    private var oldest: Int?
    private var newest: Int?

    var count: Int { places.count }

    /// Returns the entry of a key and makes it the newest.
    mutating func used(_ key: NetworkOperation.Key) -> Entry? {
        guard let place = places[key] else { return nil }
        if place != newest {
            unlink(place)
            link(place)
        }
        return slots[place].entry
    }

    /// Adds an entry for a key that has none.
    mutating func insert(_ entry: Entry, for key: NetworkOperation.Key) {
        let slot = Slot(key: key, entry: entry)
        let place: Int
        if let last = free.popLast() {
            place = last
            slots[place] = slot
        } else {
            place = slots.count
            slots.append(slot)
        }
        places[key] = place
        link(place)
    }

    mutating func remove(_ key: NetworkOperation.Key) -> Entry? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        unlink(place)
        free.append(place)
        defer { slots[place].entry = nil }
        return slots[place].entry
    }

    mutating func removeOldest() -> Entry? {
        oldest.flatMap { remove(slots[$0].key) }
    }

    private mutating func link(_ place: Int) {
        slots[place].older = newest
        slots[place].newer = nil
        if let newest { slots[newest].newer = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        let (older, newer) = (slots[place].older, slots[place].newer)
        if let older { slots[older].newer = newer } else { oldest = newer }
        if let newer { slots[newer].older = older } else { newest = older }
    }
}

extension NetworkResponse {
    /// The size of the response in the store, in bytes. Heads and trailers count, because they may be as long as
    /// bodies.
    fileprivate var storedBytes: Int {
        let around = interim.reduce(MemoryDocumentStore.overhead) { $0 + $1.headerFields.storedBytes }
        return data.count + response.headerFields.storedBytes + trailers.storedBytes + around
    }
}

extension HTTPFields {
    fileprivate var storedBytes: Int {
        reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }
}
