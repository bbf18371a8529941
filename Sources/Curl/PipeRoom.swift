import Synchronization

/// How much each of a loop's pipes may hold. Few are given enough for a fast body; of hundreds that are not read, none gets
/// what would be a megabyte for each.
final class PipeRoom: Sendable {
    private static let total = 16 << 20
    private static let most = 1 << 20
    /// What libcurl gives at once: less would have the loop and the reader wait for each other.
    private static let least = 64 << 10

    private let open = Atomic(0)
    private let filled = Atomic(0)
    private let held = Atomic(0)

    /// Whether a pipe that holds so many bytes is full: those that hold any share 16 MiB, also with what readers took and
    /// have not given out. What some took when they were few, the others have to do without.
    func isFull(at bytes: Int) -> Bool {
        guard bytes >= Self.least else { return false }
        return bytes >= size(among: filled) || held.load(ordering: .relaxed) >= Self.total
    }

    private func size(among pipes: borrowing Atomic<Int>) -> Int {
        max(Self.least, min(Self.most, Self.total / max(1, pipes.load(ordering: .relaxed))))
    }

    /// How many unused slabs a pipe keeps: as many as it may hold, were all of them full.
    var spareSlabs: Int { max(1, size(among: open) / SlabPool.slabSize) }

    /// A pipe begins, or ends.
    func count(open change: Int) {
        open.add(change, ordering: .relaxed)
    }

    /// A pipe holds something that held nothing, or the other way around.
    func count(filled change: Int) {
        filled.add(change, ordering: .relaxed)
    }

    /// Pipes and their readers hold so many bytes more.
    func count(held change: Int) {
        held.add(change, ordering: .relaxed)
    }
}
