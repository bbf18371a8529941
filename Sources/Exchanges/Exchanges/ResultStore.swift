/// Stored results by the `id` of their operation, with the types that they contain.
///
/// The types of queries with subscribers are known even after their results were evicted.
struct ResultStore: Sendable {
    /// The state of a query, a class so that it is looked up once and changed in place.
    ///
    /// `@unchecked Sendable` is sound because entries never leave the store's functions, and the one store is never
    /// copied: it is protected by the lock of its `CacheExchange`.
    private final class Entry: @unchecked Sendable {
        var operation: Operation
        var result: OperationResult?
        var types: Set<String> = []
        /// Whether the query has subscribers.
        var isActive: Bool
        /// The value of `changes` when the query was sent, or `nil` if it isn't in flight.
        var sent: Int?
        /// Whether the query was already sent again because its data had changed in the meantime.
        var isRepeated = false
        /// The logical time of the last use.
        var used = 0

        init(_ operation: Operation, isActive: Bool) {
            self.operation = operation
            self.isActive = isActive
        }
    }

    private let limit: Int
    private var entries: [String: Entry] = [:]
    private var ids: [String: Set<String>] = [:]
    /// The entries with results in order of use, including outdated records. It holds the entries themselves because
    /// looking them up by id would be most of the cost of a use.
    private var uses: [(used: Int, entry: Entry)] = []
    private var oldest = 0
    /// The number of queries in flight.
    private var inFlightCount = 0
    /// The number of mutations and subscription results so far, and the last one that changed each type while queries
    /// are in flight.
    private var changes = 0
    private var changed: [String: Int] = [:]
    private var clock = 0
    /// The number of stored results.
    private(set) var count = 0

    /// The number of records apart from results: queries without a result, types, uses and changes.
    var recordCount: Int {
        entries.values.count { $0.result == nil } + ids.count + uses.count - oldest + changed.count + inFlightCount
    }

    /// Whether there are no entries, stored or in flight.
    var isEmpty: Bool { entries.isEmpty }

    init(limit: Int) {
        self.limit = limit
    }

    /// Returns the stored result of a query, and marks the query as active.
    mutating func result(for operation: Operation) -> OperationResult? {
        guard let entry = entries[operation.id] else {
            entries[operation.id] = Entry(operation, isActive: true)
            return nil
        }
        // An operation that only reads from the store doesn't replace one that can use the network.
        if !entry.isActive || !operation.isCacheOnlyQuery || entry.operation.isCacheOnlyQuery {
            entry.operation = operation
        }
        entry.isActive = true
        if entry.result != nil { use(entry) }
        return entry.result
    }

    /// Marks a query as having no subscribers.
    mutating func deactivate(_ id: String) {
        guard let entry = entries[id] else { return }
        if entry.sent.take() != nil { end() }
        entry.isRepeated = false
        if entry.result == nil { remove(id) } else { entry.isActive = false }
    }

    /// Marks a query as in flight.
    mutating func markSent(_ id: String) {
        guard let entry = entries[id], entry.sent == nil else { return }
        entry.sent = changes
        inFlightCount += 1
    }

    /// Counts one query in flight less.
    private mutating func end() {
        inFlightCount -= 1
        // No query in flight can have read outdated data.
        if inFlightCount == 0 { changed = [:] }
    }

    /// Marks a query as answered.
    ///
    /// - Returns: Whether one of its types was changed while it was in flight.
    mutating func markAnswered(_ id: String, _ types: Set<String>) -> Bool {
        guard let entry = entries[id], let sent = entry.sent.take() else { return false }
        defer { end() }
        return types.contains { (changed[$0] ?? 0) > sent }
    }

    /// Returns the query to send again because its data has changed, or `nil` if it was already sent again.
    mutating func queryToRepeat(for id: String) -> Operation? {
        guard let entry = entries[id], entry.isActive else { return nil }
        defer { entry.isRepeated.toggle() }
        return entry.isRepeated ? nil : entry.operation
    }

    /// Stores a result.
    ///
    /// - Returns: The evicted results, which must be released outside of the lock.
    mutating func put(_ result: OperationResult, of types: Set<String>) -> [OperationResult] {
        let id = result.operation.id
        let entry: Entry
        if let known = entries[id] {
            entry = known
        } else {
            entry = Entry(result.operation, isActive: false)
            entries[id] = entry
        }
        if entry.result == nil { count += 1 }
        if entry.types != types {
            for type in entry.types.subtracting(types) { drop(id, from: type) }
            for type in types.subtracting(entry.types) { ids[type, default: []].insert(id) }
            entry.types = types
        }
        entry.result = result
        entry.isRepeated = false
        use(entry)
        var removed: [OperationResult] = []
        while count > limit, let result = removeOldest() { removed.append(result) }
        return removed
    }

    /// Removes all results that contain one of these types.
    ///
    /// - Returns: The active operations among them, ordered by id, except those in flight, which run again after they
    ///   have been answered.
    mutating func invalidate(_ types: Set<String>) -> [Operation] {
        changes += 1
        if inFlightCount > 0 { for type in types { changed[type] = changes } }
        let outdated = types.reduce(into: Set<String>()) { $0.formUnion(ids[$1] ?? []) }
        return outdated.sorted().compactMap { id in
            guard let entry = entries[id] else { return nil }
            dropResult(of: id)
            return entry.sent == nil ? entry.operation : nil
        }
    }

    /// Removes all results.
    ///
    /// - Returns: The removed results, which must be released outside of the lock.
    mutating func clear() -> [OperationResult] {
        let results = entries.values.compactMap(\.result)
        for id in entries.filter({ $0.value.result != nil }).keys { dropResult(of: id) }
        (uses, oldest) = ([], 0)
        return results
    }

    private mutating func use(_ entry: Entry) {
        clock += 1
        entry.used = clock
        uses.append((clock, entry))
        // Limits the number of outdated records to about that of current ones.
        guard uses.count - oldest > 2 * count + 16 || oldest > uses.count / 2 + 16 else { return }
        uses = uses[oldest...].filter { $0.entry.used == $0.used && $0.entry.result != nil }
        oldest = 0
    }

    private mutating func removeOldest() -> OperationResult? {
        while oldest < uses.count {
            let use = uses[oldest]
            oldest += 1
            guard use.entry.used == use.used, let result = use.entry.result else { continue }
            dropResult(of: use.entry.operation.id)
            return result
        }
        return nil
    }

    /// Removes a result, and also its entry if the query has no subscribers.
    private mutating func dropResult(of id: String) {
        guard let entry = entries[id] else { return }
        if entry.result != nil { count -= 1 }
        entry.result = nil
        if !entry.isActive { remove(id) }
    }

    private mutating func remove(_ id: String) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        for type in entry.types { drop(id, from: type) }
    }

    private mutating func drop(_ id: String, from type: String) {
        ids[type]?.remove(id)
        if ids[type]?.isEmpty == true { ids[type] = nil }
    }
}
