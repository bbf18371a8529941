/// Entries in the order in which they were used, as a list that is linked by places in an array.
struct RecentEntries: Sendable {
    struct Entry: Sendable {
        let responses: [StoredResponse]
        let bytes: Int

        /// The most responses of a key.
        private static let mostVariants = 8

        /// The responses of a key with one more, which replaces that with the same selecting fields. The oldest ones
        /// are left out if there are too many.
        init(_ earlier: [StoredResponse], with response: StoredResponse, isAccepted: Bool, _ maxBytes: Int) {
            var responses = earlier.filter { $0.selectingFields != response.selectingFields }
            if isAccepted { responses.append(response) }
            var bytes = responses.reduce(0) { $0 + $1.byteCount }
            while responses.count > Self.mostVariants || bytes > maxBytes { bytes -= responses.removeFirst().byteCount }
            (self.responses, self.bytes) = (responses, bytes)
        }
    }

    private struct Slot: Sendable {
        let key: ResponseKey
        var entry: Entry?
        var older: Int?
        var newer: Int?
    }

    private var places: [ResponseKey: Int] = [:]
    private var slots: [Slot] = []
    private var free: [Int] = []
    private var oldest: Int?
    private var newest: Int?

    var count: Int { places.count }
    var keys: [ResponseKey] { Array(places.keys) }

    /// The entry of a key, which becomes the most recently used one.
    mutating func used(_ key: ResponseKey) -> Entry? {
        guard let place = places[key] else { return nil }
        if place != newest {
            unlink(place)
            link(place)
        }
        return slots[place].entry
    }

    /// Adds the entry of a key that has none.
    mutating func insert(_ entry: Entry, for key: ResponseKey) {
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

    mutating func remove(_ key: ResponseKey) -> Entry? {
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
