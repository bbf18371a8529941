import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// A query or mutation sent by its hash is a single operation, however many messages it takes.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct DocumentRevisionTests {
    private let dependencies = BeagleDependencies()
    private let server: LoopbackServer
    private let store = HashStore()

    init() throws {
        let store = store
        server = try LoopbackServer { store.answer($0) }
    }

    /// A server that registers the texts it receives. The id of each post is the number of data responses so far.
    private final class HashStore: Sendable {
        private let state = Lock((known: Set<String>(), count: 0))
        let knowsNone = Lock(false)
        let maxTarget = Lock(Int.max)
        /// Whether requests with a text get status 503.
        let isDown = Lock(false)

        func forget() {
            state.withLock { $0.known = [] }
        }

        func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
            if request.target.utf8.count > maxTarget.withLock({ $0 }) { return .response(414, [:], "too long") }
            do {
                let message = request.method == "GET" ? try query(request.target) : try JSONValue(parsing: request.body)
                if message["query"] != nil, isDown.withLock({ $0 }) { return .response(503, [:], "down") }
                let answers = try (message.array ?? [message]).map(answer)
                let json: JSONValue = message.array == nil ? answers[0] : .array(answers)
                // Servers use these directives in responses to unknown hashes.
                let control = answers[0]["errors"] == nil ? "private" : "private, no-cache, must-revalidate"
                let fields: KeyValuePairs = ["Content-Type": "application/json", "Cache-Control": control]
                return .response(200, fields, try json.text())
            } catch {
                return .response(400, [:], "\(error)")
            }
        }

        private func query(_ target: String) throws -> JSONValue {
            let items = URLComponents(string: target)?.queryItems ?? []
            return .object(
                try items.reduce(into: [:]) { parts, item in
                    let isObject = item.name == "extensions" || item.name == "variables"
                    parts[item.name] = isObject ? try JSONValue(parsing: item.value ?? "") : .string(item.value ?? "")
                }
            )
        }

        private func answer(_ message: JSONValue) throws -> JSONValue {
            let hash = message["extensions"]?["persistedQuery"]?["sha256Hash"]?.string
            if hash != nil, knowsNone.withLock({ $0 }) {
                return ["errors": [["message": "PersistedQueryNotSupported"]]]
            }
            let count = state.withLock { state -> Int? in
                if let hash, message["query"] != nil { state.known.insert(hash) }
                if let hash, !state.known.contains(hash) { return nil }
                state.count += 1
                return state.count
            }
            guard let count else { return ["errors": [["message": "PersistedQueryNotFound"]]] }
            return ["data": ["post": ["__typename": "Post", "id": .string("\(count)"), "title": "T"]]]
        }
    }

    private var endpoint: GraphQLEndpoint {
        var endpoint = GraphQLEndpoint(server.url + "/graphql?v=1")
        endpoint.documentStyle = .automatic
        return endpoint
    }

    /// The received messages: `hash`, `text` or `hash+text`, in brackets for a batch, after `url` if it was in the URL.
    private var sent: [String] {
        server.requests.map { request in
            let text = request.method == "GET" ? request.target : String(decoding: request.body, as: UTF8.self)
            let names = [text.contains("persistedQuery") ? "hash" : "", text.contains("title") ? "text" : ""]
            let parts = names.filter { !$0.isEmpty }.joined(separator: "+")
            return (request.method == "GET" ? "url " : "") + (text.hasPrefix("[") ? "[\(parts)]" : parts)
        }
    }

    @Test func responseIsStoredUnderTheOriginalRequest() async throws {
        dependencies.interceptors.add(CacheInterceptor())
        let client = NetworkClientDefault(dependencies: dependencies)
        for _ in 0..<3 { #expect(try await client.perform(.post("1"), at: endpoint).id == "1") }
        #expect(sent == ["hash", "hash+text"])
        // A server without persisted queries gets texts, and the responses are stored under the same key.
        store.knowsNone.withLock { $0 = true }
        let endpoint = endpoint
        for id in ["2", "3"] {
            for _ in 0..<2 { _ = try await client.perform(.post(id), at: endpoint) }
        }
        #expect(sent.dropFirst(2) == ["hash", "text", "text"])
        #expect(server.requests.allSatisfy { $0.target == "/graphql?v=1" })
    }

    @Test func watchedQueryRegistersItsHashAgainIfTheServerForgetsIt() async throws {
        let client = NetworkClientDefault(dependencies: dependencies)
        let (ids, continuation) = AsyncStream.makeStream(of: String.self)
        let token = client.watch(try client.networkOperation(for: .post("1"), at: endpoint)) { event in
            switch event {
            case .result(let result):
                guard let response = result.response, !result.isStale else { return }
                continuation.yield(String(decoding: response.data, as: UTF8.self))
            case .failure(let error): continuation.yield("\(error)")
            case .end: continuation.finish()
            }
        }
        var received = ids.makeAsyncIterator()
        #expect(await received.next()?.contains(#""id":"1""#) == true)
        store.forget()
        client.refetch()
        #expect(await received.next()?.contains(#""id":"2""#) == true)
        #expect(sent == ["hash", "hash+text", "hash", "hash+text"])
        token?.cancel()
    }

    @Test func expectationAppliesToAQuerySentByItsHash() async throws {
        let cache = DocumentCache()
        dependencies.interceptors.add(cache)
        dependencies.interceptors.add(CacheInterceptor(cache.store))
        let client = NetworkClientDefault(dependencies: dependencies)
        cache.attach(to: client)
        let endpoint = endpoint
        _ = try await client.perform(.post("1"), at: endpoint)
        let expected = try DocumentCache.OptimisticUpdate(of: .post("1"), on: client, at: endpoint) { data in
            data["post"]?["title"] = "expected"
        }
        let gate = try LoopbackServer.Gate()
        let slow = try LoopbackServer(
            .sequence([.gate(gate), .response(200, ["Content-Type": "application/json"], #"{"data":{"like":1}}"#)])
        )
        let like = GraphQLOperation<NoInput, Int>.document("mutation { like }")
        let mutation = Task {
            try await client.perform(like, at: GraphQLEndpoint(slow.url)) { $0.optimisticUpdates = [expected] }
        }
        #expect(await slow.until { $0.requests.count == 1 })
        #expect(try await client.perform(.post("1"), at: endpoint).title == "expected")
        gate.open()
        _ = try await mutation.value
        #expect(try await client.perform(.post("1"), at: endpoint).title == "T")
        #expect(sent == ["hash", "hash+text"])
    }

    /// A mutation with an unknown hash has not run: its expectation lasts until the response to its text, or until the
    /// text cannot be sent.
    @Test(arguments: [true, false]) func expectationLastsWhileTheTextOfAMutationIsSent(follows: Bool) async throws {
        let cache = DocumentCache()
        dependencies.interceptors.add(cache)
        dependencies.interceptors.add(CacheInterceptor(cache.store))
        if !follows {
            dependencies.interceptors.removeAll { $0 is DeadlineInterceptor }
            dependencies.interceptors.add(OneMutation())
        }
        let client = NetworkClientDefault(dependencies: dependencies)
        cache.attach(to: client)
        let endpoint = endpoint
        _ = try await client.perform(.post("1"), at: endpoint)
        let expected = try DocumentCache.OptimisticUpdate(of: .post("1"), on: client, at: endpoint) { data in
            data["post"]?["title"] = "expected"
        }
        let gate = try LoopbackServer.Gate()
        let json: KeyValuePairs = ["Content-Type": "application/json"]
        let slow = try LoopbackServer { request in
            let hasText = String(decoding: request.body, as: UTF8.self).contains("mutation")
            if hasText { return .sequence([.gate(gate), .response(200, json, #"{"data":{"like":1}}"#)]) }
            return .response(200, json, #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#)
        }
        var other = GraphQLEndpoint(slow.url)
        other.documentStyle = .automatic
        let mutation = Task { [other] in
            try await client.perform(GraphQLOperation<NoInput, Int>.document("mutation { like }"), at: other) {
                $0.optimisticUpdates = [expected]
                $0.changedTypes = ["Post"]
            }
        }
        if follows {
            #expect(await slow.until { $0.requests.count == 2 })
            #expect(try await client.perform(.post("1"), at: endpoint).title == "expected")
            #expect(sent == ["hash", "hash+text"])
        }
        gate.open()
        let outcome = await mutation.result
        #expect((try? outcome.get()) == (follows ? 1 : nil))
        #expect(try await client.perform(.post("1"), at: endpoint).title == "T")
        // A mutation that didn't run invalidates nothing.
        #expect(sent == ["hash", "hash+text"] + (follows ? ["hash"] : []))
    }

    @Test func unknownHashResponseDoesNotChangeTheStoredTypes() async throws {
        let cache = DocumentCache()
        dependencies.interceptors.add(cache)
        dependencies.interceptors.add(CacheInterceptor(cache.store))
        dependencies.interceptors.replace(with: RetryInterceptor(backoff: Backoff(base: .zero, limit: 0)))
        let client = NetworkClientDefault(dependencies: dependencies)
        _ = try await client.perform(.post("1"), at: endpoint)
        store.forget()
        store.isDown.withLock { $0 = true }
        await #expect(throws: NetworkError.self) {
            _ = try await client.perform(.post("1"), at: endpoint) { $0.policy = .networkOnly }
        }
        store.isDown.withLock { $0 = false }
        #expect(try await client.perform(.post("1"), at: endpoint).id == "1")
        await cache.invalidate(["Post"])
        #expect(try await client.perform(.post("1"), at: endpoint).id == "2")
    }

    @Test func hashesOfABatchAreRegisteredInABatch() async throws {
        dependencies.interceptors.add(BatchInterceptor(window: .seconds(30), limit: 2))
        let client = NetworkClientDefault(dependencies: dependencies)
        async let one = client.perform(.post("1"), at: endpoint)
        async let two = client.perform(.post("2"), at: endpoint)
        let ids = try await [one.id, two.id]
        #expect(Set(ids) == ["1", "2"])
        #expect(sent == ["[hash]", "[hash+text]"])
    }

    @Test func mutationWithAnOutboxIsSentAsText() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let outbox = Outbox(directory: folder)
        dependencies.interceptors.add(OutboxInterceptor(outbox))
        let client = NetworkClientDefault(dependencies: dependencies)
        let operation = GraphQLOperation<NoInput, Post>.document("mutation { post { id title } }")
        #expect(try await client.perform(operation, at: endpoint).id == "1")
        #expect(sent == ["text"])
        #expect(try outbox.entries().isEmpty)
    }

    @Test func tooLongURLIsReplacedByPostsOfHashAndText() async throws {
        store.maxTarget.withLock { $0 = 100 }
        var endpoint = endpoint
        endpoint.queryMethod = .get
        let client = NetworkClientDefault(dependencies: dependencies)
        for id in ["1", "2"] { #expect(try await client.perform(.post("1"), at: endpoint).id == id) }
        #expect(sent == ["url hash", "hash", "hash+text", "url hash", "hash"])
        #expect(server.requests.filter { $0.method == "POST" }.allSatisfy { $0.target == "/graphql?v=1" })
        #expect(server.requests[1]["Content-Type"] == "application/json")
    }

    /// Adds a field with the body.
    private let signature = ResponseInterceptor { message, next in
        var message = message
        message.head.headerFields[.init("X-Signature")!] = String(decoding: message.body?.data ?? Data(), as: UTF8.self)
        return try await next(message)
    }

    @Test(arguments: [false, true]) func eachMessageIsSignedWhenItIsSent(isKept: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        if isKept { dependencies.interceptors.add(OutboxInterceptor(Outbox(directory: folder))) }
        dependencies.interceptors.insert(signature, at: 0)
        let client = NetworkClientDefault(dependencies: dependencies)
        let operation = GraphQLOperation<NoInput, Post>.document("mutation { post { id title } }")
        _ = try await client.perform(operation, at: endpoint)
        #expect(sent == (isKept ? ["text"] : ["hash", "hash+text"]))
        #expect(
            server.requests.map { $0["X-Signature"] }
                == server.requests.map { String(decoding: $0.body, as: UTF8.self) }
        )
    }

    @Test func responseToARequestChangedByAnInterceptorIsNotStored() async throws {
        dependencies.interceptors.add(CacheInterceptor())
        dependencies.interceptors.add(
            ResponseInterceptor { message, next in
                var message = message
                message.head.path = (message.head.path ?? "") + "&tenant=7"
                return try await next(message)
            }
        )
        let client = NetworkClientDefault(dependencies: dependencies)
        for id in ["1", "2"] { #expect(try await client.perform(.post("1"), at: endpoint).id == id) }
        #expect(sent == ["hash", "hash+text", "hash"])
    }

    @Test(arguments: [GraphQLEndpoint.QueryMethod.post, .get], [false, true])
    func configurationAppliesToEachMessage(method: GraphQLEndpoint.QueryMethod, isOwn: Bool) async throws {
        var endpoint = endpoint
        endpoint.queryMethod = method
        let inner = NetworkClientDefault(dependencies: dependencies)
        let client: any NetworkClient = isOwn ? OwnClient(client: inner) : inner
        _ = try await client.perform(.post("1"), at: endpoint) { operation in
            operation.request.query.append(URLQueryItem(name: "tenant", value: "7"))
            guard case .rawRequest(var data) = operation.request.type else { return }
            data.headers?["X-Mine"] = "m"
            operation.request.type = .rawRequest(data)
        }
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0["X-Mine"] == "m" && $0.target.hasSuffix("tenant=7") })
        #expect(server.requests.last?.target == "/graphql?v=1&tenant=7")
    }

    @Test func storedResponseIsDeliveredOnceAndSurvivesAnUnknownHash() async throws {
        dependencies.interceptors.add(CacheInterceptor())
        dependencies.interceptors.replace(with: RetryInterceptor(backoff: Backoff(base: .zero, limit: 0)))
        let client = NetworkClientDefault(dependencies: dependencies)
        _ = try await client.perform(.post("1"), at: endpoint)
        store.forget()
        let operation = try client.networkOperation(for: .post("1"), at: endpoint)
        let received = Lock<[Bool]>([])
        var again = operation
        again.policy = .cacheAndNetwork
        _ = try await client.run(again) { result in received.withLock { $0.append(result.isStale) } }
        #expect(received.withLock { $0 } == [true])
        store.forget()
        store.isDown.withLock { $0 = true }
        again.policy = .networkFirst
        #expect(try await client.run(again).isStale)
        #expect(sent.suffix(2) == ["hash", "hash+text"])
    }

    /// The operation ran, or the error is about the hash of another server's document.
    @Test(
        arguments: [
            #"{"data":{"post":null},"errors":[{"message":"PersistedQueryNotFound","path":["post"]}]}"#,
            #"{"data":{"post":null},"errors":[{"message":"PersistedQueryNotFound"}]}"#,
            #"{"data":null,"errors":[{"message":"PersistedQueryNotFound","path":["post"]}]}"#,
        ],
        [false, true]
    )
    func hashErrorBesideDataOrOfAFieldIsNotRetried(body: String, inPieces: Bool) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], body))
        var made = endpoint
        made.target = server.url
        let (client, endpoint) = (NetworkClientDefault(dependencies: dependencies), made)
        let operation = GraphQLOperation<NoInput, Post>.document("mutation { post { id title } }")
        let error = await #expect(throws: NetworkError.self) {
            guard inPieces else {
                _ = try await client.perform(operation, at: endpoint)
                return
            }
            for try await _ in try client.results(of: operation, at: endpoint) {}
        }
        #expect(error?.graphQLErrors.map(\.message) == ["PersistedQueryNotFound"])
        #expect(server.requests.count == 1)
    }

    private struct Attachment: Encodable, Sendable { let file: GraphQLUpload }

    @Test(arguments: [false, true]) func uploadSendsHashAndTextTogether(isUnsupported: Bool) async throws {
        let server = try LoopbackServer { request in
            let hasHash = String(decoding: request.body, as: UTF8.self).contains("persistedQuery")
            let refusal = #"{"errors":[{"message":"PersistedQueryNotSupported"}]}"#
            let answer = #"{"data":{"post":{"id":"1","title":"T"}}}"#
            return .response(
                200,
                ["Content-Type": "application/json"],
                isUnsupported && hasHash ? refusal : answer
            )
        }
        var endpoint = endpoint
        endpoint.target = server.url
        let client = NetworkClientDefault(dependencies: dependencies)
        let operation = GraphQLOperation<Attachment, Post>(
            input: Attachment(file: GraphQLUpload(FormFile(Data("hello".utf8), filename: "a"))),
            operationString: "mutation($file: Upload!) { post(file: $file) { id title } }"
        )
        for _ in 0..<2 { #expect(try await client.perform(operation, at: endpoint).id == "1") }
        let bodies = server.requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies.allSatisfy { $0.contains("mutation($file") && $0.contains("hello") })
        // The client remembers that the server doesn't support hashes.
        #expect(bodies.map { $0.contains("persistedQuery") } == (isUnsupported ? [true, false, false] : [true, true]))
    }

    @Test func deadlineCoversAllMessagesOfAnOperation() async throws {
        let clock = ManualClock()
        dependencies.clock = clock
        let gates = [try LoopbackServer.Gate(), try LoopbackServer.Gate()]
        let (store, count) = (store, Lock(0))
        let server = try LoopbackServer { request in
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return .sequence([.gate(gates[number]), store.answer(request)])
        }
        var endpoint = endpoint
        endpoint.target = server.url
        let (client, sent) = (NetworkClientDefault(dependencies: dependencies), endpoint)
        let task = Task { try await client.perform(.post("1"), at: sent) { $0.deadline = .seconds(10) }.id }
        #expect(await server.until { $0.requests.count == 1 })
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(10))
        clock.advance(by: .seconds(6))
        gates[0].open()
        #expect(await server.until { $0.requests.count == 2 })
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(4))
        gates[1].open()
        #expect(try await task.value == "1")
    }

    /// A client implemented by an app.
    private struct OwnClient: NetworkClient {
        let client: NetworkClientDefault

        func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
            client.executeRequest(request, completion: completion)
        }
    }

    @Test func customClientSendsTheTextOfAnUnknownHash() async throws {
        let client = OwnClient(client: NetworkClientDefault(dependencies: dependencies))
        #expect(try await client.perform(.post("1"), at: endpoint).id == "1")
        #expect(try await client.perform(.post("1"), at: endpoint).id == "2")
        #expect(sent == ["hash", "hash+text", "hash"])
    }
}

/// Passes on the first message of a mutation and fails the others.
private final class OneMutation: Interceptor {
    let place: Pipeline.Place? = .deadline
    private let hasPassed = Lock(false)

    func applies(to operation: NetworkOperation) -> Bool { operation.kind == .mutation }

    nonisolated(nonsending) func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let isLate = hasPassed.withLock { hasPassed in
            defer { hasPassed = true }
            return hasPassed
        }
        if isLate { throw NetworkError(.timeout, during: .build, "too late") }
        return try await next(operation, emit)
    }
}
