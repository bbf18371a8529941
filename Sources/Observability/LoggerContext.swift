public import BeagleNet
import Logging

/// Has completions, whoever watches and the last message of a streamed body find the `Logger.current` of who asked.
public struct LoggerContext: CallerContext {
    /// Carries `Logger.current`.
    public init() {}

    /// The current logger.
    public func capture() -> CallerValues {
        let logger = Logger.current
        return { body in withLogger(logger) { _ in body() } }
    }
}

extension CallerContext where Self == LoggerContext {
    /// Carries swift-log's `Logger.current` of who asks.
    public static var logger: LoggerContext { LoggerContext() }
}
