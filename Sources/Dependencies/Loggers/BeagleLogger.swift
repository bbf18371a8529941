/// A logger of messages.
///
/// The library provides `SwiftLogLogger`, `ConsoleLogger`, `MemoryLogger`, `MultiplexLogger`, `LevelLogger` and `.off`.
@preconcurrency
public protocol BeagleLogger: Sendable {
    /// Logs a message, on any thread; its `message` is computed when it is read.
    func log(_ log: any LogType)

    /// Returns whether messages of a level are logged, `true` by default.
    ///
    /// If it returns `false`, the library doesn't create messages of that level.
    func accepts(_ level: LogLevel) -> Bool

    /// Returns the logger for the messages of a request that begins now, which are also logged on other threads.
    ///
    /// A logger that reads task-local values returns one that has captured them.
    ///
    /// - Returns: The logger, or `nil`, the default, if it is this logger.
    func captured() -> (any BeagleLogger)?
}

extension BeagleLogger {
    /// Returns `true` for all levels.
    public func accepts(_ level: LogLevel) -> Bool { true }

    /// Returns `nil`, for this logger.
    public func captured() -> (any BeagleLogger)? { nil }
}

/// A logger that accepts no messages, so that none are created; also written `.off`.
public struct OffLogger: BeagleLogger {
    /// Creates a logger that ignores messages.
    public init() {}

    /// Ignores the message.
    public func log(_ log: any LogType) {}

    /// Returns `false` for all levels.
    public func accepts(_ level: LogLevel) -> Bool { false }
}

extension BeagleLogger where Self == OffLogger {
    /// A logger that accepts no messages.
    public static var off: OffLogger { OffLogger() }
}
