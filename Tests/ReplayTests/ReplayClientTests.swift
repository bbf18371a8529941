import BeagleNet
import BeagleNetHTTP
import BeagleNetReplay
import BeagleNetTesting
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite(.beagle()) struct ReplayClientTests {
    private func client(_ entries: [LogEntry], matching: [ReplayTransport.MatchRule] = .standard) throws -> ReplayClient
    {
        let dependencies = Beagle.dependencies
        dependencies.httpRequestBuilder.baseURL = URL(string: Exchanges.base)
        let client = ReplayClient(Recording(entries), matching: matching, dependencies: dependencies)
        dependencies.networkClient = client
        return client
    }

    private func request(_ path: String, _ type: Request.RequestType = .fetchComponent) throws -> Request {
        Request(url: try #require(URL(string: path)), type: type)
    }

    /// Each kind of request is matched as it is sent: with the container's base URL and the form's encoding.
    @Test func everyKindOfRequestIsReplayed() async throws {
        let client = try client([
            Exchanges.entry("GET", "/home?a=1", answer: "screen"),
            Exchanges.entry("GET", "/logo", answer: "image", at: 1),
            Exchanges.entry(
                "POST",
                "/signup",
                body: Exchanges.form("name=Ann&password=REDACTED"),
                answer: "form",
                at: 2
            ),
            Exchanges.entry("PATCH", "/raw", body: Exchanges.json(#"{"b":2,"a":1}"#), answer: "raw", at: 3),
            Exchanges.entry("GET", "/stream", answer: "stream", at: 4),
        ])
        let fields = [FormField("password", "geheim"), FormField("name", "Ann")]
        let form = Request.FormData(method: .post, fields: fields, encoding: .urlEncoded)
        let raw = Request.RequestData(method: "PATCH", body: .json(["a": 1, "b": 2]))
        let rows: [(String, Request.RequestType, String)] = [
            ("/home?a=1", .fetchComponent, "screen"), ("/logo", .fetchImage, "image"),
            ("/signup", .submitForm(form), "form"), ("/raw", .rawRequest(raw), "raw"),
        ]
        for (path, type, text) in rows {
            #expect(try await client.executeRequest(request(path, type)).text() == text)
        }
        let stream = try await client.stream(request("/stream"))
        #expect(try await stream.collect().text() == "stream")
        try client.assertAllUsed()
    }

    @Test("a form that is missing in an offline recording isn't stored in the outbox")
    func missIsNotStoredInTheOutbox() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)").path
        // Nothing is written, so there may be nothing to remove.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let outbox = Outbox(directory: folder)
        let client = try client([Exchanges.entry("GET", "/a", answer: "a")])
        Beagle.dependencies.interceptors.add(OutboxInterceptor(outbox))
        let form = Request.FormData(method: .post, fields: [FormField("name", "Ann")])
        var operation = NetworkOperation(try request("/signup", .submitForm(form)))
        for policy in [Outbox.Choice.automatic, .queue("forms")] {
            operation.outbox = policy
            await #expect { try await client.run(operation) } throws: { error in
                (error as? NetworkError)?.kind == .notInRecording && (error as? NetworkError)?.isStoredInOutbox == false
            }
        }
        #expect(try outbox.entries().isEmpty)
    }

    @Test("flushing against an offline recording leaves the entries in the outbox")
    func flushOfflineLeavesEntries() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let outbox = Outbox(directory: folder)
        let dependencies = Beagle.dependencies
        dependencies.interceptors.add(OutboxInterceptor(outbox))
        let closed = NetworkClientDefault(dependencies: dependencies)
        let form = Request.FormData(method: .post, fields: [FormField("name", "Ann")])
        let url = try #require(URL(string: "http://127.0.0.1:1/signup"))
        let kept = await #expect(throws: NetworkError.self) {
            try await closed.executeRequest(Request(url: url, type: .submitForm(form)))
        }
        #expect(kept?.isStoredInOutbox == true)
        let body = Exchanges.json(#"{"name":"Ann"}"#)
        let recording = Recording([Exchanges.entry("POST", url.absoluteString, body: body, answer: "ok")])
        let report = try await outbox.flush(with: ReplayClient(recording, dependencies: dependencies))
        #expect(report.delivered.isEmpty)
        #expect(report.failures.first?.kind == .notInRecording)
        #expect(try outbox.entries().count == 1)
    }

    @Test func watchedOperationReceivesEachRefetch() async throws {
        let client: any NetworkClient = try client([
            Exchanges.entry("GET", "/home", answer: "1"), Exchanges.entry("GET", "/home", answer: "2", at: 1),
        ])
        let (texts, continuation) = AsyncStream.makeStream(of: String.self)
        let token = client.watch(NetworkOperation(try request("/home"))) { event in
            guard case .result(let result) = event, result.isSettled, let text = try? result.response?.text() else {
                return
            }
            continuation.yield(text)
        }
        var received = texts.makeAsyncIterator()
        #expect(await received.next() == "1")
        client.refetch()
        #expect(await received.next() == "2")
        token?.cancel()
    }

    @Test func errorStatusIsAnErrorWithItsResponse() async throws {
        let client = try client([Exchanges.entry("GET", "/a", status: 404, answer: "gone")])
        await #expect { try await client.executeRequest(self.request("/a")) } throws: { error in
            let error = error as? NetworkError
            return error?.kind == .status && error?.response?.status == .notFound
                && error?.data == Data("gone".utf8)
        }
        #expect(try await client.send(request("/a")).status == .notFound)
    }

    @Test func completionHandlerReceivesTheResponse() async throws {
        let client = try client([Exchanges.entry("GET", "/a", answer: "there")])
        let request = try request("/a")
        let result = await withCheckedContinuation { continuation in
            client.executeRequest(request) { continuation.resume(returning: $0) }
        }
        #expect(try result.get().text() == "there")
    }

    @Test func missIsAnErrorThatIsNotRetried() async throws {
        let client = try client([Exchanges.entry("GET", "/a?x=1")])
        await #expect { try await client.executeRequest(self.request("/a?x=2")) } throws: { error in
            let error = error as? NetworkError
            return error?.kind == .notInRecording && error?.underlying is ReplayTransport.Miss
        }
    }

    /// The pipeline works as it does over the network: the first attempt fails as recorded.
    @Test func retryReceivesTheNextEntry() async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        var failed = Exchanges.entry("GET", "/a")
        (failed.response, failed.error) = (nil, "network: the connection was lost")
        let client = try client([failed, Exchanges.entry("GET", "/a", answer: "there", at: 1)])
        async let response = client.executeRequest(request("/a"))
        await clock.waitForSleepers(1)
        while let wait = clock.nextWait, client.unused.count == 1 { clock.advance(by: wait) }
        #expect(try await response.text() == "there")
        try client.assertAllUsed()
    }

    @Test func graphQLOperationsAreMatchedByDocumentAndName() async throws {
        let client = try client(
            ["A", "B"].map { name in
                Exchanges.entry(
                    "POST",
                    "/graphql",
                    body: Exchanges.json(#"{"query":"query \#(name) { a }","operationName":"\#(name)"}"#),
                    answer: name
                )
            },
            matching: [.method, .path, .graphQL]
        )
        for name in ["B", "A"] {
            let body: JSONValue = ["operationName": .string(name), "query": .string("query \(name){a}")]
            let request = try request("/graphql", .rawRequest(.init(method: "POST", body: .json(body))))
            let result = try await client.run(NetworkOperation(request, kind: .query))
            #expect(try result.response?.text() == name)
        }
    }

    @Test func kindRuleMatchesTheKindOfTheRequest() async throws {
        let entries = ["image", "component"].map { kind in
            var entry = Exchanges.entry("GET", "/a", answer: kind)
            entry.kind = kind
            return entry
        }
        let client = try client(entries, matching: .standard + [.kind])
        #expect(try await client.executeRequest(request("/a")).text() == "component")
        #expect(try await client.executeRequest(request("/a", .fetchImage)).text() == "image")
        #expect(try await client.stream(request("/a", .fetchImage)).collect().text() == "image")
        let request = try request("/a")
        let result = await withCheckedContinuation { continuation in
            client.executeRequest(request) { continuation.resume(returning: $0) }
        }
        #expect(try result.get().text() == "component")
    }

    /// The limit applies as over the network, even to a recorded image.
    @Test func imageWithTooManyPixelsIsRejected() async throws {
        let gif = "GIF89a\u{7F}\u{7F}\u{7F}\u{7F}"
        let client = try client([Exchanges.entry("GET", "/a", type: "image/gif", answer: gif)])
        let error = try await #require(throws: NetworkError.self) {
            try await client.executeRequest(request("/a", .fetchImage))
        }
        #expect(error.kind == .tooLarge)
        #expect(try await client.executeRequest(request("/a")).text() == gif)
    }

    @Test func secretsOfTheAppsRedactorAreNotCompared() async throws {
        Beagle.dependencies.redactor = Redactor(secrets: ["plan"])
        let client = try client([Exchanges.entry("GET", "/a?plan=REDACTED", answer: "there")])
        #expect(try await client.executeRequest(request("/a?plan=x")).text() == "there")
    }

    @Test func cancellingDuringTheDelayReportsCancelledOnce() async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        Beagle.dependencies.interceptors = [StatusInterceptor()]
        let recording = Recording([Exchanges.entry("GET", "https://api.example.com/a")])
        let client = ReplayClient(recording, timing: .fixed(.seconds(5)))
        let request = try request("https://api.example.com/a", .rawRequest(.init()))
        let result = await withCheckedContinuation { continuation in
            let token = client.executeRequest(request) { continuation.resume(returning: $0) }
            Task {
                await clock.waitForSleepers(1)
                token?.cancel()
                token?.cancel()
            }
        }
        guard case .failure(let error) = result else {
            Issue.record("a cancelled request received a response")
            return
        }
        #expect(error.isCancelled)
        #expect(clock.nextWait == nil)
    }
}
