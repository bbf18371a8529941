public import BeagleNet
import BeagleNetHTTP
public import Tracing

/// An interceptor that records a span for each attempt and each redirect, by OpenTelemetry's conventions, as a child of
/// the caller's span.
///
/// ```swift
/// dependencies.interceptors.add(TracingInterceptor())
/// ```
///
/// The name of a span is the method, with `NetworkOperation.urlTemplate` if it is set. A span ends with the response,
/// or if the body is streamed, when it has been read or released. Statuses of 400 or above and failures are errors.
/// Cancelling before the response is also an error; releasing a streamed body early isn't. URLs don't contain what the
/// client's redactor recognizes as secret, and those of forms don't contain their query. The trace (`traceparent`) is
/// sent only to the app's own origins, and dropped in a redirect to another one. The tracer must not block, because it
/// is also called on the transport's thread.
///
/// Source: https://opentelemetry.io/docs/specs/semconv/http/http-spans/
public struct TracingInterceptor: Interceptor {
    /// `.span`.
    public var place: Pipeline.Place? { .span }
    /// Whether the interceptor never blocks, which is always true.
    public var neverBlocks: Bool { true }
    private let tracer: (any Tracer)?
    private let rules: SpanRules

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - tracer: The tracer, or `nil`, the default, for that of `withTracer` or `InstrumentationSystem`. Without any
    ///     tracer, operations aren't changed.
    ///   - origins: The origins that receive the trace, or `nil`, the default, for the origins that the client's
    ///     builder declares.
    ///   - sendsBaggage: Whether these origins also receive the `baggage` field, with all values that the app has added
    ///     to its trace; `false` by default. Because baggage may identify the user, responses are then stored only for
    ///     a `partition`.
    public init(tracer: (any Tracer)? = nil, origins: Set<Origin>? = nil, sendsBaggage: Bool = false) {
        self.tracer = tracer
        rules = SpanRules(origins: origins, sendsBaggage: sendsBaggage)
    }

    /// Returns whether there is a tracer.
    public func applies(to operation: NetworkOperation) -> Bool {
        tracer != nil || !(InstrumentationSystem.instrument is NoOpInstrument)
    }

    /// Begins a span and injects its trace into the request, unless a later interceptor needs the span as a task-local
    /// value.
    ///
    /// An operation that was cancelled before, or that nothing can perform, has no span.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        guard next.isAtTransport, operation.performer == nil else { return .wait }
        let spans = AttemptSpans(of: operation, tracer, rules)
        _ = spans.begin(&operation)
        return .proceed(spans)
    }

    /// Begins a span, injects its trace into the request, proceeds, and ends the span.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let spans = AttemptSpans(of: operation, tracer, rules)
        var operation = operation
        let context = spans.begin(&operation)
        let outcome = await ServiceContext.$current.withValue(context) {
            await Result<NetworkOperation.Result, NetworkError>.catching { () throws(NetworkError) in
                try await next(operation, emit)
            }
        }
        return try outcome.onEnd { spans.end($0) }.get()
    }
}

/// The app's rules for spans.
struct SpanRules: Sendable {
    let origins: Set<Origin>?
    let sendsBaggage: Bool
}

extension AttemptSpans: RequestObservation {
    func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
        outcome = outcome.onEnd { self.end($0) }
    }
}
