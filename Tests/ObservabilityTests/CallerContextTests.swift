import BeagleNet
import BeagleNetObservability
import BeagleNetTesting
import Dispatch
import InMemoryLogging
import InMemoryTracing
import Logging
import Testing
import Tracing

/// What goes with a request from who asks to who hears.
@Suite(.beagle(.live) { $0.logger = .off }, .timeLimit(.minutes(1))) struct CallerContextTests {
    private let handler = InMemoryLogHandler()

    private func context(_ span: String) -> ServiceContext {
        var context = ServiceContext.topLevel
        context.inMemorySpanContext = InMemorySpanContext(traceID: "t", spanID: span, parentSpanID: nil)
        return context
    }

    private static var span: String? { ServiceContext.current?.inMemorySpanContext?.spanID }

    @Test(arguments: [false, true]) func eachWhoSharesARunHearsInItsOwnTrace(_ isCarried: Bool) async throws {
        let gate = try LoopbackServer.Gate()
        let server = try serve { _ in .sequence([.gate(gate), .response(200)]) }
        if isCarried { Beagle.dependencies.callerContexts = [.trace] }
        let client = try client()
        let request = try image("/a").request
        let heard = AsyncStream.makeStream(of: String?.self)
        for span in ["one", "two", nil] {
            _ = ServiceContext.withValue(span.map(context)) {
                client.executeRequest(request) { _ in heard.continuation.yield(Self.span) }
            }
        }
        gate.open()
        var spans: [String?] = []
        for await span in heard.stream.prefix(3) { spans.append(span) }
        #expect(spans == (isCarried ? ["one", "two", nil] : ["one", "one", "one"]))
        #expect(server.requests.count == 1)
    }

    @Test func whoWatchesHearsInItsOwnTrace() async throws {
        let server = try serve { _ in .response(200) }
        Beagle.dependencies.callerContexts = [.trace]
        let client = try client()
        let heard = AsyncStream.makeStream(of: String?.self)
        let operation = try image("/a")
        let token = ServiceContext.withValue(context("one")) {
            client.watch(operation) { _ in heard.continuation.yield(Self.span) }
        }
        var spans = heard.stream.makeAsyncIterator()
        #expect(await spans.next() == "one")
        ServiceContext.withValue(context("two")) { client.refetch() }
        #expect(await spans.next() == "one")
        token?.cancel()
        server.stop()
    }

    @Test func aQueueHearsInTheTraceOfWhoAsked() async throws {
        let server = try serve { _ in .response(200) }
        Beagle.dependencies.callerContexts = [.trace, .logger]
        let client = try client()
        let request = try raw("/a")
        let heard = await withCheckedContinuation { continuation in
            _ = ServiceContext.withValue(context("one")) {
                client.executeRequest(request, deliverOn: DispatchQueue(label: "hears")) { _ in
                    continuation.resume(returning: Self.span)
                }
            }
        }
        #expect(heard == "one")
        server.stop()
    }

    @Test func messagesHaveTheMetadataOfWhoAsked() async throws {
        let server = try serve { _ in .response(200) }
        Beagle.dependencies.logger = SwiftLogLogger.current
        let client = try client()
        let request = try raw("/a?token=c4n4ry")
        await withLogger(handler: handler) { _ in
            await withLogger(mergingMetadata: ["screen": "home"]) { _ in
                await withCheckedContinuation { continuation in
                    client.executeRequest(request) { _ in continuation.resume() }
                }
            }
        }
        #expect(handler.entries.map { $0.metadata["screen"] } == ["home", "home"])
        #expect(!handler.entries.contains { "\($0.message) \($0.metadata)".contains("c4n4ry") })
        server.stop()
    }

    @Test(arguments: [false, true]) func theEndOfAStreamHasTheMetadataOfWhoAsked(_ isCarried: Bool) async throws {
        let server = try serve { _ in .response(200, [:], "abc") }
        Beagle.dependencies.logger = SwiftLogLogger.current
        if isCarried { Beagle.dependencies.callerContexts = [.logger] }
        let client = try client()
        let request = try raw("/a")
        let stream = try await withLogger(handler: handler) { _ in
            try await withLogger(mergingMetadata: ["screen": "home"]) { _ in try await client.stream(request) }
        }
        try await withLogger(handler: handler) { _ in _ = try await stream.collect() }
        #expect(handler.entries.map { $0.metadata["screen"] } == ["home", "home", isCarried ? "home" : nil])
        server.stop()
    }
}
