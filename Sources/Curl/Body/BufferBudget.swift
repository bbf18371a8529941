import Synchronization

/// The limit on the bytes in each of a loop's pipes. A few pipes get enough for a fast body. With hundreds of unread
/// ones, none gets a full megabyte.
final class BufferBudget: Sendable {
    private static let total = 16 << 20
    private static let most = 1 << 20
    /// The size that libcurl delivers at a time; with less, the loop and the reader would wait for each other.
    private static let least = 64 << 10

    private let open = Atomic(0)
    private let filled = Atomic(0)
    private let held = Atomic(0)

    /// Returns whether a pipe that holds this many bytes is full. All pipes share 16 MiB, including bytes that readers
    /// have taken and not yet returned. If a few pipes filled up early, less is left for the others.
    func isFull(at bytes: Int) -> Bool {
        guard bytes >= Self.least else { return false }
        return bytes >= size(among: filled) || held.load(ordering: .relaxed) >= Self.total
    }

    private func size(among pipes: borrowing Atomic<Int>) -> Int {
        max(Self.least, min(Self.most, Self.total / max(1, pipes.load(ordering: .relaxed))))
    }

    /// The number of unused slabs that a pipe keeps: its share if all pipes were full.
    var spareSlabs: Int { max(1, size(among: open) / SlabPool.slabSize) }

    /// Counts a pipe that opens (1) or ends (-1).
    func count(open change: Int) {
        open.add(change, ordering: .relaxed)
    }

    /// Counts a pipe that becomes non-empty (1) or empty (-1).
    func count(filled change: Int) {
        filled.add(change, ordering: .relaxed)
    }

    /// Adds to the count of bytes that pipes and their readers hold.
    func count(held change: Int) {
        held.add(change, ordering: .relaxed)
    }
}
