public import BeagleNet
import BeagleNetHTTP

/// Keeps the answers to queries in memory, by what identifies the query and by its variables, as Relay's
/// `QueryResponseCache` in JavaScript does.
///
/// It knows of those alone who ask through this cache: what a mutation changes that goes another way, as through a
/// `RelayNetwork` with another cache or none, clears nothing here, and a query that is asked another way is not answered from it.
/// Networks that are to know of each other share one. What a `RelayNetwork` stores, it finds for the same person and endpoint alone.
///
/// Where it is full, the answer that was stored longest ago makes room; reading an answer doesn't make it younger.
public final class RelayResponseCache: Sendable {
    private struct Key: Hashable, Sendable {
        let id: String
        let variables: VariableData
    }

    private struct Entry: Sendable {
        let data: Data
        let date: Date
        /// Goes up with each one stored.
        let order: Int
    }

    private let size: Int
    private let ttl: TimeInterval
    private let now: @Sendable () -> Date
    private let entries = Lock(Entries())

    private struct Entries: Sendable {
        var byKey: [Key: Entry] = [:]
        var lastOrder = 0
        /// How often all was forgotten.
        var generation = 0
        /// Who asks now: how many, and the generation when the first of them asked.
        var asking: [Key: (count: Int, generation: Int)] = [:]
    }

    /// An empty cache.
    ///
    /// - Parameters:
    ///   - size: how many answers are kept at most.
    ///   - ttl: how long each is kept.
    ///   - now: what time it is.
    public init(size: Int, ttl: Duration, now: @escaping @Sendable () -> Date = { Date() }) {
        self.size = size
        self.ttl = ttl / .seconds(1)
        self.now = now
    }

    /// How many answers are kept, those included whose time has passed and that nobody asked for since.
    public var count: Int { entries.withLock { $0.byKey.count } }

    /// The answer that is stored, with `extensions.cacheTimestamp`: when it was, in milliseconds since 1970. nil where
    /// none is, or its time has passed.
    ///
    /// - Parameters:
    ///   - id: what identifies the query, as its id or text.
    ///   - variables: its variables.
    public func answer(to id: String, _ variables: VariableData) -> Data? {
        let oldest = now() - ttl
        let entry: Entry? = entries.withLock { entries in
            entries.byKey = entries.byKey.filter { $0.value.date >= oldest }
            return entries.byKey[Key(id: id, variables: variables)]
        }
        guard let entry else { return nil }
        return RelayPayload(entry.data).stamped(at: Int64((entry.date.timeIntervalSince1970 * 1_000).rounded()))
    }

    /// Stores an answer in the place of an earlier one.
    ///
    /// - Parameters:
    ///   - data: the text of a JSON object.
    ///   - id: what identifies the query.
    ///   - variables: its variables.
    public func store(_ data: Data, of id: String, _ variables: VariableData) {
        store(data, of: id, variables, in: nil)
    }

    /// Says that an answer is asked for, until `end` says that there is one or none.
    ///
    /// - Returns: what `store` wants to know. Of those who ask the same at the same time it is that of the first: they may
    ///   share its run, and what it brings is as old.
    package func begin(_ id: String, _ variables: VariableData) -> Int {
        entries.withLock { entries in
            let key = Key(id: id, variables: variables)
            let asking = entries.asking[key] ?? (0, entries.generation)
            entries.asking[key] = (asking.count + 1, asking.generation)
            return asking.generation
        }
    }

    /// Says that nobody waits any more who said `begin`.
    package func end(_ id: String, _ variables: VariableData) {
        entries.withLock { entries in
            let key = Key(id: id, variables: variables)
            guard let asking = entries.asking[key] else { return }
            entries.asking[key] = asking.count > 1 ? (asking.count - 1, asking.generation) : nil
        }
    }

    /// Stores an answer, unless all was forgotten since it was asked for.
    ///
    /// - Parameter generation: what `begin` gave; nil stores it anyway.
    package func store(_ data: Data, of id: String, _ variables: VariableData, in generation: Int?) {
        let date = now()
        entries.withLock { entries in
            guard generation == nil || generation == entries.generation else { return }
            entries.lastOrder += 1
            let key = Key(id: id, variables: variables)
            entries.byKey[key] = Entry(data: data, date: date, order: entries.lastOrder)
            guard entries.byKey.count > size else { return }
            let oldest = entries.byKey.min { $0.value.order < $1.value.order }
            if let oldest { entries.byKey[oldest.key] = nil }
        }
    }

    /// Forgets all.
    public func clear() {
        entries.withLock { entries in
            entries.byKey = [:]
            entries.generation += 1
        }
    }
}
