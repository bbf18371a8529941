import BeagleNet
import InMemoryTracing
import Testing

@testable import BeagleNetObservability

@Suite struct AttemptSpansTests {
    @Test func aRedirectAfterTheEndLeavesNoSpan() throws {
        let tracer = W3CTracer()
        var operation = try NetworkOperation(raw("/a"))
        let spans = AttemptSpans(of: operation, tracer, SpanRules(origins: nil, sendsBaggage: false))
        _ = spans.begin(&operation)
        spans.end(Ending(NetworkError(.cancelled, during: .firstByte, "the request was cancelled")))
        let head = operation.transfer.head
        let decide = try #require(operation.transfer.options.redirects.decide)
        _ = decide(
            RedirectPolicy.Proposal(response: HTTPResponse(status: .found), answered: head, next: head, followed: 0)
        )
        spans.end(Ending(NetworkError(.cancelled, during: .firstByte, "the request was cancelled")))
        #expect(tracer.memory.activeSpans.isEmpty)
        #expect(tracer.spans.map { $0["error.type"] } == ["cancelled", nil])
    }
}
