/// A log message.
public protocol LogType: Sendable {
    /// The category of the message, such as `Network`.
    var category: String { get }

    /// The text, without secrets.
    var message: String { get }

    /// The level of the message.
    var level: LogLevel { get }
}

/// The level of a log message, in ascending order.
///
/// The library follows swift-log's guidelines for libraries: an app that logs at `info` sees only messages that need
/// its attention.
public enum LogLevel: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Requests, with their results and retries, and failures that the caller receives as an error.
    case debug
    /// A setting from outside the app has an effect, such as `BEAGLENET_LOG`.
    case info
    /// A failure that no error reports: a credential was withheld, or a form wasn't stored.
    case warning
    /// The app isn't set up: it has no network client.
    case error

    /// Returns whether `left` is less important than `right`.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}
