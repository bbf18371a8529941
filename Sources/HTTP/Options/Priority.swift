/// The order in which waiting transfers are started when a limit is reached.
public enum Priority: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// A transfer that may be needed later.
    ///
    /// At least one of every nine transfers that leave a queue has this priority, if any is waiting.
    case prefetch
    /// The default.
    case normal
    /// A transfer that the user is waiting for.
    case interactive

    /// Whether `one` is sent after `other`.
    public static func < (one: Priority, other: Priority) -> Bool { one.rawValue < other.rawValue }
}
