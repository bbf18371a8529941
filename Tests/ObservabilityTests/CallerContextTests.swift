import BeagleNet
import BeagleNetObservability
import BeagleNetTesting
import CurlPeers
import Dispatch
import InMemoryLogging
import InMemoryTracing
import Logging
import Testing
import Tracing

/// The context that a request carries from its caller to its subscribers.
@Suite(.leavesNothing, .beagle(.live) { $0.logger = .off }, .timeLimit(.minutes(5))) struct CallerContextTests {
    private let handler = InMemoryLogHandler()

    private func context(_ span: String) -> ServiceContext {
        var context = ServiceContext.topLevel
        context.inMemorySpanContext = InMemorySpanContext(traceID: "t", spanID: span, parentSpanID: nil)
        return context
    }

    private static var span: String? { ServiceContext.current?.inMemorySpanContext?.spanID }

    @Test(arguments: [false, true]) func subscribersOfASharedRunAreCalledInTheirOwnTraces(_ isCarried: Bool)
        async throws
    {
        let gate = try LoopbackServer.Gate()
        let server = try serve { _ in .sequence([.gate(gate), .response(200)]) }
        if isCarried { Beagle.dependencies.callerContexts = [.trace] }
        let client = try client()
        let request = try image("/a").request
        let received = AsyncStream.makeStream(of: String?.self)
        for span in ["one", "two", nil] {
            _ = ServiceContext.withValue(span.map(context)) {
                client.executeRequest(request) { _ in received.continuation.yield(Self.span) }
            }
        }
        gate.open()
        var spans: [String?] = []
        for await span in received.stream.prefix(3) { spans.append(span) }
        // Without carried contexts all are called in the same trace, or in none.
        #expect(isCarried ? spans == ["one", "two", nil] : Set(spans).count == 1)
        #expect(server.requests.count == 1)
    }

    @Test func watcherIsCalledInItsOwnTrace() async throws {
        let server = try serve { _ in .response(200) }
        Beagle.dependencies.callerContexts = [.trace]
        let client = try client()
        let received = AsyncStream.makeStream(of: String?.self)
        let operation = try image("/a")
        let token = ServiceContext.withValue(context("one")) {
            client.watch(operation) { _ in received.continuation.yield(Self.span) }
        }
        var spans = received.stream.makeAsyncIterator()
        #expect(await spans.next() == "one")
        ServiceContext.withValue(context("two")) { client.refetch() }
        #expect(await spans.next() == "one")
        token?.cancel()
        server.stop()
    }

    @Test func completionOnAQueueIsCalledInTheCallersTrace() async throws {
        let server = try serve { _ in .response(200) }
        Beagle.dependencies.callerContexts = [.trace, .logger]
        let client = try client()
        let request = try raw("/a")
        let received = await withCheckedContinuation { continuation in
            _ = ServiceContext.withValue(context("one")) {
                client.executeRequest(request, deliverOn: DispatchQueue(label: "hears")) { _ in
                    continuation.resume(returning: Self.span)
                }
            }
        }
        #expect(received == "one")
        server.stop()
    }

    /// Makes a client with its own container, which isn't that of the scope.
    private func ownClient() -> (NetworkClientDefault, BeagleDependencies) {
        let own = BeagleDependencies(.live)
        own.logger = .off
        own.environment = Beagle.dependencies.environment
        own.callerContexts = [.trace]
        return (NetworkClientDefault(dependencies: own), own)
    }

    @Test func containerOfTheClientIsUsed() async throws {
        let server = try serve { _ in .response(200) }
        let (client, own) = ownClient()
        let received = AsyncStream.makeStream(of: String?.self)
        let request = try raw("/a")
        let operation = try image("/b")
        let queue = DispatchQueue(label: "hears")
        var spans = received.stream.makeAsyncIterator()
        _ = ServiceContext.withValue(context("one")) {
            client.executeRequest(request, deliverOn: queue) { _ in received.continuation.yield(Self.span) }
        }
        #expect(await spans.next() == "one")
        _ = ServiceContext.withValue(context("two")) {
            client.executeRequest(request, deliverOn: MainActor.shared) { _ in received.continuation.yield(Self.span) }
        }
        #expect(await spans.next() == "two")
        let token = ServiceContext.withValue(context("three")) {
            client.watch(operation, deliverOn: queue) { _ in received.continuation.yield(Self.span) }
        }
        #expect(await spans.next() == "three")
        token?.cancel()
        withExtendedLifetime((client, own)) {}
        server.stop()
    }

    @Test func customClientCallsBackInTheCallersTrace() async throws {
        Beagle.dependencies.callerContexts = [.trace]
        let request = try raw("http://127.0.0.1:1/")
        let received = AsyncStream.makeStream(of: String?.self)
        let queue = DispatchQueue(label: "hears")
        ServiceContext.withValue(context("one")) {
            ForeignClient().executeRequest(request, deliverOn: queue) { _ in received.continuation.yield(Self.span) }
            ForeignClient().executeRequest(request, deliverOn: MainActor.shared) { _ in
                received.continuation.yield(Self.span)
            }
        }
        var spans: [String?] = []
        for await span in received.stream.prefix(2) { spans.append(span) }
        #expect(spans == ["one", "one"])
    }

    @Test(arguments: [false, true]) func emittedResultsAreDeliveredInTheTraceOfEachCaller(_ isCarried: Bool)
        async throws
    {
        let gate = try LoopbackServer.Gate()
        let server = try serve { _ in .sequence([.gate(gate), .response(200, [:], "hello")]) }
        if isCarried { Beagle.dependencies.callerContexts = [.trace] }
        let client = try client()
        var operation = try image("/a")
        operation.reportsProgress = true
        let received = Lock<[String: Set<String?>]>([:])
        try await withThrowingTaskGroup(of: Void.self) { [operation] group in
            for span in ["one", "two"] {
                group.addTask {
                    _ = try await ServiceContext.withValue(self.context(span)) {
                        try await client.run(operation) { _ in
                            received.withLock { _ = $0[span, default: []].insert(Self.span) }
                        }
                    }
                }
            }
            while client.activeSubscribers < 2 { await Task.yield() }
            gate.open()
            try await group.waitForAll()
        }
        let each = received.withLock { $0 }
        #expect(each.count == 2)
        if isCarried {
            #expect(each == ["one": ["one"], "two": ["two"]])
        } else {
            #expect(each["one"] == each["two"])
        }
        #expect(server.requests.count == 1)
    }

    @Test func resultSequenceIsReadInTheTraceOfEachCaller() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try serve { _ in .sequence([.gate(gate), .response(200, [:], "hello")]) }
        let client = try client()
        var operation = try image("/a")
        operation.reportsProgress = true
        let read = try await withThrowingTaskGroup(of: (String, Set<String?>).self) { [operation] group in
            for span in ["one", "two"] {
                group.addTask {
                    try await ServiceContext.withValue(self.context(span)) {
                        var spans: Set<String?> = []
                        for try await _ in client.results(of: operation) { spans.insert(Self.span) }
                        return (span, spans)
                    }
                }
            }
            while client.activeSubscribers < 2 { await Task.yield() }
            gate.open()
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(read == ["one": ["one"], "two": ["two"]])
        #expect(server.requests.count == 1)
    }

    @Test func logMessagesHaveTheMetadataOfTheCaller() async throws {
        let server = try serve { _ in .response(200) }
        Beagle.dependencies.logger = SwiftLogLogger.current
        let client = try client()
        let request = try raw("/a?token=c4n4ry")
        await withLogger(logLevel: .debug, handler: handler) { _ in
            await withLogger(mergingMetadata: ["screen": "home"]) { _ in
                await withCheckedContinuation { continuation in
                    client.executeRequest(request) { _ in continuation.resume() }
                }
            }
        }
        #expect(handler.entries.map { $0.metadata["screen"] } == ["home"])
        #expect(!handler.entries.contains { "\($0.message) \($0.metadata)".contains("c4n4ry") })
        server.stop()
    }

    @Test func logOfAStreamsEndHasTheMetadataOfTheCaller() async throws {
        let server = try serve { _ in .response(200, [:], "abc") }
        Beagle.dependencies.logger = SwiftLogLogger.current
        let client = try client()
        let request = try raw("/a")
        let stream = try await withLogger(logLevel: .debug, handler: handler) { _ in
            try await withLogger(mergingMetadata: ["screen": "home"]) { _ in try await client.stream(request) }
        }
        try await withLogger(handler: handler) { _ in _ = try await stream.collect() }
        #expect(handler.entries.map { $0.metadata["screen"] } == ["home"])
        server.stop()
    }
}

/// A client that completes on a thread without the caller's context.
private struct ForeignClient: NetworkClient {
    func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        DispatchQueue.global().async { completion(.failure(NetworkError(.network, during: .connect, "no"))) }
        return nil
    }
}
