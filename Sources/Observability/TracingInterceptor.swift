public import BeagleNet
import BeagleNetHTTP
public import Tracing

/// Makes a span of each message that goes out, by OpenTelemetry's names: of each attempt and of each redirect, under
/// the span of who asks.
///
/// ```swift
/// dependencies.interceptors.add(TracingInterceptor())
/// ```
///
/// A span is named by the method, and by `NetworkOperation.urlTemplate` where there is one, and it ends with the answer;
/// where the body is streamed, when that has been read or let go. Statuses from 400 on and failures are errors, being
/// cancelled before an answer came among them; letting a streamed body go is none. URLs lose what the client's redactor
/// takes for secret, those of forms their whole query. The trace (`traceparent`) goes to the app's own origins alone, not
/// with a redirect to another one either. The tracer is called on the transport's thread as well: it must not block.
/// Source: https://opentelemetry.io/docs/specs/semconv/http/http-spans/
public struct TracingInterceptor: Interceptor {
    /// `.span`.
    public var place: Pipeline.Place? { .span }
    /// It doesn't block.
    public var neverBlocks: Bool { true }
    private let tracer: (any Tracer)?
    private let rules: SpanRules

    /// Traces attempts.
    ///
    /// - Parameters:
    ///   - tracer: what makes the spans; nil, the default, for that of `withTracer` or `InstrumentationSystem`, and then
    ///     operations pass untouched as long as there is none.
    ///   - origins: who is told the trace; nil, the default, for the origins that the client's builder declares.
    ///   - sendsBaggage: whether they get the field `baggage` as well, which tells whatever the app has put on its
    ///     trace; no by default. What it tells may be who asks: answers are stored for a `partition` alone then.
    public init(tracer: (any Tracer)? = nil, origins: Set<Origin>? = nil, sendsBaggage: Bool = false) {
        self.tracer = tracer
        rules = SpanRules(origins: origins, sendsBaggage: sendsBaggage)
    }

    /// Where there is a tracer.
    public func applies(to operation: NetworkOperation) -> Bool {
        tracer != nil || !(InstrumentationSystem.instrument is NoOpInstrument)
    }

    /// Begins a span and puts its trace on the message, unless something below needs the span as a task-local value. What was
    /// cancelled before, and what nothing answers, has none.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        guard next.isAtTransport, operation.performer == nil else { return .wait }
        let spans = AttemptSpans(of: operation, tracer, rules)
        _ = spans.begin(&operation)
        return .proceed(spans)
    }

    /// Begins a span, puts its trace on the message, goes on, and ends the span.
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
        return try outcome.tellingItsEnd { spans.end($0) }.get()
    }
}

/// What an app says of its spans.
struct SpanRules: Sendable {
    let origins: Set<Origin>?
    let sendsBaggage: Bool
}

extension AttemptSpans: RequestObservation {
    func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
        outcome = outcome.tellingItsEnd { self.end($0) }
    }
}
