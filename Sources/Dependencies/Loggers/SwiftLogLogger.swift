public import Logging

/// Hands messages to swift-log, where an app chooses the sink with `LoggingSystem.bootstrap`. It never does that
/// itself; without it swift-log prints `info` and above on standard error.
///
/// The category is the metadata value `category`.
public struct SwiftLogLogger: BeagleLogger {
    private let logger: Logger

    /// Uses this logger, one labelled `beagle` by default.
    public init(_ logger: Logger = Logger(label: "beagle")) {
        self.logger = logger
    }

    /// Hands the message on at its level.
    public func log(_ log: any LogType) {
        logger.log(
            level: log.level.swiftLogLevel,
            "\(log.message)",
            metadata: ["category": "\(log.category)"],
            source: "BeagleNet"
        )
    }

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
        case .error: .error
        }
    }
}
