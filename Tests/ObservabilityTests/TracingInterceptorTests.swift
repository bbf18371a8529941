import BeagleNet
import BeagleNetGraphQL
import BeagleNetObservability
import BeagleNetTesting
import CurlPeers
import Dispatch
import InMemoryTracing
import Testing
import Tracing

/// Spans of the default client over libcurl and real sockets.
@Suite(.leavesNothing, .beagle(.live) { $0.logger = .off }, .timeLimit(.minutes(5))) struct TracingInterceptorTests {
    private let tracer = W3CTracer()

    private func trace(origins: Set<Origin>? = nil, sendsBaggage: Bool = false) {
        Beagle.dependencies.interceptors.add(
            TracingInterceptor(tracer: tracer, origins: origins, sendsBaggage: sendsBaggage)
        )
    }

    // MARK: - Contents of a span

    @Test func attemptCreatesASpan() async throws {
        let server = try serve { _ in .response(200, [:], "hello") }
        trace()
        _ = try await client().executeRequest(raw("/a"))
        let span = try #require(tracer.spans.first)
        #expect(tracer.spans.count == 1)
        #expect(span.operationName == "GET" && span.kind == .client && span.status == nil)
        #expect(span["http.request.method"] == "GET" && span["http.request.method_original"] == nil)
        #expect(span["server.address"] == "127.0.0.1" && span["server.port"] == "\(server.port)")
        #expect(span["url.full"] == "\(server.url)/a")
        #expect(span["http.response.status_code"] == "200")
        #expect(span["network.protocol.version"] == "1.1")
        #expect(span["network.peer.address"] == "127.0.0.1" && span["network.peer.port"] == "\(server.port)")
        #expect(span["error.type"] == nil && span["http.request.resend_count"] == nil)
        #expect(span["beagle.request.type"] == "raw" && span["graphql.operation.type"] == nil)
        #expect(server.requests.map { $0["traceparent"] } == [span.traceparent])
        #expect(server.requests.map { $0["tracestate"] } == ["vendor=1"])
    }

    @Test func phasesAreRecordedAsEvents() async throws {
        let server = try serve { _ in .response(200) }
        trace()
        for _ in 1...2 { _ = try await client().executeRequest(raw("/a")) }
        let (first, second) = (tracer.spans[0].events, tracer.spans[1].events)
        #expect(
            first.map(\.name).filter { $0 != "http.dns" }
                == ["http.connect", "http.request.sent", "http.response.first_byte"]
        )
        #expect(second.map(\.name) == ["http.request.sent", "http.response.first_byte"])
        let times = first.map(\.nanosecondsSinceEpoch)
        #expect(times == times.sorted())
        server.stop()
    }

    @Test func urlTemplateIsPartOfTheSpanName() async throws {
        let server = try serve { _ in .response(200) }
        trace()
        var operation = try NetworkOperation(raw("/users/7"))
        operation.urlTemplate = "/users/{id}"
        _ = try await client().run(operation) { _ in }
        #expect(tracer.spans.map(\.operationName) == ["GET /users/{id}"])
        #expect(tracer.spans.first?["url.template"] == "/users/{id}")
        server.stop()
    }

    @Test func unknownMethodIsNotPartOfTheSpanName() async throws {
        let server = try serve { _ in .response(200) }
        trace()
        _ = try await client().executeRequest(raw("/a", "BREW"))
        let span = try #require(tracer.spans.first)
        #expect(span.operationName == "HTTP")
        #expect(span["http.request.method"] == "_OTHER" && span["http.request.method_original"] == "BREW")
        server.stop()
    }

    @Test func graphQLOperationTypeIsAnAttribute() async throws {
        let server = try serve { _ in .response(200) }
        trace()
        _ = try await client().run(NetworkOperation(raw("/a"), kind: .query)) { _ in }
        #expect(tracer.spans.first?["graphql.operation.type"] == "query")
        #expect(tracer.spans.first?["graphql.operation.name"] == nil)
        server.stop()
    }

    @Test func graphQLOperationNameIsAnAttributeButNotTheSpanName() async throws {
        let server = try serve { _ in .response(200) }
        trace()
        var operation = NetworkOperation(try raw("/a"), kind: .query)
        operation.operationName = "Home"
        _ = try await client().run(operation) { _ in }
        #expect(tracer.spans.first?["graphql.operation.name"] == "Home")
        #expect(tracer.spans.first?.operationName == "GET")
        server.stop()
    }

    @Test func graphQLSpansHaveTypesAndNamesOfTheirOperations() async throws {
        let server = try serve { _ in .response(200, ["Content-Type": "application/json"], #"{"data":{"post":"T"}}"#) }
        trace()
        let (client, endpoint) = (try client(), GraphQLEndpoint("\(server.url)/graphql"))
        for text in ["query Post($id: ID!) { post(id: $id) }", "mutation($id: ID!) { post(id: $id) }"] {
            let operation = GraphQLOperation<IDInput, String>(input: IDInput(id: "c4n4ry"), operationString: text)
            #expect(try await client.perform(operation, at: endpoint) == "T")
        }
        #expect(tracer.spans.map { $0["graphql.operation.type"] } == ["query", "mutation"])
        #expect(tracer.spans.map { $0["graphql.operation.name"] } == ["Post", nil])
        #expect(tracer.spans.map { $0["beagle.request.type"] } == ["query", "mutation"])
        #expect(tracer.spans.map(\.operationName) == ["POST", "POST"])
        #expect(tracer.spans.allSatisfy { span in !span.attributes.texts.contains { $0.contains("c4n4ry") } })
    }

    @Test func spansDoNotContainSecrets() async throws {
        let canary = "c4n4ry"
        let server = try serve { request in
            request.target.hasPrefix("/r") ? .response(302, ["Location": "/b?token=\(canary)"]) : .response(200)
        }
        trace()
        Beagle.dependencies.redactor.secrets = ["pin"]
        let form = Request.FormData(method: .get, values: ["nick": canary])
        _ = try await client().executeRequest(
            raw("/r?access_token=\(canary)&pin=\(canary)&page=2", headers: ["Authorization": "Bearer \(canary)"])
        )
        _ = try await client().submit(form, to: "/form")
        #expect(tracer.spans.count == 3)
        #expect(tracer.spans[0]["url.full"] == "\(server.url)/r?access_token=REDACTED&pin=REDACTED&page=2")
        #expect(tracer.spans[2]["url.full"] == "\(server.url)/form?…")
        for span in tracer.spans {
            #expect(!"\(span.operationName) \(span.attributes) \(span.events)".contains(canary))
            #expect(!span.attributes.texts.contains { $0.contains(canary) })
        }
    }

    // MARK: - Attempts and redirects

    @Test func everyAttemptHasItsOwnSpan() async throws {
        let server = try serve { request in .response(request.target == "/a" && request.connection > 0 ? 503 : 200) }
        trace()
        Beagle.dependencies.interceptors.replace(with: RetryInterceptor(backoff: Backoff(base: .zero, limit: 2)))
        await #expect(throws: NetworkError.self) { try await client().executeRequest(raw("/a")) }
        #expect(tracer.spans.map { $0["http.request.resend_count"] } == [nil, "1"])
        #expect(tracer.spans.map { $0["http.response.status_code"] } == ["503", "503"])
        #expect(tracer.spans.map { $0["error.type"] } == ["503", "503"])
        #expect(tracer.spans.allSatisfy { $0.isError && $0.status?.message == nil })
        #expect(server.requests.map { $0["traceparent"] } == tracer.spans.map(\.traceparent))
    }

    @Test func everyRedirectHasItsOwnSpanAndTraceFields() async throws {
        let server = try serve { request in
            request.target == "/a" ? .response(303, ["Location": "/b"]) : .response(200)
        }
        trace()
        _ = try await client().executeRequest(raw("/a", "POST"))
        #expect(tracer.spans.map(\.operationName) == ["POST", "GET"])
        #expect(tracer.spans.map { $0["http.response.status_code"] } == ["303", "200"])
        #expect(tracer.spans.map { $0["http.request.resend_count"] } == [nil, "1"])
        #expect(tracer.spans.map { $0["url.full"] } == ["\(server.url)/a", "\(server.url)/b"])
        #expect(tracer.spans.allSatisfy { $0.status == nil && $0["error.type"] == nil })
        #expect(server.requests.map { $0["traceparent"] } == tracer.spans.map(\.traceparent))
    }

    @Test func traceIsNotSentToARedirectedOrigin() async throws {
        let other = try LoopbackServer(.response(200))
        let server = try serve { _ in .response(302, ["Location": "\(other.url)/b"]) }
        trace(sendsBaggage: true)
        _ = try await client().executeRequest(raw("/a"))
        #expect(server.requests.map { $0["traceparent"] } == [tracer.spans[0].traceparent])
        #expect(other.requests.count == 1)
        for field in ["traceparent", "tracestate", "baggage"] { #expect(other.requests[0][field] == nil) }
        #expect(tracer.spans.map { $0["server.port"] } == ["\(server.port)", "\(other.port)"])
    }

    private static let traceFields = ["traceparent", "tracestate", "baggage"]

    private func origins(_ servers: LoopbackServer...) throws -> Set<Origin> {
        Set(try servers.map { try #require(URL(string: $0.url).flatMap(Origin.init)) })
    }

    @Test func traceIsSentToARedirectedOriginOfTheApp() async throws {
        let other = try LoopbackServer(.response(200))
        let server = try serve { _ in .response(302, ["Location": "\(other.url)/b"]) }
        trace(origins: try origins(server, other), sendsBaggage: true)
        _ = try await client().executeRequest(raw("/a"))
        for (server, span) in zip([server, other], tracer.spans) {
            let request = try #require(server.requests.first)
            #expect(Self.traceFields.map { request[$0] } == [span.traceparent, "vendor=1", "user=ada"])
        }
    }

    @Test func traceIsSentOnlyToDeclaredOriginsOfARedirectChain() async throws {
        let last = try LoopbackServer(.response(200))
        let own = try LoopbackServer(.response(302, ["Location": "\(last.url)/c"]))
        let first = try serve { _ in .response(302, ["Location": "\(own.url)/b"]) }
        trace(origins: try origins(own), sendsBaggage: true)
        _ = try await client().executeRequest(raw("/a"))
        let fields = try [first, own, last].map { server in
            let request = try #require(server.requests.first)
            return Self.traceFields.map { request[$0] }
        }
        #expect(fields == [[nil, nil, nil], [tracer.spans[1].traceparent, "vendor=1", "user=ada"], [nil, nil, nil]])
    }

    @Test func unfollowedRedirectCreatesNoSpan() async throws {
        let server = try serve { _ in .response(307, ["Location": "/b"]) }
        trace()
        let body = HTTPBody.stream { AsyncStream { $0.finish() } }
        let url = try #require(URL(string: "/a"))
        let data = Request.RequestData(method: "POST", body: .stream(body))
        await #expect(throws: NetworkError.self) {
            try await client().executeRequest(Request(url: url, type: .rawRequest(data)))
        }
        #expect(tracer.spans.map { $0["error.type"] } == ["bad_request"])
        #expect(server.requests.count == 1)
    }

    @Test func resendCountIncludesRetriesRedirectsAndRenewals() async throws {
        let server = try serve { request in
            switch request["Authorization"] {
            case "0": .response(401)
            default: .response(request.target == "/a" ? 302 : 503, ["Location": "/b"])
            }
        }
        trace()
        Beagle.dependencies.interceptors.replace(with: RetryInterceptor(backoff: Backoff(base: .zero, limit: 2)))
        let rules = AuthInterceptor<Int>.Rules(
            load: { 0 },
            renew: { $0 + 1 },
            attach: { credential, head in head.headerFields[.authorization] = "\(credential)" }
        )
        Beagle.dependencies.interceptors.add(AuthInterceptor(rules))
        await #expect(throws: NetworkError.self) { try await client().executeRequest(raw("/a")) }
        #expect(tracer.spans.map { $0["http.response.status_code"] } == ["401", "302", "503", "302", "503"])
        #expect(tracer.spans.map { $0["http.request.resend_count"] } == [nil, "1", "2", "3", "4"])
        server.stop()
    }

    @Test func traceIsNotSentToUndeclaredOrigins() async throws {
        let other = try LoopbackServer(.response(200))
        let server = try serve { _ in .response(200) }
        trace()
        _ = try await client().executeRequest(raw("\(other.url)/a"))
        #expect(other.requests.map { $0["traceparent"] } == [nil])
        #expect(tracer.spans.count == 1)
        server.stop()
    }

    @Test func redirectPolicyOfTheAppIsRespected() async throws {
        let server = try serve { _ in .response(302, ["Location": "/b"]) }
        trace()
        let request = try raw("/a", redirects: .follow.deciding { _ in .refuse("no") })
        let refused = try await #require(throws: NetworkError.self) { try await client().executeRequest(request) }
        #expect(refused.kind == .blocked)
        #expect(server.requests.count == 1)
        #expect(tracer.spans.map { $0["error.type"] } == ["blocked"])
    }

    @Test(arguments: [false, true]) func baggageIsSentOnRequest(_ isEnabled: Bool) async throws {
        let server = try serve { _ in .response(200) }
        trace(sendsBaggage: isEnabled)
        _ = try await client().executeRequest(raw("/a"))
        #expect(server.requests.map { $0["baggage"] } == [isEnabled ? "user=ada" : nil])
    }

    @Test(arguments: [false, true])
    func tracedResponseIsStoredUnlessBaggageIsSent(sendsBaggage: Bool) async throws {
        let server = try serve { _ in .response(200) }
        trace(sendsBaggage: sendsBaggage)
        let store = MemoryResponseStore()
        Beagle.dependencies.interceptors.add(CacheInterceptor(store))
        _ = try await client().run(image("/a"))
        #expect(server.requests.map { $0["b3"] } == ["1"])
        #expect(store.count == (sendsBaggage ? 0 : 1))
    }

    // MARK: - Results

    @Test func errorStatusIsRecordedAsAnError() async throws {
        let server = try serve { _ in .response(404) }
        trace()
        await #expect(throws: NetworkError.self) { try await client().executeRequest(raw("/a")) }
        #expect(tracer.spans.map { $0["error.type"] } == ["404"])
        #expect(tracer.spans.map(\.isError) == [true])
        server.stop()
    }

    @Test func returnedRedirectIsNotAnError() async throws {
        let server = try serve { _ in .response(302, ["Location": "/b"]) }
        trace()
        let request = try raw("/a", redirects: .manual)
        await #expect(throws: NetworkError.self) { try await client().executeRequest(request) }
        #expect(tracer.spans.map { $0["http.response.status_code"] } == ["302"])
        #expect(tracer.spans.allSatisfy { $0.status == nil && $0["error.type"] == nil })
        server.stop()
    }

    @Test func failureIsRecordedWithItsKind() async throws {
        let server = try serve { _ in .close }
        trace()
        await #expect(throws: NetworkError.self) { try await client().executeRequest(raw("/a", "POST")) }
        #expect(tracer.spans.map { $0["error.type"] } == ["network"])
        #expect(tracer.spans.allSatisfy { $0.isError && $0.status?.message != nil })
        #expect(tracer.spans.map { $0["http.response.status_code"] } == [nil])
        server.stop()
    }

    @Test func cancellationIsRecordedAsAnError() async throws {
        let server = try serve { _ in .stall }
        trace()
        let task = Task { try await client().executeRequest(raw("/a")) }
        await server.until { $0.requestCount == 1 }
        task.cancel()
        _ = await task.result
        #expect(tracer.spans.map { $0["error.type"] } == ["cancelled"])
    }

    @Test func spanOfAStreamEndsWithItsBody() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try serve { _ in
            .sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"), .gate(gate), .raw("cd")])
        }
        trace()
        let stream = try await client().stream(raw("/a"))
        #expect(tracer.spans.isEmpty && tracer.memory.activeSpans.count == 1)
        gate.open()
        #expect(try await stream.collect().text() == "abcd")
        #expect(tracer.spans.map { $0["http.response.status_code"] } == ["200"])
        #expect(tracer.spans.map(\.isError) == [false])
        server.stop()
    }

    @Test func releasedStreamIsNotAnError() async throws {
        let server = try serve { _ in .sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"), .stall]) }
        trace()
        do {
            let stream = try await client().stream(raw("/a"))
            #expect(tracer.spans.isEmpty)
            withExtendedLifetime(stream) {}
        }
        #expect(tracer.spans.map { $0["error.type"] } == [nil])
        #expect(tracer.memory.activeSpans.isEmpty)
        server.stop()
    }

    @Test func truncatedStreamIsAnError() async throws {
        let server = try serve { _ in .sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"), .close]) }
        trace()
        let stream = try await client().stream(raw("/a"))
        await #expect(throws: NetworkError.self) { try await stream.collect() }
        #expect(tracer.spans.map { $0["error.type"] } == ["truncated"])
        #expect(tracer.spans.map { $0["http.response.status_code"] } == ["200"])
        server.stop()
    }

    @Test func releasedStreamHasOnlyTheEventsOfItsHead() async throws {
        let server = try serve { _ in .sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"), .stall]) }
        trace()
        let seen: UInt64
        do {
            let stream = try await client().stream(raw("/a"))
            seen = DefaultTracerClock.now.nanosecondsSinceEpoch
            withExtendedLifetime(stream) {}
        }
        let events = try #require(tracer.spans.first).events
        #expect(events.last?.name == "http.response.first_byte")
        #expect(events.allSatisfy { $0.nanosecondsSinceEpoch <= seen })
        server.stop()
    }

    // MARK: - Unsent requests

    @Test func unsupportedOperationCreatesNoSpan() async throws {
        trace()
        let client = try client()
        let refused = try await #require(throws: NetworkError.self) {
            try await client.run(NetworkOperation(raw("http://127.0.0.1:1/"), kind: .subscription)) { _ in }
        }
        #expect(refused.kind == .unsupported)
        #expect(tracer.spans.isEmpty && tracer.memory.activeSpans.isEmpty)
    }

    @Test func cacheOnlyOperationCreatesNoSpan() async throws {
        trace()
        let client = try client()
        let operation = NetworkOperation(try raw("http://127.0.0.1:1/"), kind: .image, policy: .cacheOnly)
        let refused = try await #require(throws: NetworkError.self) { try await client.run(operation) }
        #expect(refused.kind == .notStored)
        #expect(tracer.spans.isEmpty && tracer.memory.activeSpans.isEmpty)
    }

    @Test func requestCancelledBeforeSendingCreatesNoSpan() async throws {
        let server = try serve { _ in .response(200) }
        trace()
        Beagle.dependencies.interceptors.insert(OperationReader { withUnsafeCurrentTask { $0?.cancel() } }, at: 0)
        let client = try client()
        let request = try raw("/a")
        let outcome = await Task { try await client.executeRequest(request) }.result
        #expect(throws: NetworkError.self) { try outcome.get() }
        #expect(tracer.spans.isEmpty && tracer.memory.activeSpans.isEmpty)
        #expect(server.requests.isEmpty)
    }

    @Test func responseOfAnInterceptorHasASpan() async throws {
        trace()
        Beagle.dependencies.interceptors.append(FixedResponseInterceptor())
        _ = try await client().run(NetworkOperation(raw("http://127.0.0.1:1/"), kind: .subscription)) { _ in }
        #expect(tracer.spans.map { $0["graphql.operation.type"] } == ["subscription"])
    }

    // MARK: - Callers

    /// Returns the ID of the span in which `ask` ran, and the parents of the spans that it created.
    private func parents(
        of ask: @escaping @Sendable (NetworkClientDefault) async throws -> Void
    ) async throws -> (caller: String, parents: [String?]) {
        let server = try serve { _ in .response(200) }
        trace()
        let client = try client()
        let caller = try await tracer.withSpan("screen") { span in
            try await ask(client)
            return span.spanID
        }
        server.stop()
        return (caller, tracer.spans.filter { $0.kind == .client }.map(\.parentSpanID))
    }

    @Test func runUsesTheCallersSpanAsParent() async throws {
        let found = try await parents { client in
            _ = try await client.run(NetworkOperation(raw("/a"))) { _ in }
            _ = try await client.run(image("/b")) { _ in }
            _ = try await client.stream(raw("/c")).collect()
        }
        #expect(found.parents == [found.caller, found.caller, found.caller])
    }

    @Test func completionBasedRequestUsesTheCallersSpanAsParent() async throws {
        let found = try await parents { client in
            for request in [try raw("/a"), try image("/b").request] {
                await withCheckedContinuation { continuation in
                    client.executeRequest(request) { _ in continuation.resume() }
                }
            }
        }
        #expect(found.parents == [found.caller, found.caller])
    }

    @Test func resultSequenceUsesTheCallersSpanAsParent() async throws {
        let found = try await parents { client in
            for try await _ in client.results(of: try image("/a")) {}
            for try await _ in client.results(of: NetworkOperation(try raw("/b"))) {}
        }
        #expect(found.parents == [found.caller, found.caller])
    }

    @Test func watchScopeAndDeadlineUseTheCallersSpanAsParent() async throws {
        let found = try await parents { client in
            let answers = AsyncStream.makeStream(of: Void.self)
            let token = client.watch(try image("/a")) { _ in answers.continuation.yield() }
            for await _ in answers.stream { break }
            token?.cancel()
            _ = try await client.scoped(in: OperationScope()).executeRequest(raw("/b"))
            var operation = try NetworkOperation(raw("/c"))
            operation.deadline = .seconds(60)
            _ = try await client.run(operation) { _ in }
        }
        #expect(found.parents == [found.caller, found.caller, found.caller])
    }

    @Test func traceIsUsedOnAThreadWithoutATask() async throws {
        let server = try serve { _ in .response(200) }
        trace()
        let client = try client()
        let request = try raw("/a")
        var context = ServiceContext.topLevel
        context.inMemorySpanContext = InMemorySpanContext(traceID: "t", spanID: "s", parentSpanID: nil)
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "no task").async { [context] in
                _ = ServiceContext.withValue(context) {
                    client.executeRequest(request) { _ in continuation.resume() }
                }
            }
        }
        #expect(tracer.spans.map(\.parentSpanID) == ["s"])
        server.stop()
    }

    @Test func callersTracerIsUsedByDefault() async throws {
        let server = try serve { _ in .response(200) }
        Beagle.dependencies.interceptors.add(TracingInterceptor())
        let client = try client()
        try await withTracer(tracer) { _ = try await client.run(image("/a")) { _ in } }
        _ = try await client.run(image("/b")) { _ in }
        #expect(tracer.spans.map { $0["url.full"] } == ["\(server.url)/a"])
        #expect(server.requests.map { $0["traceparent"] } == [tracer.spans.first?.traceparent, nil])
    }

    @Test func interceptorIsSkippedWithoutATracer() throws {
        #expect(try !TracingInterceptor().applies(to: NetworkOperation(raw("/a"))))
        #expect(try TracingInterceptor(tracer: tracer).applies(to: NetworkOperation(raw("/a"))))
    }

    @Test func laterInterceptorsHaveTheSpansContext() async throws {
        let server = try serve { _ in .response(200) }
        trace()
        let seen = Lock<String?>(nil)
        Beagle.dependencies.interceptors.append(
            OperationReader { seen.withLock { $0 = ServiceContext.current?.inMemorySpanContext?.spanID } }
        )
        _ = try await client().executeRequest(raw("/a"))
        #expect(seen.withLock { $0 } == tracer.spans.first?.spanID)
        server.stop()
    }
}

private struct OperationReader: Interceptor {
    let look: @Sendable () -> Void

    nonisolated(nonsending) func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        look()
        return try await next(operation, emit)
    }
}

private struct FixedResponseInterceptor: Interceptor {
    nonisolated(nonsending) func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        NetworkOperation.Result(NetworkResponse(data: Data(), response: HTTPResponse(status: .ok)))
    }
}

extension SpanAttributes {
    fileprivate var texts: [String] {
        var texts: [String] = []
        forEach { name, value in texts.append("\(name) \(value)") }
        return texts
    }
}
