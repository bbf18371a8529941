public import Logging

/// Hands messages to swift-log, where an app chooses the sink with `LoggingSystem.bootstrap`. It never does that
/// itself; without it swift-log prints `info` and above on standard error. Requests are logged at `debug`.
///
/// The category is swift-log's source: `debug BeagleNet: [Network] GET https://api.example.com/home -> 200 in 12 ms`.
public struct SwiftLogLogger: BeagleLogger {
    private let given: Logger?
    private var logger: Logger { given ?? Logger.current }

    /// Uses this logger, one labelled `BeagleNet` by default.
    public init(_ logger: Logger = Logger(label: "BeagleNet")) {
        given = logger
    }

    private init(given: Logger?) {
        self.given = given
    }

    /// Uses the `Logger.current` of the caller, with the metadata that `withLogger` has put on it. All messages of a request
    /// have that of the call which began it.
    public static let current = SwiftLogLogger(given: nil)

    /// Hands the message on at its level.
    public func log(_ log: any LogType) {
        logger.log(level: log.level.swiftLogLevel, "\(log.message)", source: log.category)
    }

    /// A logger that holds `Logger.current`, if that is what it uses.
    public func captured() -> (any BeagleLogger)? { given == nil ? SwiftLogLogger(Logger.current) : nil }

    /// Whether swift-log would keep a message of this level.
    public func accepts(_ level: LogLevel) -> Bool {
        level.swiftLogLevel >= logger.logLevel
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
