public import BeagleNet
import BeagleNetHTTP
public import Tracing
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ViewClient {
    /// Opens a screen as `open(_:images:)` does, and starts its span, which `Timing.recordSpans()` ends.
    ///
    /// The spans of the requests of its loads and prefetches, which `TracingInterceptor` records, are children of the
    /// span. A request that loads of several screens share belongs to the first of them.
    ///
    /// ```swift
    /// let home = views.openTraced("home", images: loader)
    /// …
    /// try await home.timing.recordSpans()
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the screen.
    ///   - images: The loader of the screen's images.
    ///   - tracer: The tracer, or `nil`, the default, for that of `withTracer` or `InstrumentationSystem`.
    public func openTraced(_ name: String, images: ImageLoader, with tracer: (any Tracer)? = nil) -> Scope {
        let opened = Date()
        let tracer = tracer ?? InstrumentationSystem.tracer
        let span = tracer.startScreenSpan(name, opened)
        return open(name, images, opened, in: ScreenSpan(tracer: tracer, span: span))
    }
}

/// The span of a screen that is open.
private struct ScreenSpan: LoadContext {
    let tracer: any Tracer
    let span: any Span

    func run<R>(_ body: () -> R) -> R { ServiceContext.$current.withValue(span.context, operation: body) }

    nonisolated(nonsending) func run<R>(_ body: nonisolated(nonsending) () async -> R) async -> R {
        await ServiceContext.$current.withValue(span.context) { await body() }
    }
}

extension ViewClient.Scope.Timing {
    /// Records a span of the screen, from the tap until it was ready, and a child span for each load.
    ///
    /// The parent is the current span. The span of the screen is an error if the screen couldn't be fetched. For a screen
    /// that was opened with `openTraced`, ends the span that exists already, whose parent was the current span then.
    /// Otherwise, spans of requests, which `TracingInterceptor` records, aren't children of the screen's span.
    ///
    /// - Parameter tracer: The tracer, or `nil`, the default, for that of `openTraced`, `withTracer` or
    ///   `InstrumentationSystem`.
    public func recordSpans(with tracer: (any Tracer)? = nil) {
        let open = context as? ScreenSpan
        let tracer = tracer ?? open?.tracer ?? InstrumentationSystem.tracer
        let span = open?.span ?? tracer.startScreenSpan(name, opened)
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

    private func instant(_ time: Duration) -> DefaultTracerClock.Timestamp { opened.instant(after: time) }
}

extension Date {
    /// The time of a span.
    fileprivate func instant(after time: Duration) -> DefaultTracerClock.Timestamp {
        let nanoseconds = Int64(timeIntervalSince1970 * 1e9) + time.nanoseconds
        return DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: UInt64(max(0, nanoseconds)))
    }
}

extension Tracer {
    /// Starts the span of a screen, as a child of the current span.
    fileprivate func startScreenSpan(_ name: String, _ opened: Date) -> any Tracing.Span {
        let parent = ServiceContext.current ?? .topLevel
        let span = startSpan("screen \(name)", context: parent, ofKind: .internal, at: opened.instant(after: .zero))
        span.updateAttributes { $0["app.screen.name"] = name }
        return span
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
