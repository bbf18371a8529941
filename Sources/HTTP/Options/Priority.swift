/// The order in which waiting transfers are started when a limit is reached.
///
/// A transfer doesn't wait forever: a priority that was passed over eight times is next, the lowest one first.
public enum Priority: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// A transfer that may be needed later.
    case prefetch
    /// A transfer whose result isn't visible yet, such as an image below the visible part of a list.
    case low
    /// The default.
    case normal
    /// A transfer that is more important than others of the same screen, such as its largest image.
    case high
    /// A transfer that the user is waiting for.
    case interactive

    /// Whether `one` is sent after `other`.
    public static func < (one: Priority, other: Priority) -> Bool { one.rawValue < other.rawValue }
}
