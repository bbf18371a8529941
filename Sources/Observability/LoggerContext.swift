public import BeagleNet
import Logging

/// A context that carries the caller's `Logger.current` to completions, watchers and the last log message of a streamed
/// body.
public struct LoggerContext: CallerContext {
    /// Creates a context.
    public init() {}

    /// Captures the current logger.
    public func capture() -> CallerValues {
        let logger = Logger.current
        return { body in withLogger(logger) { _ in body() } }
    }
}

extension CallerContext where Self == LoggerContext {
    /// A context that carries the caller's `Logger.current` of swift-log.
    public static var logger: LoggerContext { LoggerContext() }
}
