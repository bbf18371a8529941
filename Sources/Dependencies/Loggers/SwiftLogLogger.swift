public import Logging

/// A logger that forwards messages to swift-log.
///
/// The app selects the log handler with `LoggingSystem.bootstrap`, which the library never calls. Without it, swift-log
/// prints messages of `info` and above to standard error. Requests are logged at `debug`.
///
/// The category is swift-log's source: `debug BeagleNet: [Network] GET https://api.example.com/home -> 200 in 12 ms`.
public struct SwiftLogLogger: BeagleLogger {
    private let fixedLogger: Logger?
    private var logger: Logger { fixedLogger ?? Logger.current }

    /// Creates a logger that uses this swift-log logger, labeled `BeagleNet` by default.
    public init(_ logger: Logger = Logger(label: "BeagleNet")) {
        fixedLogger = logger
    }

    private init(fixedLogger: Logger?) {
        self.fixedLogger = fixedLogger
    }

    /// A logger that uses the caller's `Logger.current`, with the metadata that `withLogger` has set.
    ///
    /// All messages of a request have the metadata of the call that started it.
    public static let current = SwiftLogLogger(fixedLogger: nil)

    /// Forwards the message at its level.
    public func log(_ log: any LogType) {
        logger.log(level: log.level.swiftLogLevel, "\(log.message)", source: log.category)
    }

    /// Returns a logger that has captured `Logger.current`, or `nil` if this logger doesn't use that.
    public func captured() -> (any BeagleLogger)? { fixedLogger == nil ? SwiftLogLogger(Logger.current) : nil }

    /// Returns whether swift-log would log a message of this level.
    public func accepts(_ level: LogLevel) -> Bool {
        level.swiftLogLevel >= (fixedLogger?.logLevel ?? Logger.current.logLevel)
    }
}

extension LogLevel {
    fileprivate var swiftLogLevel: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }
}
