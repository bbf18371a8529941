import BeagleNetHTTP

/// Keeps answers in memory, as many as there is room for: what was asked for longest ago goes first.
public final class MemoryDocumentStore: DocumentStore {
    /// What an entry takes beside its body and fields, roughly.
    fileprivate static let overhead = 1_024

    private struct State: Sendable {
        var entries = RecentEntries()
        var bytes = 0
    }

    /// The most bytes to keep: bodies, fields, and 1 KiB for each answer.
    public let maxBytes: Int
    /// The most answers to keep.
    public let maxEntries: Int
    private let state = Lock(State())

    /// An empty store.
    ///
    /// - Parameters:
    ///   - maxBytes: the most bytes to keep: bodies, fields, and 1 KiB for each answer; 16 MiB by default. An answer of
    ///     more than a quarter of it is not kept, so that one does not drive out all others.
    ///   - maxEntries: the most answers to keep; 1,000 by default. 0 of either keeps nothing.
    public init(maxBytes: Int = 16 << 20, maxEntries: Int = 1_000) {
        self.maxBytes = max(0, maxBytes)
        self.maxEntries = max(0, maxEntries)
    }

    /// How many answers there are.
    public var count: Int { state.withLock { $0.entries.count } }
    /// What they take: bodies, fields, and 1 KiB for each.
    public var bytes: Int { state.withLock { $0.bytes } }

    /// What is stored for an operation.
    public func document(for operation: NetworkOperation) -> StoredDocument? {
        guard let key = operation.key else { return nil }
        guard let entry = state.withLock({ $0.entries.used(key) }) else { return nil }
        return StoredDocument(entry.response, age: entry.age())
    }

    /// Stores an answer, and lets those go that there is no room for any more.
    public func store(_ response: NetworkResponse, for operation: NetworkOperation) {
        guard let key = operation.key else { return }
        let entry = RecentEntries.Entry(response, age: operation.stopwatch())
        // What goes is let go outside of the lock.
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

    /// Whether an answer is not too much to be kept.
    func mayKeep(_ response: NetworkResponse) -> Bool { mayKeep(response.storedBytes) }

    private func mayKeep(_ bytes: Int) -> Bool { maxEntries > 0 && bytes <= maxBytes / 4 }

    /// Forgets what is stored for an operation.
    public func remove(_ operation: NetworkOperation) {
        guard let key = operation.key else { return }
        let dropped = state.withLock { state in
            let dropped = state.entries.remove(key)
            state.bytes -= dropped?.bytes ?? 0
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// Forgets everything.
    public func removeAll() {
        let dropped = state.withLock { state in
            defer { state = State() }
            return state
        }
        withExtendedLifetime(dropped) {}
    }
}

/// Entries in the order in which they were used, as a list that is linked by their places in an array.
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

    /// The entry of a key, which is the newest from now on.
    mutating func used(_ key: NetworkOperation.Key) -> Entry? {
        guard let place = places[key] else { return nil }
        if place != newest {
            unlink(place)
            link(place)
        }
        return slots[place].entry
    }

    /// Adds the entry of a key that has none.
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
    /// What it takes to keep it: heads and trailers may be as long as bodies.
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
