public import BeagleNet
import BeagleNetHTTP
public import Tracing
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ViewClient.Scope.Timing {
    /// Records a span of the screen, from the tap until it was ready, and a child span for each load.
    ///
    /// The parent is the current span. The span of the screen is an error if the screen couldn't be fetched. Spans of
    /// requests, which `TracingInterceptor` records, aren't children of these.
    ///
    /// - Parameter tracer: The tracer, or `nil`, the default, for that of `withTracer` or `InstrumentationSystem`.
    public func recordSpans(with tracer: (any Tracer)? = nil) {
        let tracer = tracer ?? InstrumentationSystem.tracer
        let parent = ServiceContext.current ?? .topLevel
        let span = tracer.startSpan("screen \(name)", context: parent, ofKind: .internal, at: instant(.zero))
        span.updateAttributes { $0["app.screen.name"] = name }
        span.note(loads.last { $0.kind == .screen }?.error)
        for load in loads {
            let child = tracer.startSpan(
                load.kind.rawValue,
                context: span.context,
                ofKind: .internal,
                at: instant(load.begin)
            )
            child.updateAttributes { attributes in
                attributes["beagle.load.target"] = load.target
                attributes["beagle.load.waiting"] = Double(load.waiting.nanoseconds) / 1e9
                if let cause = load.cause { attributes["beagle.load.cause"] = cause.rawValue }
            }
            if let stored = load.stored { child.addEvent(SpanEvent(name: "stored", at: instant(stored))) }
            child.note(load.error)
            child.end(at: instant(load.end))
        }
        span.end(at: instant(ready))
    }

    private func instant(_ time: Duration) -> DefaultTracerClock.Timestamp {
        let nanoseconds = Int64(opened.timeIntervalSince1970 * 1e9) + time.nanoseconds
        return DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: UInt64(max(0, nanoseconds)))
    }
}

extension Span {
    /// Marks the span as failed if there is an error.
    fileprivate func note(_ error: NetworkError?) {
        guard let error else { return }
        updateAttributes { $0[AttributeName.errorType] = AttemptOutcome(error).errorType }
        setStatus(SpanStatus(code: .error, message: error.message))
    }
}
