/// Which transfers go out first where a limit makes some of them wait.
public enum Priority: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// What may be needed later. Of nine transfers that leave a queue, it is sure of one.
    case prefetch
    /// The default.
    case normal
    /// What somebody waits for.
    case interactive

    /// Whether `one` goes out after `other`.
    public static func < (one: Priority, other: Priority) -> Bool { one.rawValue < other.rawValue }
}
