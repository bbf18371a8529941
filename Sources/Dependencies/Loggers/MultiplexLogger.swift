/// A logger that forwards each message to several loggers.
public struct MultiplexLogger: BeagleLogger {
    private let loggers: [any BeagleLogger]

    /// Creates a logger that forwards messages to each of these that accepts them, in this order.
    public init(_ loggers: any BeagleLogger...) {
        self.loggers = loggers
    }

    /// Forwards the message to each logger that accepts it.
    public func log(_ log: any LogType) {
        let level = log.level
        for logger in loggers where logger.accepts(level) { logger.log(log) }
    }

    /// Returns whether one of the loggers accepts the level.
    public func accepts(_ level: LogLevel) -> Bool {
        loggers.contains { $0.accepts(level) }
    }
}
