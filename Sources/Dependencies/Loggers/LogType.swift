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
///
/// The library follows what swift-log asks of libraries: an app that logs at `info` reads only what needs its attention.
public enum LogLevel: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Requests, with their results and retries. Also failures that the caller receives as an error.
    case debug
    /// A switch that somebody set outside the app, such as `BEAGLENET_LOG`, has an effect.
    case info
    /// Something didn't work, and no error reports it: a credential was withheld, or a form wasn't stored.
    case warning
    /// The app is not set up: it has no network client.
    case error

    /// Whether `left` matters less than `right`.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}
