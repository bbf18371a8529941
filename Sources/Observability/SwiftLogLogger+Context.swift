public import BeagleNet
import Logging

extension SwiftLogLogger {
    /// A context that carries the caller's `Logger.current` to completions, watchers and the last log message of a
    /// streamed body.
    public struct Context: CallerContext {
        /// Creates a context.
        public init() {}

        /// Captures the current logger.
        public func capture() -> CallerValues {
            let logger = Logger.current
            return { body in withLogger(logger) { _ in body() } }
        }
    }
}

extension CallerContext where Self == SwiftLogLogger.Context {
    /// A context that carries the caller's `Logger.current` of swift-log.
    public static var logger: SwiftLogLogger.Context { SwiftLogLogger.Context() }
}
