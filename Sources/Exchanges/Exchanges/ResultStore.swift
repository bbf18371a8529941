/// Results by the `id` of their operation, and which types they are made of. Those that somebody waits for are known by
/// their types even when their result had to make room.
struct ResultStore: Sendable {
    /// Behind a reference, so that it is found once and changed where it is.
    ///
    /// `@unchecked Sendable` is sound because no entry leaves the store's functions, and there is one store, which is never
    /// copied: it lies in the lock of its `CacheExchange`, and is reached there alone.
    private final class Entry: @unchecked Sendable {
        var operation: Operation
        var result: OperationResult?
        var types: Set<String> = []
        /// Whether somebody waits for it.
        var isActive: Bool
        /// How many mutations had been answered when it was sent, as long as it is under way.
        var sent: Int?
        /// Whether it was sent again, as what it read had changed meanwhile.
        var isRepeated = false
        /// When it was used, as a number that grows.
        var used = 0

        init(_ operation: Operation, isActive: Bool) {
            self.operation = operation
            self.isActive = isActive
        }
    }

    private let limit: Int
    private var entries: [String: Entry] = [:]
    private var ids: [String: Set<String>] = [:]
    /// The entries that have a result, by when they were used; some of it is no longer true. The entries themselves, as
    /// looking them up by their ids would be most of what using one costs.
    private var uses: [(used: Int, entry: Entry)] = []
    private var oldest = 0
    /// How many queries are under way.
    private var underWay = 0
    /// How many mutations were answered, and which was the last of each type while queries are under way.
    private var changes = 0
    private var changed: [String: Int] = [:]
    private var clock = 0
    /// How many results there are.
    private(set) var count = 0

    /// How much is kept beside the results: what is known of queries that have none, types, uses, and changes.
    var bookkeeping: Int {
        entries.values.count { $0.result == nil } + ids.count + uses.count - oldest + changed.count + underWay
    }

    /// Whether nothing is known, also of what is under way.
    var isEmpty: Bool { entries.isEmpty }

    init(limit: Int) {
        self.limit = limit
    }

    /// The stored result of a query that somebody waits for from now on.
    mutating func result(for operation: Operation) -> OperationResult? {
        guard let entry = entries[operation.id] else {
            entries[operation.id] = Entry(operation, isActive: true)
            return nil
        }
        // Who reads the store alone is not who would ask again.
        if !entry.isActive || !operation.isReading || entry.operation.isReading { entry.operation = operation }
        entry.isActive = true
        if entry.result != nil { use(entry) }
        return entry.result
    }

    /// Nobody waits for a query any more.
    mutating func leave(_ id: String) {
        guard let entry = entries[id] else { return }
        if entry.sent.take() != nil { end() }
        entry.isRepeated = false
        if entry.result == nil { remove(id) } else { entry.isActive = false }
    }

    /// A query is sent.
    mutating func send(_ id: String) {
        guard let entry = entries[id], entry.sent == nil else { return }
        entry.sent = changes
        underWay += 1
    }

    /// A query is not under way any more.
    private mutating func end() {
        underWay -= 1
        // Nobody can have read what was before.
        if underWay == 0 { changed = [:] }
    }

    /// A query is answered.
    ///
    /// - Returns: whether one of its types was changed while it was under way.
    mutating func land(_ id: String, _ types: Set<String>) -> Bool {
        guard let entry = entries[id], let sent = entry.sent.take() else { return false }
        defer { end() }
        return types.contains { (changed[$0] ?? 0) > sent }
    }

    /// A query that read what has changed, to be sent again: once.
    mutating func repetition(of id: String) -> Operation? {
        guard let entry = entries[id], entry.isActive else { return nil }
        defer { entry.isRepeated.toggle() }
        return entry.isRepeated ? nil : entry.operation
    }

    /// Stores a result.
    ///
    /// - Returns: those that made room, to be let go outside of the lock.
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
        var forgotten: [OperationResult] = []
        while count > limit, let result = removeOldest() { forgotten.append(result) }
        return forgotten
    }

    /// Forgets all results that are made of one of these types.
    ///
    /// - Returns: their operations, in the order of their ids, but for those under way: they are asked for again when they
    ///   have come.
    mutating func forget(_ types: Set<String>) -> [Operation] {
        changes += 1
        if underWay > 0 { for type in types { changed[type] = changes } }
        let outdated = types.reduce(into: Set<String>()) { $0.formUnion(ids[$1] ?? []) }
        return outdated.sorted().compactMap { id in
            guard let entry = entries[id] else { return nil }
            dropResult(of: id)
            return entry.sent == nil ? entry.operation : nil
        }
    }

    /// Forgets all results.
    ///
    /// - Returns: what they were, to be let go outside of the lock.
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
        // What is no longer true is as much as the rest at most.
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

    /// Drops a result, and all that is known of the query where nobody waits for it.
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
