import BeagleNet
import BeagleNetObservability
import BeagleNetTesting
import CurlPeers
import InMemoryTracing
import Testing
import Tracing

/// Spans of screens over libcurl and real sockets, on a clock that only the test advances.
@Suite(.leavesNothing, .beagle(.live) { $0.logger = .off }, .timeLimit(.minutes(5))) struct ViewClientSpansTests {
    private let tracer = W3CTracer()
    private let clock = ManualClock()

    /// Records the spans of a screen that takes 100 ms, and of an image that takes 50 ms and doesn't exist.
    private func record(status: Int = 200) async throws {
        Beagle.dependencies.clock = clock
        let gates = [try LoopbackServer.Gate(), try LoopbackServer.Gate()]
        let server = try serve { request in
            let isScreen = request.target == "/home"
            return .sequence([.gate(gates[isScreen ? 0 : 1]), .response(isScreen ? status : 404, [:], "{}")])
        }
        let home = ViewClient().open("home", images: ImageLoader())
        let screen = Task { try await home.fetch(ScreenRequest("/home"), as: JSONValue.self) }
        await server.until { $0.requestCount == 1 }
        clock.advance(by: .milliseconds(100))
        gates[0].open()
        _ = await screen.result
        let image = home.image(ImageRequest("/a.gif?access_token=4f8b1c2d9e"))
        await server.until { $0.requestCount == 2 }
        clock.advance(by: .milliseconds(50))
        gates[1].open()
        await #expect(throws: NetworkError.self) { try await image.image }
        try await home.timing.recordSpans(with: tracer)
        server.stop()
    }

    @Test func screenAndItsLoadsHaveSpans() async throws {
        try await record()
        let spans = tracer.spans
        #expect(spans.map(\.operationName) == ["screen", "image", "screen home"])
        let screen = spans[2]
        #expect(screen["app.screen.name"] == "home")
        #expect(!screen.isError)
        #expect(spans.map(\.milliseconds) == [100, 50, 150])
        #expect(spans[0].startInstant.nanosecondsSinceEpoch == screen.startInstant.nanosecondsSinceEpoch)
        #expect(spans[1].endInstant.nanosecondsSinceEpoch == screen.endInstant.nanosecondsSinceEpoch)
        #expect(spans.prefix(2).allSatisfy { $0.parentSpanID == screen.spanID && $0.traceID == screen.traceID })
        #expect(spans[0]["beagle.load.cause"] == "network")
        #expect(spans[0]["beagle.load.target"] == "/home")
        #expect(!spans[0].isError)
        #expect(spans[1]["beagle.load.cause"] == nil)
        #expect(spans[1]["beagle.load.target"] == "/a.gif?access_token=REDACTED")
        #expect(spans[1]["error.type"] == "404")
        #expect(spans[1].isError)
    }

    @Test func spanOfAScreenThatFailedIsAnError() async throws {
        try await record(status: 403)
        #expect(tracer.spans.last?.operationName == "screen home")
        #expect(tracer.spans.last?.isError == true)
        #expect(tracer.spans.last?["error.type"] == "403")
    }

    @Test func requestsAreChildrenOfAnOpenScreen() async throws {
        Beagle.dependencies.interceptors.add(TracingInterceptor(tracer: tracer))
        let server = try serve { _ in .response(200, [:], "{}") }
        let views = ViewClient()
        let caller = tracer.startSpan("tap", context: .topLevel)
        let home = ServiceContext.$current.withValue(caller.context) {
            views.openTraced("home", images: ImageLoader(), with: tracer)
        }
        #expect(home.prefetch(ScreenRequest("/next")))
        while views.pendingCount > 0 { await Task.yield() }
        _ = try await home.fetch(ScreenRequest("/home"), as: JSONValue.self)
        await #expect(throws: NetworkError.self) { try await home.image(ImageRequest("/a.gif")).image }
        try await home.timing.recordSpans()
        caller.end()
        let screen = try #require(tracer.spans.first { $0.operationName == "screen home" })
        #expect(screen.parentSpanID == caller.context.inMemorySpanContext?.spanID)
        let requests = tracer.spans.filter { $0.operationName == "GET" }
        #expect(requests.count == 3)
        #expect(requests.allSatisfy { $0.parentSpanID == screen.spanID && $0.traceID == screen.traceID })
        #expect(tracer.spans.count { $0.parentSpanID == screen.spanID } == 5)
        let traces = requests.map { "00-\($0.traceID)-\($0.spanID)-01" }
        #expect(Set(server.requests.map { $0["traceparent"] }) == Set(traces))
        server.stop()
    }
}

extension FinishedInMemorySpan {
    fileprivate var milliseconds: UInt64 {
        (endInstant.nanosecondsSinceEpoch - startInstant.nanosecondsSinceEpoch) / 1_000_000
    }
}
