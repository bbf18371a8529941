public import BeagleNet
import BeagleNetHTTP

/// An in-memory cache of query responses by query ID and variables, like Relay's `QueryResponseCache` in JavaScript.
///
/// The cache only knows the operations that use it. Mutations by other ways, such as a `RelayNetwork` with another
/// cache or none, don't clear it, and queries by other ways aren't answered from it. Networks that should see each
/// other's changes must share a cache. A response stored by a `RelayNetwork` is only found for the same user and
/// endpoint.
///
/// When the cache is full, the response that was stored first is evicted. Reading a response doesn't postpone its
/// eviction.
public final class RelayResponseCache: Sendable {
    private struct Key: Hashable, Sendable {
        let id: String
        let variables: VariableData
    }

    private struct Entry: Sendable {
        let data: Data
        let date: Date
        /// The position of the entry in the order of storing.
        let order: Int
    }

    private let size: Int
    private let ttl: TimeInterval
    private let now: @Sendable () -> Date
    private let entries = Lock(Entries())

    private struct Entries: Sendable {
        var byKey: [Key: Entry] = [:]
        var lastOrder = 0
        /// The number of times the cache was cleared.
        var generation = 0
        /// The pending requests: their number, and the generation at the start of the first one.
        var pendingRequests: [Key: (count: Int, generation: Int)] = [:]
    }

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - size: The maximum number of responses.
    ///   - ttl: The time for which each response is valid.
    ///   - now: Returns the current time.
    public init(size: Int, ttl: Duration, now: @escaping @Sendable () -> Date = { Date() }) {
        self.size = size
        self.ttl = ttl / .seconds(1)
        self.now = now
    }

    /// The number of stored responses, including expired ones that were not yet removed by a read.
    public var count: Int { entries.withLock { $0.byKey.count } }

    /// Returns the stored response with `extensions.cacheTimestamp`, or `nil` if it is missing or expired.
    ///
    /// `cacheTimestamp` is the time at which the response was stored, in milliseconds since 1970.
    ///
    /// - Parameters:
    ///   - id: The identifier of the query, such as its ID or text.
    ///   - variables: The variables of the query.
    public func response(to id: String, _ variables: VariableData) -> Data? {
        let oldest = now() - ttl
        let entry: Entry? = entries.withLock { entries in
            entries.byKey = entries.byKey.filter { $0.value.date >= oldest }
            return entries.byKey[Key(id: id, variables: variables)]
        }
        guard let entry else { return nil }
        return RelayPayload(entry.data).stamped(at: Int64((entry.date.timeIntervalSince1970 * 1_000).rounded()))
    }

    /// Stores a response, replacing an earlier one.
    ///
    /// - Parameters:
    ///   - data: The text of a JSON object.
    ///   - id: The identifier of the query.
    ///   - variables: The variables of the query.
    public func store(_ data: Data, of id: String, _ variables: VariableData) {
        store(data, of: id, variables, in: nil)
    }

    /// Registers a pending request until `end` is called.
    ///
    /// - Returns: The generation to pass to `store`. Simultaneous requests for the same query get that of the first,
    ///   because they may share its run, and the response is as old as that run.
    package func beginRequest(_ id: String, _ variables: VariableData) -> Int {
        entries.withLock { entries in
            let key = Key(id: id, variables: variables)
            let pending = entries.pendingRequests[key] ?? (0, entries.generation)
            entries.pendingRequests[key] = (pending.count + 1, pending.generation)
            return pending.generation
        }
    }

    /// Unregisters a pending request that was registered with `begin`.
    package func endRequest(_ id: String, _ variables: VariableData) {
        entries.withLock { entries in
            let key = Key(id: id, variables: variables)
            guard let pending = entries.pendingRequests[key] else { return }
            entries.pendingRequests[key] = pending.count > 1 ? (pending.count - 1, pending.generation) : nil
        }
    }

    /// Stores a response, unless the cache was cleared after it was requested.
    ///
    /// - Parameter generation: The value returned by `begin`, or `nil` to store the response in any case.
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

    /// Removes all responses.
    public func clear() {
        entries.withLock { entries in
            entries.byKey = [:]
            entries.generation += 1
        }
    }
}
