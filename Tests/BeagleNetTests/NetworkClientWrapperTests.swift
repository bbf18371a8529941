@testable import BeagleNet
import BeagleNetTesting
import Dispatch
import Testing
import TestClients

@Suite(.beagle(.live) { $0.logger = MemoryLogger() }, .timeLimit(.minutes(5))) struct NetworkClientWrapperTests {
    /// An app's wrapper, which records the kinds of operations.
    private final class CountingClient: NetworkClientWrapper {
        let wrapped: any NetworkClient
        let kinds = Lock<[NetworkOperation.Kind]>([])

        init(_ client: any NetworkClient) { wrapped = client }

        func prepare(_ operation: inout NetworkOperation) {
            kinds.withLock { [kind = operation.kind] in $0.append(kind) }
        }
    }

    /// A client with only the seed's method, around another client.
    private struct SeedClient: NetworkClient {
        let client: any NetworkClient

        func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
            client.executeRequest(request, completion: completion)
        }
    }

    private let transport = ScriptedTransport(status: .ok, "{}", [.contentType: "application/json"])
    private let request = Request(url: URL(string: "http://host/")!, type: .fetchComponent)

    /// The requests sent: the URL and the environment's headers of each.
    private var sent: [String] {
        transport.requests.withLock { requests in
            requests.map { request in
                let fields = request.head.headerFields
                return "\(request.head.urlText) \(fields[.tenant] ?? "-") \(fields[.authorization] ?? "-")"
            }
        }
    }

    private func use(_ name: String, in dependencies: BeagleDependencies) {
        dependencies.environment = BeagleEnvironment(
            name: name,
            baseURL: URL(string: "http://\(name)"),
            headers: ["X-Tenant": name]
        )
        dependencies.interceptors.add(
            AuthInterceptor<String>(
                .init(load: { "token of \(name)" }, attach: { $1.headerFields[.authorization] = $0 })
            )
        )
    }

    /// An app's production container with a registered, wrapped client.
    private func app() -> BeagleDependencies {
        let app = BeagleDependencies()
        app.logger = MemoryLogger()
        use("production", in: app)
        app.register(\.networkClient) { [transport] container in
            CountingClient(NetworkClientDefault(dependencies: container, transport: transport))
        }
        return app
    }

    // MARK: - Scopes

    @Test func eachScopeWrapsAClientThatSendsItsEnvironmentHeadersAndCredentials() async throws {
        let app = app()
        let staging = app.scoped {
            $0.interceptors.removeAll { $0 is AuthInterceptor<String> }
            use("staging", in: $0)
        }
        // Outside of the scope, and inside.
        let fetched = try await staging.networkClient.fetch("/home", as: JSONValue.self)
        #expect(fetched == [:])
        try await Beagle.Scope(staging).run {
            _ = try await Beagle.dependencies.networkClient.fetch("/in", as: JSONValue.self)
            _ = try await app.networkClient.fetch("/app", as: JSONValue.self)
        }
        #expect(
            sent == [
                "http://staging/home staging token of staging", "http://staging/in staging token of staging",
                "http://production/app production token of production",
            ]
        )
        let clients = [app, staging].map { $0.networkClient as? CountingClient }
        #expect(clients[0] !== clients[1])
        #expect(clients[0]?.kinds.withLock { $0.count } == 1)
        #expect(clients[1]?.kinds.withLock { $0.count } == 2)
        #expect(staging.networkClient.container === staging)
    }

    @Test func assignedWrapperUsesItsOwnContainer() async throws {
        let app = BeagleDependencies()
        app.logger = MemoryLogger()
        use("production", in: app)
        app.networkClient = CountingClient(NetworkClientDefault(dependencies: app, transport: transport))
        let staging = app.scoped { use("staging", in: $0) }
        try await Beagle.Scope(staging).run {
            _ = try await Beagle.dependencies.networkClient.fetch("/home", as: JSONValue.self)
        }
        #expect(sent == ["http://production/home production token of production"])
    }

    @Test(arguments: [BeagleDependencies.Context.test, .preview], [true, false])
    func testScopesDontInheritTheClientOfAnApp(_ context: BeagleDependencies.Context, isSet: Bool) async throws {
        let app = app()
        if isSet { app.networkClient = NetworkClientDefault(dependencies: app, transport: transport) }
        let client = app.scoped(context).networkClient
        let errors = Lock<[NetworkError?]>([])
        for outcome in [
            await Result { try await client.executeRequest(request).status.code },
            await Result { try await client.stream(request).response.status.code },
            await Result { try await client.run(.of(.subscription)).isLast ? 1 : 0 },
        ] {
            errors.withLock { $0.append(outcome.failure) }
        }
        client.watch(.of(.component)) { event in
            if case .failure(let error) = event { errors.withLock { $0.append(error) } }
        }
        let found = errors.withLock { $0 }
        #expect(found.count == 4)
        for error in found {
            #expect(error?.kind == .notConfigured)
            #expect(error?.advice?.contains("networkClient") == true)
        }
        #expect(sent == [])
        #expect(app.scoped().networkClient is NetworkClientDefault == isSet)
    }

    // MARK: - Forwarding

    @Test func everyCallIsPreparedOnce() async throws {
        use("host", in: Beagle.dependencies)
        let inner = CountingClient(NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport))
        let client = CountingClient(inner)
        _ = try await client.fetch("/home", as: JSONValue.self)
        _ = try await client.image("/a.png")
        _ = try await client.stream(Request(url: request.url, type: .rawRequest(.init()))).collect()
        _ = try await client.submit(Form([Form.Input("a", 1)]), to: "/form")
        _ = await withCheckedContinuation { continuation in
            client.executeRequest(request) { continuation.resume(returning: $0) }
        }
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        let token = client.watch(.of(.component)) { event in
            if case .result = event { continuation.yield() }
        }
        for await _ in ends { break }
        token?.cancel()
        let expected: [NetworkOperation.Kind] = [.component, .image, .raw, .form, .component, .component]
        #expect(client.kinds.withLock { $0 } == expected)
        #expect(inner.kinds.withLock { $0 } == expected)
        #expect(sent.count == 6)
    }

    @Test func prepareChangesTheOperation() async throws {
        struct Tagged: NetworkClientWrapper {
            let wrapped: any NetworkClient

            func prepare(_ operation: inout NetworkOperation) {
                operation.request.query.append(URLQueryItem(name: "tag", value: "7"))
            }
        }
        let client = Tagged(
            wrapped: NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        )
        _ = try await client.executeRequest(request)
        #expect(sent.map { $0.prefix(18) } == ["http://host/?tag=7"])
    }

    @Test func completionRunsInItsScopeAfterTheCallReturns() async {
        let client = CountingClient(StubClient { _ in NetworkResponse() })
        // Signalled when the call has returned: a completion inside the call would wait forever.
        let hasReturned = DispatchSemaphore(value: 0)
        let context = await withCheckedContinuation { continuation in
            Beagle.withDependencies(.preview) {
                client.executeRequest(request) { _ in
                    hasReturned.wait()
                    continuation.resume(returning: Beagle.dependencies.context)
                }
                hasReturned.signal()
            }
        }
        #expect(context == .preview)
    }

    @Test func wrapperTokenCancelsTheTransfer() async {
        let held = HeldCompletion()
        let client = CountingClient(
            NetworkClientDefault(dependencies: Beagle.dependencies, transport: held.cancellableTransport())
        )
        let (results, continuation) = AsyncStream.makeStream(of: NetworkClient.NetworkResult.self)
        let token = client.executeRequest(request) { continuation.yield($0) }
        await held.isHeld()
        token?.cancel()
        for await result in results {
            #expect(result.failure?.isCancelled == true)
            break
        }
    }

    @Test func scopeOwnsTheOperationsOfAWrapper() async throws {
        let scope = OperationScope()
        let inner = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        let client = CountingClient(inner).scoped(in: scope)
        let received = EventRecorder()
        client.watch(.of(.component), received.receive)
        await received.waitForEvents(1)
        #expect(inner.activeOperations == 1)
        scope.close()
        #expect(inner.activeOperations == 0)
        let error = await Result { try await client.executeRequest(request) }.failure
        #expect(error?.isCancelled == true)
    }

    @Test func watchedOperationsAreRefetchedAndEndedThroughWrappers() async {
        let inner = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        let client: any NetworkClient = CountingClient(CountingClient(inner))
        let received = EventRecorder()
        client.watch(.of(.component), received.receive)
        await received.waitForEvents(1)
        client.refetch()
        await received.waitForEvents(3)
        let events = AsyncStream.makeStream(of: Void.self)
        let token = client.refetch(on: events.stream, .networkOnly, gathering: .zero)
        events.continuation.yield()
        await received.waitForEvents(5)
        token.cancel()
        client.endAll()
        #expect(inner.activeOperations == 0)
        #expect(sent.count == 3)
    }

    // MARK: - Clients with one method

    @Test func unsupportedCallsAdviseAdoptingTheWrapperProtocol() async throws {
        let client = SeedClient(client: NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport))
        var errors: [NetworkError?] = [
            await Result { try await client.run(.of(.subscription)) }.failure,
            await Result { try await client.run(NetworkOperation(request, policy: .cacheOnly)) }.failure,
        ]
        #expect(errors.map { $0?.kind } == [.unsupported, .notStored])
        let received = Lock<NetworkError?>(nil)
        let token = client.watch(.of(.component)) { event in
            if case .failure(let error) = event { received.withLock { $0 = error } }
        }
        #expect(token == nil)
        errors.append(received.withLock { $0 })
        #expect(errors[2]?.kind == .unsupported)
        for error in errors {
            #expect(error?.message.contains("SeedClient") == true)
            #expect(error?.advice?.contains("NetworkClientWrapper") == true)
        }
        #expect(sent == [])
    }

    @Test func callsThatHaveNoEffectAreLogged() throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let client: any NetworkClient = SeedClient(
            client: NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        )
        client.endAll()
        client.refetch()
        client.refetch(on: AsyncStream { $0.finish() })
        #expect(logger.messages.count == 3)
        for message in logger.messages {
            #expect(message.contains("SeedClient") && message.contains("NetworkClientWrapper"))
        }
    }

    @Test func operationDetailsPassThroughAClientWithOneMethod() async throws {
        let seen = Lock<[NetworkOperation]>([])
        struct Note: Interceptor {
            let seen: Lock<[NetworkOperation]>

            func intercept(_ operation: NetworkOperation, next: Next, emit: @escaping Emit)
                async throws(NetworkError) -> NetworkOperation.Result
            {
                seen.withLock { $0.append(operation) }
                return try await next(operation, emit)
            }
        }
        Beagle.dependencies.interceptors.insert(Note(seen: seen), at: 0)
        let client = SeedClient(
            client: SeedClient(client: NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport))
        )
        var query = NetworkOperation.of(.query)
        query.partition = "Ada"
        query.policy = .networkOnly
        query.operationName = "Home"
        query.deadline = .seconds(7)
        query.outbox = .never
        _ = try await client.run(query)
        let operation = try #require(seen.withLock { $0.first })
        #expect(operation.kind == .query)
        #expect(operation.partition == "Ada")
        #expect(operation.policy == .networkOnly)
        #expect(operation.operationName == "Home")
        #expect(operation.deadline == .seconds(7))
        #expect(operation.outbox == .never)
        #expect(operation.request.forwardedOperation == nil)
        #expect(try await client.stream(request).collect().text() == "{}")
    }

    @Test func passwordIsNotStoredThroughAClientWithOneMethod() async throws {
        let folder = OutboxFolder()
        defer { folder.remove() }
        let inner = client(OutboxInterceptor(Outbox(directory: folder.path)), ScriptedResponses(.failure(.refused)))
        let form = Form([Form.Input("password", "s3cret")])
        let error = await Result { try await SeedClient(client: inner).submit(form, to: "http://host/in") }.failure
        #expect(error?.kind == .connect)
        #expect(folder.files == [])
    }
}

extension HTTPField.Name {
    fileprivate static let tenant = HTTPField.Name("X-Tenant")!
}
