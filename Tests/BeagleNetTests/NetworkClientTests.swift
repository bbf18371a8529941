import BeagleNet
import BeagleNetTesting
import Dispatch
import Testing
import TestClients

/// The methods of every client, on a client that implements only the requirements of the protocol.
@Suite(.beagle { $0.environment = .example }, .timeLimit(.minutes(5))) struct NetworkClientTests {
    private struct Screen: Decodable, Equatable { var title: String }

    private let request = Request(url: URL(string: "http://host/")!, type: .fetchComponent)

    @Test func fetchAppendsThePathToTheBaseURLAndDecodes() async throws {
        let seen = Lock<[Request]>([])
        let client = StubClient { request in
            seen.withLock { $0.append(request) }
            return try NetworkResponse(json: ["title": "Home"])
        }
        let screen = try await client.fetch("/home", as: Screen.self)
        let inferred: Screen = try await client.fetch(URL(string: "http://other/home")!)
        #expect(screen == Screen(title: "Home"))
        #expect(inferred == screen)
        #expect(seen.withLock { $0.map(\.url.absoluteString) } == ["http://example.com/home", "http://other/home"])
    }

    @Test func callPassesQueryHeadersAndTimeout() async throws {
        let seen = Lock<Request?>(nil)
        let client = StubClient { request in
            seen.withLock { $0 = request }
            return NetworkResponse()
        }
        _ = try await client.image(
            "/a.png",
            query: [URLQueryItem(name: "size", value: "2")],
            headers: ["X-A": "b"],
            timeout: .seconds(3)
        )
        let request = try #require(seen.withLock { $0 })
        #expect(request.query == [URLQueryItem(name: "size", value: "2")])
        #expect(request.additionalData?.headers == ["X-A": "b"])
        #expect(request.timeout == .seconds(3))
        #expect(request.options == nil)
    }

    @Test func aTimeoutKeepsTheOtherOptionsOfTheClient() async throws {
        let transport = ScriptedTransport()
        let options = TransferOptions(trust: .file(path: "/ca.pem"))
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport, options: options)
        _ = try await client.image("/a.png", timeout: .seconds(600))
        let used = transport.requests.withLock { $0[0].options }
        #expect(used.trust == options.trust)
        #expect(used.timeouts.total == .seconds(600))
    }

    @Test func fetchThrowsAStatusErrorWithAdvice() async throws {
        let client = StubClient { _ in
            var response = NetworkResponse(text: "slow down", status: .init(code: 429))
            response.response.headerFields[.retryAfter] = "7"
            return response
        }
        let error = try await #require(throws: NetworkError.self) { try await client.fetch("/", as: Screen.self) }
        #expect(error.kind == .status)
        #expect(error.description.contains("429"))
        #expect(error.description.contains("http://example.com/"))
        #expect(error.description.contains("try again after 7"))
    }

    @Test func sendDecodesSuccessfulResponsesOnly() async throws {
        let client = StubClient { request in
            try NetworkResponse(json: ["title": "x"], status: request.url.path == "/bad" ? .badRequest : .ok)
        }
        #expect(try await client.send(request, as: Screen.self).title == "x")
        let bad = Request(url: URL(string: "http://host/bad")!, type: .fetchComponent)
        await #expect(throws: NetworkError.self) { try await client.send(bad, as: Screen.self) }
        #expect(try await client.send(bad).decode(as: Screen.self).title == "x")
    }

    @Test func containerDecoderIsUsedUnlessTheCallHasItsOwn() async throws {
        struct Fixed: BodyDecoder {
            let title: String
            func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
                try JSONDecoder().decode(type, from: Data("{\"title\":\"\(title)\"}".utf8))
            }
        }
        Beagle.dependencies.bodyDecoder = Fixed(title: "container")
        let client = StubClient { _ in NetworkResponse() }
        #expect(try await client.fetch("/", as: Screen.self).title == "container")
        #expect(try await client.fetch("/", as: Screen.self, decoder: Fixed(title: "call")).title == "call")
    }

    @Test func containerEncoderWritesBodies() async throws {
        struct Fixed: BodyEncoder {
            func encode<Value: Encodable>(_ value: Value) throws -> Data { Data("\"fixed\"".utf8) }
        }
        let transport = ScriptedTransport()
        Beagle.dependencies.bodyEncoder = Fixed()
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        let data = Request.RequestData(method: "POST", body: .encodable(["a": 1]))
        _ = try await client.send(Request(url: URL(string: "http://host/")!, type: .rawRequest(data)))
        #expect(transport.requests.withLock { $0[0].body?.data } == Data("\"fixed\"".utf8))
    }

    @Test func formIsSubmittedUnchanged() async throws {
        let client = StubClient { request in
            guard case .submitForm(let form) = request.type else {
                return NetworkResponse(text: "", status: .badRequest)
            }
            return NetworkResponse(text: form.method.rawValue + " " + form.values["name", default: ""])
        }
        let form = Request.FormData(method: .put, values: ["name": "Ada"])
        #expect(try await client.submit(form, to: "/signup").response?.text() == "PUT Ada")
    }

    @Test func clientWithOneMethodCanStream() async throws {
        let response = try await StubClient { _ in NetworkResponse(text: "why", status: .notFound) }.stream(request)
        #expect(response.response.status == .notFound)
        #expect(try await response.collect().text() == "why")
    }

    @Test func doubleOrMissingCompletionIsTolerated() async throws {
        struct FaultyClient: NetworkClient {
            let answers: Int
            func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
                for _ in 0..<answers { completion(.success(NetworkResponse())) }
                return nil
            }
        }
        _ = try await FaultyClient(answers: 2).executeRequest(request)
        await #expect(throws: NetworkError.self) { try await FaultyClient(answers: 0).executeRequest(request) }
    }

    @Test func missingClientIsReported() async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let error = try await #require(throws: NetworkError.self) {
            try await Beagle.dependencies.networkClient.executeRequest(request)
        }
        #expect(error.kind == .notConfigured)
        #expect(error.advice?.contains("dependencies.networkClient") == true)
        #expect(logger.messages == ["The network client was not configured"])
    }

    // MARK: - Completion context

    @Test func completionRunsOnTheGivenQueueInItsScope() async {
        let queue = DispatchQueue(label: "chosen")
        let isThere = await withCheckedContinuation { continuation in
            Beagle.withDependencies(.preview) {
                _ = StubClient { _ in NetworkResponse() }.executeRequest(request, deliverOn: queue) { _ in
                    dispatchPrecondition(condition: .onQueue(queue))
                    continuation.resume(returning: Beagle.dependencies.context == .preview)
                }
            }
        }
        #expect(isThere)
    }

    @Test func completionRunsOnTheMainActorInItsScope() async {
        let isThere = await withCheckedContinuation { continuation in
            Beagle.withDependencies(.preview) {
                _ = StubClient { _ in NetworkResponse() }
                    .executeRequest(request, deliverOn: MainActor.shared) { _ in
                        MainActor.preconditionIsolated()
                        continuation.resume(returning: Beagle.dependencies.context == .preview)
                    }
            }
        }
        #expect(isThere)
    }

    // MARK: - The stub

    @Test func cancellingTheTaskCancelsTheStub() async {
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let client = StubClient { _ in
            continuation.yield()
            try await Task.sleep(for: .seconds(600))
            return NetworkResponse()
        }
        let task = Task { await Result { try await client.executeRequest(request) } }
        for await _ in started { break }
        task.cancel()
        #expect(await task.value.failure?.isCancelled == true)
    }

    @Test func stubErrorIsThrownUnchanged() async throws {
        let client = StubClient { _ in throw NetworkError(.dns, during: .resolve, "no such host") }
        let error = try await #require(throws: NetworkError.self) { try await client.image("/") }
        #expect(error.isOffline)
    }
}
