import BeagleNet
import InMemoryTracing
import Testing
import Tracing

@testable import BeagleNetObservability

struct AttemptSpansTests {
    private let tracer = W3CTracer()
    private let cancelled = NetworkError(.cancelled, during: .firstByte, "the request was cancelled")

    /// Begins the span of an operation and returns both.
    private func begin(_ rules: SpanRules) throws -> (operation: NetworkOperation, spans: AttemptSpans) {
        var operation = try NetworkOperation(raw("/a"))
        let spans = AttemptSpans(of: operation, tracer, rules)
        _ = spans.begin(&operation)
        return (operation, spans)
    }

    @Test func redirectAfterTheEndCreatesNoSpan() throws {
        let (operation, spans) = try begin(SpanRules(origins: nil, sendsBaggage: false))
        spans.end(AttemptOutcome(cancelled))
        let onRedirect = try #require(operation.transfer.onRedirect)
        var next = operation.transfer
        onRedirect(HTTPResponse(status: .found), 0, &next)
        spans.end(AttemptOutcome(cancelled))
        #expect(tracer.memory.activeSpans.isEmpty)
        #expect(tracer.spans.map { $0["error.type"] } == ["cancelled"])
    }

    @Test func eventTimesAreRelativeToTheStartOfTheSpan() throws {
        let (_, spans) = try begin(SpanRules(origins: nil, sendsBaggage: false))
        var error = cancelled
        var metrics = TransferMetrics()
        metrics.queued = .nanoseconds(5)
        metrics.connect = .nanoseconds(10)
        metrics.firstByte = .nanoseconds(20)
        metrics.total = .nanoseconds(20)
        error.metrics = metrics
        spans.end(AttemptOutcome(error))
        let span = try #require(tracer.spans.first)
        let start = span.startInstant.nanosecondsSinceEpoch
        #expect(span.events.map(\.name) == ["http.connect", "http.response.first_byte"])
        #expect(span.events.map { $0.nanosecondsSinceEpoch - start } == [15, 25])
    }

    @Test func optionsOfTheRequestAreUnchanged() throws {
        let origin = Origin(of: try NetworkOperation(raw("/a")).transfer.head)
        let (operation, _) = try begin(SpanRules(origins: [origin], sendsBaggage: true))
        #expect(try operation.transfer.options == NetworkOperation(raw("/a")).transfer.options)
        #expect(operation.transfer.head.headerFields.count == 4)
    }

    @Test func untracedOriginReceivesNoTraceFields() throws {
        let (operation, _) = try begin(SpanRules(origins: [], sendsBaggage: true))
        #expect(operation.transfer.head.headerFields.isEmpty)
        #expect(operation.transfer.originScopedFields.count == 4)
    }
}
