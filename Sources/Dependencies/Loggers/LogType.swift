/// A message for a logger.
public protocol LogType: Sendable {
    /// The part of the system that speaks, as `Network`.
    var category: String { get }

    /// What happened, without secrets.
    var message: String { get }

    /// How much it matters.
    var level: LogLevel { get }
}

/// How much a message matters, least first.
public enum LogLevel: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Of use to who looks for a fault.
    case debug
    /// What happened in the ordinary course.
    case info
    /// Something did not work.
    case error

    /// A server's own fault, 500 and above, is an error; whatever else it answers is in the ordinary course.
    package init(status: Int) {
        self = status >= 500 ? .error : .info
    }

    /// Whether `left` matters less than `right`.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}
