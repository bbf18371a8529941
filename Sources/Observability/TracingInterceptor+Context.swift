public import BeagleNet
import Tracing

extension TracingInterceptor {
    /// A context that carries the caller's trace, `ServiceContext.current`, to completions and watchers.
    ///
    /// ```swift
    /// dependencies.callerContexts = [.trace, .logger]
    /// ```
    public struct Context: CallerContext {
        /// Creates a context.
        public init() {}

        /// Captures the current trace, or its absence.
        public func capture() -> CallerValues {
            let context = ServiceContext.current
            return { body in ServiceContext.withValue(context, operation: body) }
        }
    }
}

extension CallerContext where Self == TracingInterceptor.Context {
    /// A context that carries the caller's trace.
    public static var trace: TracingInterceptor.Context { TracingInterceptor.Context() }
}
