import BeagleNet
import BeagleNetTesting
import Dispatch
import Foundation
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct NetworkClientDefaultTests {
    private let request = Request(url: URL(string: "http://host/screen")!, type: .fetchComponent)

    private func client(_ transport: any HTTPTransport) -> NetworkClientDefault {
        NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
    }

    // MARK: - Outcomes

    @Test(arguments: [200, 201, 204, 299])
    func successStatusReturnsTheResponse(code: Int) async throws {
        let client = client(ScriptedTransport(status: .init(code: code), "body"))
        let response = try await client.executeRequest(request)
        #expect(response.response.status.code == code)
        #expect(try response.text() == "body")
        #expect(response.url == "http://host/screen")
    }

    @Test(
        "row 14: any other status, including 304, is a failure with the response",
        arguments: [199, 300, 304, 404, 500]
    )
    func otherStatusIsAFailureWithTheResponse(code: Int) async throws {
        let client = client(ScriptedTransport(status: .init(code: code), "why"))
        let error = try await #require(throws: NetworkError.self) { try await client.executeRequest(request) }
        #expect(error.kind == .status)
        #expect(error.response?.status.code == code)
        #expect(error.data == Data("why".utf8))
        #expect(error.request?.path == "/screen")
        #expect(error.error as? NetworkClientDefault.ClientError == .invalidHttpResponse)
    }

    @Test("rows 14 and 20: send returns any status with its reason phrase, fields and text", arguments: [304, 404])
    func sendReturnsAnyStatus(code: Int) async throws {
        let status = HTTPResponse.Status(code: code, reasonPhrase: "Said So")
        let client = client(ScriptedTransport(status: status, "why", [.eTag: "\"1\""]))
        let response = try await client.send(request)
        #expect(response.response.status.code == code)
        #expect(response.response.status.reasonPhrase == "Said So")
        #expect(response.response.headerFields[.eTag] == "\"1\"")
        #expect(try response.text() == "why")
        #expect(response.url == "http://host/screen")
    }

    /// A message is stored when it is built again, and then reused.
    @Test func repeatedRequestsAreSentWithTheirOwnHeadersAndTypes() async throws {
        let transport = ScriptedTransport(status: .ok, "body")
        let client = client(transport)
        let (one, two) = (HttpAdditionalData(headers: ["X-Page": "1"]), HttpAdditionalData(headers: ["X-Page": "2"]))
        for additionalData in [one, one, one, two, one] {
            _ = try await client.send(Request(url: request.url, type: .fetchComponent, additionalData: additionalData))
        }
        let posted = HttpAdditionalData(httpData: .init(method: .POST, body: Data("2".utf8)), headers: one.headers)
        _ = try await client.send(Request(url: request.url, type: .fetchComponent, additionalData: posted))
        _ = try await client.send(Request(url: request.url, type: .fetchImage, additionalData: one))
        _ = try await client.send(Request(url: request.url, type: .rawRequest(.init(headers: ["X-Page": "3"]))))
        let heads = transport.requests.withLock { $0.map(\.head) }
        #expect(heads.map { $0.headerFields[.init("X-Page")!] } == ["1", "1", "1", "2", "1", "1", "1", "3"])
        #expect(heads.map(\.method) == [.get, .get, .get, .get, .get, .post, .get, .get])
        #expect(Set(heads.suffix(3).map { $0.headerFields[.accept] }).count == 3)
    }

    @Test func headersThatDifferInBytesOnlyAreSentAsTheyAre() async throws {
        let transport = ScriptedTransport(status: .ok, "body")
        let client = client(transport)
        let values = ["caf\u{E9}", "caf\u{E9}", "cafe\u{301}"]
        for value in values {
            _ = try await client.send(Request(url: request.url, type: .rawRequest(.init(headers: ["X-Page": value]))))
        }
        let sent = transport.requests.withLock { $0.map { $0.head.headerFields[.init("X-Page")!] ?? "" } }
        #expect(sent.map { Array($0.utf8) } == values.map { Array($0.utf8) })
    }

    @Test func sendThrowsIfThereIsNoResponse() async throws {
        let client = client(ScriptedTransport { _ in .failure(NetworkError(.dns, during: .resolve, "no such host")) })
        let error = try await #require(throws: NetworkError.self) { try await client.send(request) }
        #expect(error.isOffline)
    }

    @Test("a form whose response was lost isn't safe to send again, whichever transport reports that")
    func lostFormOfAnotherTransportIsNotRetryable() async throws {
        // The transport says nothing about the request.
        let client = client(ScriptedTransport { _ in .failure(NetworkError(.network, during: .firstByte, "lost")) })
        let url = try #require(URL(string: "http://host/"))
        let kinds: [(Request.RequestType, Bool)] = [
            (.submitForm(.init(method: .put, values: [:])), false), (.rawRequest(.init(method: "PUT")), true),
        ]
        for (type, isRetryable) in kinds {
            let error = try await #require(throws: NetworkError.self) {
                try await client.executeRequest(Request(url: url, type: type))
            }
            #expect(error.isRetryable == isRetryable)
            #expect(error.request?.method == .put)
        }
    }

    @Test func headerThatOnlyTheAppKnowsToBeSecretNeedsDeclaredOrigins() async throws {
        Beagle.dependencies.redactor.secrets = ["x-shelf"]
        Beagle.dependencies.httpRequestBuilder.additionalHeaders = ["X-Shelf": "7"]
        let transport = ScriptedTransport()
        let error = try await #require(throws: NetworkError.self) {
            try await client(transport).executeRequest(request)
        }
        #expect(error.phase == .build && error.message.contains("X-Shelf"))
        #expect(transport.requests.withLock(\.isEmpty))
        Beagle.dependencies.httpRequestBuilder.origins = [Origin(scheme: "http", host: "host")]
        _ = try await client(transport).executeRequest(request)
    }

    @Test func invalidRequestIsNotSent() async throws {
        let transport = ScriptedTransport()
        let request = Request(url: URL(string: "ftp://host/")!, type: .fetchComponent)
        let error = try await #require(throws: NetworkError.self) {
            try await client(transport).executeRequest(request)
        }
        #expect(error.phase == .build)
        #expect(error.error as? NetworkClientDefault.ClientError == .invalidHttpRequest)
        #expect(transport.requests.withLock(\.isEmpty))
    }

    // MARK: - Requests that are made again

    @Test func equalRequestsHaveTheHeadersOfTheirTime() async throws {
        let transport = ScriptedTransport()
        let client = client(transport)
        let name = try #require(HTTPField.Name("X-Shelf"))
        for value in ["1", "1", "2"] {
            Beagle.dependencies.httpRequestBuilder.additionalHeaders = [name.rawName: value]
            _ = try await client.executeRequest(request)
        }
        #expect(transport.requests.withLock { $0.map { $0.head.headerFields[name] } } == ["1", "1", "2"])
    }

    @Test func requestsForOneURLHaveTheirOwnMessages() async throws {
        let url = try #require(URL(string: "http://host/screen"))
        let data: [Request.RequestData] = [
            .init(), .init(method: "HEAD"), .init(headers: ["X-A": "1"]), .init(headers: ["X-A": "2"]),
            .init(method: "POST", body: .text("a")), .init(method: "POST", body: .text("b")),
        ]
        var requests = [request, Request(url: url, type: .fetchImage)]
        requests += data.map { Request(url: url, type: .rawRequest($0)) }
        requests.append(Request(url: url, type: .fetchComponent, query: [URLQueryItem(name: "a", value: "1")]))
        requests.append(
            Request(url: url, type: .fetchComponent, additionalData: HttpAdditionalData(headers: ["X-A": "3"]))
        )
        requests += requests
        let transport = ScriptedTransport()
        let client = client(transport)
        for request in requests { _ = try await client.executeRequest(request) }
        let builder = Beagle.dependencies.httpRequestBuilder
        let expected = try requests.map { try builder.build($0) }
        let sent = transport.requests.withLock { $0 }
        #expect(sent.map(\.head) == expected.map(\.head))
        #expect(sent.map { $0.body?.data } == expected.map { $0.body?.data })
    }

    // MARK: - One completion

    @Test func theCompletionIsNeverCalledInsideExecuteRequest() async {
        let synchronous = ScriptedTransport { _, completion in
            completion(.success(TransferResponse(head: HTTPResponse(status: .ok), url: "")))
        }
        let form = Request(url: URL(string: "http://host/")!, type: .submitForm(.init(method: .post, values: [:])))
        let unbuildable = Request(url: URL(string: "ftp://host/")!, type: .fetchComponent)
        for request in [request, form, unbuildable] {
            let callerThread = Lock<pthread_t?>(pthread_self())
            let isInside = await withCheckedContinuation { continuation in
                _ = client(synchronous).executeRequest(request) { _ in
                    continuation.resume(returning: callerThread.withLock { $0 == pthread_self() })
                }
                callerThread.withLock { $0 = nil }
            }
            #expect(!isInside)
        }
    }

    @Test func secondCompletionOfTheTransportIsIgnored() async {
        let held = HeldCompletion()
        let results = AsyncStream.makeStream(of: NetworkClient.NetworkResult.self)
        client(held.transport()).executeRequest(request) { results.continuation.yield($0) }
        held.complete(.success(TransferResponse(head: HTTPResponse(status: .ok), url: "")))
        held.complete(.failure(.cancelled))
        // Another request completes after a second completion of the first one would have.
        let other = client(ScriptedTransport(status: .accepted))
        other.executeRequest(request) { _ in results.continuation.finish() }
        var received: [NetworkClient.NetworkResult] = []
        for await result in results.stream { received.append(result) }
        #expect(received.count == 1)
    }

    @Test func transportThatDropsItsCompletionIsAFailure() async {
        let held = HeldCompletion()
        let result = await withCheckedContinuation { continuation in
            client(held.transport()).executeRequest(request) { continuation.resume(returning: $0) }
            held.drop()
        }
        #expect(throws: NetworkError.self) { try result.get() }
    }

    @Test("row 16: the completion is called after the client is released")
    func theCompletionIsCalledAfterTheClientIsReleased() async {
        let held = HeldCompletion()
        let result = await withCheckedContinuation { continuation in
            client(held.transport()).executeRequest(request) { continuation.resume(returning: $0) }
            held.complete(.failure(.cancelled))
        }
        #expect(throws: NetworkError.self) { try result.get() }
    }

    // MARK: - Cancelling

    @Test func taskCancelledBeforeItsRequestSendsNothing() async {
        let transport = ScriptedTransport()
        let client = client(transport)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await Result { try await client.executeRequest(request) }
        }
        #expect(await task.value.failure?.isCancelled == true)
        #expect(transport.requests.withLock(\.isEmpty))
    }

    @Test func cancellingTheTaskCancelsTheTransferOnce() async {
        let held = HeldCompletion()
        let transport = held.transport()
        let client = client(transport)
        let task = Task { await Result { try await client.executeRequest(request) } }
        await held.isHeld()
        task.cancel()
        held.complete(.failure(.cancelled))
        #expect(await task.value.failure?.isCancelled == true)
        #expect(transport.cancels.withLock { $0 } == 1)
    }

    @Test func theTokenCancelsTheTransfer() {
        let transport = HeldCompletion().transport()
        let token = client(transport).executeRequest(request) { _ in }
        token?.cancel()
        #expect(transport.cancels.withLock { $0 } == 1)
    }

    // MARK: - Dependencies

    @Test func completionRunsInTheScopeOfItsRequest() async {
        let held = HeldCompletion()
        let client = client(held.transport())
        let context = await withCheckedContinuation { continuation in
            Beagle.withDependencies(.preview) {
                _ = client.executeRequest(request) { _ in
                    continuation.resume(returning: Beagle.dependencies.context)
                }
            }
            DispatchQueue.global().async { held.complete(.failure(.cancelled)) }
        }
        #expect(context == .preview)
    }

    @Test func builderChangesApplyToTheNextRequest() async throws {
        let transport = ScriptedTransport()
        let client = client(transport)
        _ = try await client.executeRequest(request)
        client.httpRequestBuilder.additionalHeaders["X-Later"] = "yes"
        _ = try await client.executeRequest(request)
        let values = transport.requests.withLock { $0.map { $0.head.headerFields[.init("X-Later")!] } }
        #expect(values == [nil, "yes"])
    }

    @Test func clientUsesTheContainersBuilderAndEnvironment() async throws {
        let transport = ScriptedTransport()
        let client = client(transport)
        Beagle.dependencies.httpRequestBuilder.additionalHeaders = ["X-App": "builder", "X-Both": "builder"]
        Beagle.dependencies.environment = BeagleEnvironment(
            name: "staging",
            baseURL: URL(string: "http://staging"),
            headers: ["x-both": "environment", "X-Environment": "environment"]
        )
        _ = try await client.image("/a.png")
        _ = try await client.image("http://elsewhere/a.png")
        let heads = transport.requests.withLock { $0.map(\.head) }
        #expect(heads[0].authority == "staging")
        #expect(heads[0].headerFields[.init("X-App")!] == "builder")
        #expect(heads[0].headerFields[.init("X-Both")!] == "builder")
        #expect(heads[0].headerFields[.init("X-Environment")!] == "environment")
        #expect(heads[1].headerFields[.init("X-Environment")!] == nil)
        #expect(heads[1].headerFields[.init("X-App")!] == nil)
    }

    @Test func environmentWithoutABaseURLUsesTheBuilders() async throws {
        let transport = ScriptedTransport()
        let client = client(transport)
        Beagle.dependencies.environment = BeagleEnvironment(name: "own", baseURL: nil, headers: ["X-Environment": "1"])
        Beagle.dependencies.httpRequestBuilder.baseURL = URL(string: "http://base")
        Beagle.dependencies.httpRequestBuilder.origins = [Origin(scheme: "http", host: "declared")]
        for target in ["/a", "http://declared/a", "http://elsewhere/a"] { _ = try await client.image(target) }
        let heads = transport.requests.withLock { $0.map(\.head) }
        #expect(heads.map(\.authority) == ["base", "declared", "elsewhere"])
        #expect(heads.map { $0.headerFields[.init("X-Environment")!] } == ["1", "1", nil])
    }

    @Test func containerAndClientDoNotRetainEachOther() {
        weak var container: BeagleDependencies?
        weak var client: NetworkClientDefault?
        do {
            let dependencies = BeagleDependencies()
            container = dependencies
            client = dependencies.networkClient as? NetworkClientDefault
            #expect(client != nil)
            let own = NetworkClientDefault(dependencies: dependencies, transport: ScriptedTransport())
            dependencies.networkClient = own
            client = own
        }
        #expect(container == nil)
        #expect(client == nil)
    }

    @Test func clientKeepsTheLastValuesOfAReleasedContainer() async throws {
        let transport = ScriptedTransport()
        let logger = MemoryLogger()
        weak var container: BeagleDependencies?
        let client = {
            let dependencies = BeagleDependencies()
            container = dependencies
            let client = NetworkClientDefault(dependencies: dependencies, transport: transport)
            dependencies.networkClient = client
            dependencies.logger = logger
            dependencies.environment = .example
            dependencies.httpRequestBuilder.platform = "WEB"
            return client
        }()
        #expect(container == nil)
        let response = try await client.image("/a.png")
        #expect(response.url == "http://example.com/a.png")
        #expect(logger.messages.count == 1)
        let head = transport.requests.withLock { $0[0].head }
        #expect(head.headerFields[.init("beagle-platform")!] == "WEB")
    }

    @Test func clientWithItsOwnLoggerUsesTheCurrentDependencies() async throws {
        struct Given: DependencyLogger {
            let logger: any BeagleLogger
        }
        let transport = ScriptedTransport()
        let logger = MemoryLogger()
        let client = NetworkClientDefault(dependencies: Given(logger: logger), transport: transport)
        Beagle.dependencies.environment = BeagleEnvironment(
            name: "own",
            baseURL: URL(string: "http://own"),
            headers: ["X-Environment": "1"]
        )
        _ = try await client.image("/a.png")
        let head = transport.requests.withLock { $0[0].head }
        #expect(head.authority == "own")
        #expect(head.headerFields[.init("X-Environment")!] == "1")
        #expect(logger.messages.count == 1)
    }

    @Test func fieldMarkedSecretByTheAppIsOriginScoped() async throws {
        let transport = ScriptedTransport()
        Beagle.dependencies.redactor.secrets = ["X-Mine", "not a header[name]"]
        _ = try await client(transport).image("http://host/", headers: ["x-mine": "hunter2"])
        #expect(transport.requests.withLock { $0[0].originScopedFields } == [.init("X-Mine")!])
    }

    @Test func requestOptionsTakePrecedenceOverTheClients() async throws {
        let transport = ScriptedTransport()
        let client = NetworkClientDefault(
            dependencies: Beagle.dependencies,
            transport: transport,
            options: TransferOptions(redirects: .manual)
        )
        var special = request
        special.options = TransferOptions(version: .http1)
        _ = try await client.executeRequest(request)
        _ = try await client.executeRequest(special)
        #expect(
            transport.requests.withLock { $0.map(\.options) } == [
                TransferOptions(redirects: .manual), TransferOptions(version: .http1),
            ]
        )
    }

    // MARK: - Streams

    @Test func streamReturnsAnyStatusWithoutLimits() async throws {
        let transport = ScriptedTransport(status: .notFound, "why")
        let response = try await client(transport).stream(request)
        #expect(response.response.status == .notFound)
        #expect(try await response.collect().text() == "why")
        let message = transport.requests.withLock { $0[0] }
        #expect(message.delivery == .stream)
        #expect(message.options.timeouts.total == nil)
        #expect(message.options.maxBodyBytes == nil)
    }
}
