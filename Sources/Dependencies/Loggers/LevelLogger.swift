/// Hands on messages of a level or above: `LevelLogger(.error, ConsoleLogger())`.
public struct LevelLogger: BeagleLogger {
    private let minimum: LogLevel
    private let logger: any BeagleLogger

    /// Hands messages of `minimum` and above to `logger`.
    public init(_ minimum: LogLevel, _ logger: any BeagleLogger) {
        self.minimum = minimum
        self.logger = logger
    }

    /// Hands the message on where it matters enough.
    public func log(_ log: any LogType) {
        if log.level >= minimum { logger.log(log) }
    }

    /// Whether the level is high enough and the logger below accepts it.
    public func accepts(_ level: LogLevel) -> Bool {
        level >= minimum && logger.accepts(level)
    }
}
