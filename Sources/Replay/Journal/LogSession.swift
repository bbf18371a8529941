import BeagleNetHTTP
import Synchronization
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A session of one process that writes to a log, from opening to closing it.
final class LogSession: Sendable {
    /// The identifier, a UUID of version 7 (RFC 9562, 5.7); later sessions have greater ones.
    let id: String
    let process = getpid()
    let queue: LogQueue
    private let forks = ForkCount.now
    private let begun: (date: Date, instant: ContinuousClock.Instant)
    private let count = Atomic(0)

    /// Long enough to collect jobs that arrive together into one batch.
    private static let lingerDuration = Duration.milliseconds(2)
    /// Longer than a response from a nearby server takes. Exchanges that end sooner have a single record.
    private static let startHoldDuration = Duration.milliseconds(20)

    init(isLossless: Bool) {
        let now = Date()
        begun = (now, .now)
        id = Self.makeID(at: now)
        queue = LogQueue(
            isLossless: isLossless,
            lingerDuration: Self.lingerDuration,
            startHoldDuration: Self.startHoldDuration
        )
    }

    /// Whether the session belongs to this process, not to its parent before a fork.
    var isOurs: Bool { forks == ForkCount.now }

    /// Returns the number of a new exchange.
    func nextNumber() -> Int { count.add(1, ordering: .relaxed).newValue }

    /// Returns an identifier for an exchange that is unique across all sessions.
    func entryID(_ number: Int) -> EntryID { EntryID(session: id, number: number) }

    /// Returns the wall clock time, based on the session's start, so that clock adjustments don't affect it.
    func date(of instant: ContinuousClock.Instant) -> Date {
        begun.date.addingTimeInterval((instant - begun.instant) / .seconds(1))
    }

    private static func makeID(at now: Date) -> String {
        let milliseconds = UInt64(max(0, now.timeIntervalSince1970 * 1000))
        let (high, low) = (UInt64.random(in: 0..<1 << 12), UInt64.random(in: 0..<1 << 62))
        let digits = hex(milliseconds << 16 | 0x7000 | high) + hex(1 << 63 | low)
        var rest = digits[...]
        let groups = [8, 4, 4, 4, 12].map { count in
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        return groups.joined(separator: "-")
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
