import Synchronization

/// How much each of a loop's pipes may hold, so that all of them together hold little more than 16 MiB: few are given
/// enough for a fast body, and of hundreds none is given what would be a megabyte for each.
final class PipeRoom: Sendable {
    private static let total = 16 << 20
    private static let most = 1 << 20
    /// Four times what libcurl gives at once: less would have the loop and the reader wait for each other.
    private static let least = 64 << 10

    private let pipes = Atomic(0)

    /// The bytes at which a pipe is full.
    var size: Int { max(Self.least, min(Self.most, Self.total / max(1, pipes.load(ordering: .relaxed)))) }

    /// A pipe begins, or ends.
    func count(_ change: Int) {
        pipes.add(change, ordering: .relaxed)
    }
}
