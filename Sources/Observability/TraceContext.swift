public import BeagleNet
import Tracing

/// Has completions, and whoever watches, find the trace of who asked: `ServiceContext.current`.
///
/// ```swift
/// dependencies.callerContexts = [.trace, .logger]
/// ```
public struct TraceContext: CallerContext {
    /// Carries `ServiceContext.current`.
    public init() {}

    /// The current trace, or that there is none.
    public func capture() -> CallerValues {
        let context = ServiceContext.current
        return { body in ServiceContext.withValue(context, operation: body) }
    }
}

extension CallerContext where Self == TraceContext {
    /// Carries the trace of who asks.
    public static var trace: TraceContext { TraceContext() }
}
