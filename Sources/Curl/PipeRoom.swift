import Synchronization

/// How much each of a loop's pipes may hold. Few are given enough for a fast body; of hundreds that are not read, none gets
/// what would be a megabyte for each.
final class PipeRoom: Sendable {
    private static let total = 16 << 20
    private static let most = 1 << 20
    /// What libcurl gives at once: less would have the loop and the reader wait for each other.
    private static let least = 64 << 10

    private let filled = Atomic(0)

    /// The bytes at which a pipe is full: those that hold any share 16 MiB, but for what they took when they were fewer.
    var size: Int { max(Self.least, min(Self.most, Self.total / max(1, filled.load(ordering: .relaxed)))) }

    /// A pipe holds something that held nothing, or the other way around.
    func count(_ change: Int) {
        filled.add(change, ordering: .relaxed)
    }
}
