/// A logger that forwards messages of a minimum level: `LevelLogger(.error, ConsoleLogger())`.
public struct LevelLogger: BeagleLogger {
    private let minimum: LogLevel
    private let logger: any BeagleLogger

    /// Creates a logger that forwards messages of `minimum` and above to `logger`.
    public init(_ minimum: LogLevel, _ logger: any BeagleLogger) {
        self.minimum = minimum
        self.logger = logger
    }

    /// Forwards the message if its level is high enough.
    public func log(_ log: any LogType) {
        if log.level >= minimum { logger.log(log) }
    }

    /// Returns whether the level is high enough and the underlying logger accepts it.
    public func accepts(_ level: LogLevel) -> Bool {
        level >= minimum && logger.accepts(level)
    }
}
