import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct DocumentCacheTests {
    private let dependencies = BeagleDependencies()
    private let cache = DocumentCache()
    private let client: NetworkClientDefault

    init() {
        dependencies.interceptors.add(cache)
        dependencies.interceptors.add(CacheInterceptor(cache.store))
        client = NetworkClientDefault(dependencies: dependencies)
        // The cache follows the client inside a wrapper.
        cache.attach(to: Wrapper(wrapped: client))
    }

    private struct Wrapper: NetworkClientWrapper {
        let wrapped: any NetworkClient
    }

    /// A server with posts whose likes count the mutations so far. A mutation named `Fail` fails.
    private final class Likes: Sendable {
        private let count = Lock(0)
        let gate: LoopbackServer.Gate

        init() throws {
            gate = try LoopbackServer.Gate()
        }

        func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
            let text = String(decoding: request.body, as: UTF8.self)
            let json: String
            if text.contains("mutation") {
                if text.contains("Fail") {
                    json = #"{"errors":[{"message":"no"}]}"#
                } else {
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    json = #"{"data":{"like":{"__typename":"Post","id":"1","likes":\#(number)}}}"#
                }
                let answer = LoopbackServer.Response.response(200, ["Content-Type": "application/json"], json)
                return text.contains("Slow") ? .sequence([.gate(gate), answer]) : answer
            }
            let type = text.contains("author") ? "Author" : "Post"
            json = #"{"data":{"it":{"__typename":"\#(type)","id":"1","likes":\#(count.withLock { $0 })}}}"#
            return .response(200, ["Content-Type": "application/json"], json)
        }
    }

    private struct Liked: Decodable, Sendable, Equatable {
        let id: String
        let likes: Int
    }

    private let post = GraphQLOperation<NoInput, Liked>.document("{ it: post { id likes } }")
    private let author = GraphQLOperation<NoInput, Liked>.document("{ it: author { id likes } }")

    private func like(_ name: String = "Like") -> GraphQLOperation<NoInput, Liked> {
        .document("mutation \(name) { like { id likes } }")
    }

    private func endpoint(_ server: LoopbackServer) -> GraphQLEndpoint {
        var endpoint = GraphQLEndpoint(server.url + "/graphql")
        endpoint.addsTypenames = true
        return endpoint
    }

    @Test func mutationInvalidatesOnlyResponsesOfItsTypes() async throws {
        let likes = try Likes()
        let server = try LoopbackServer { likes.answer($0) }
        let endpoint = endpoint(server)
        for _ in 0..<2 {
            #expect(try await client.perform(post, at: endpoint).likes == 0)
            #expect(try await client.perform(author, at: endpoint).likes == 0)
        }
        #expect(server.requests.count == 2)
        #expect(try await client.perform(like(), at: endpoint).likes == 1)
        #expect(try await client.perform(post, at: endpoint).likes == 1)
        #expect(try await client.perform(author, at: endpoint).likes == 0)
        #expect(server.requests.count == 4)
    }

    @Test func changedTypesInvalidateTypesTheResponseDoesNotName() async throws {
        let likes = try Likes()
        let server = try LoopbackServer { likes.answer($0) }
        let endpoint = endpoint(server)
        _ = try await client.perform(author, at: endpoint)
        _ = try await client.perform(like(), at: endpoint) { $0.changedTypes = ["Author"] }
        #expect(try await client.perform(author, at: endpoint).likes == 1)
        await cache.invalidate(["Author"])
        _ = try await client.perform(author, at: endpoint)
        #expect(server.requests.count == 4)
    }

    @Test func mutationThatMayHaveRunInvalidatesItsChangedTypes() async throws {
        let likes = try Likes()
        @Sendable func isMutation(_ request: LoopbackServer.Request) -> Bool {
            String(decoding: request.body, as: UTF8.self).contains("mutation")
        }
        let server = try LoopbackServer { isMutation($0) ? .close : likes.answer($0) }
        let endpoint = endpoint(server)
        for _ in 0..<2 { _ = try await client.perform(author, at: endpoint) }
        await #expect(throws: NetworkError.self) {
            _ = try await client.perform(like(), at: endpoint) { $0.changedTypes = ["Author"] }
        }
        _ = try await client.perform(author, at: endpoint)
        #expect(server.requests.count { !isMutation($0) } == 2)
    }

    private static let typesInAnIncrementalResponseAreInvalidatedArguments: [(String, String)] = [
        (
            "application/jsonl",
            #"{"data":{"like":{"__typename":"Post","id":"1","likes":1}},"hasNext":true}"# + "\n"
                + #"{"incremental":[{"path":["like"],"data":{"by":{"__typename":"Author"}}}],"hasNext":false}"# + "\n"
        ),
        (
            "application/json",
            #"{"data":{"like":{"__typename":"Post","id":"1","likes":1,"by":{"__typename":"Author"}}}}"#
        ),
    ]

    /// The cache interceptor sees only the head of an incremental response. A server without incremental delivery sends
    /// it as a whole.
    @Test(arguments: Self.typesInAnIncrementalResponseAreInvalidatedArguments)
    func typesInAnIncrementalResponseAreInvalidated(type: String, body: String) async throws {
        let likes = try Likes()
        let server = try LoopbackServer { request in
            String(decoding: request.body, as: UTF8.self).contains("mutation")
                ? .response(200, ["Content-Type": type], body) : likes.answer(request)
        }
        let endpoint = endpoint(server)
        for _ in 0..<2 {
            _ = try await client.perform(post, at: endpoint)
            _ = try await client.perform(author, at: endpoint)
        }
        #expect(server.requests.count == 2)
        for try await update in try client.results(of: like(), at: endpoint) {
            #expect(update.response.data?.likes == 1)
        }
        _ = try await client.perform(post, at: endpoint)
        _ = try await client.perform(author, at: endpoint)
        #expect(server.requests.count == 5)
    }

    /// Counts the mutations whose response heads have passed through the whole pipeline.
    private final class HeadCounter: Interceptor {
        let seen = AwaitedValue(0)

        nonisolated(nonsending) func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            let result = try await next(operation, emit)
            if operation.kind == .mutation { seen.note { $0 += 1 } }
            return result
        }
    }

    /// Between the head of the response and its first piece, a query may still get the old stored response. A piece
    /// that cannot be parsed counts, too.
    @Test(arguments: [#"{"data":{"like":{"id":"1","likes":1}},"hasNext":false}"#, "<html>"])
    func firstPieceOfAMutationInvalidatesItsTypes(piece: String) async throws {
        let (likes, gate) = (try Likes(), try LoopbackServer.Gate())
        let line = piece + "\n"
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/jsonl\r\nContent-Length: \(line.utf8.count)\r\n\r\n"
        let server = try LoopbackServer { request in
            String(decoding: request.body, as: UTF8.self).contains("mutation")
                ? .sequence([.raw(head), .gate(gate), .raw(line)]) : likes.answer(request)
        }
        let endpoint = endpoint(server)
        let heads = HeadCounter()
        dependencies.interceptors.insert(heads, at: 0)
        let (client, like) = (client, like())
        let mutation = Task {
            for try await _ in try client.results(of: like, at: endpoint, { $0.changedTypes = ["Author"] }) {}
        }
        await heads.seen.until { $0 == 1 }
        for _ in 0..<2 { _ = try await client.perform(author, at: endpoint) }
        #expect(server.requests.count == 2)
        gate.open()
        let isRead = if case .success = await mutation.result { true } else { false }
        #expect(isRead == piece.hasPrefix("{"))
        _ = try await client.perform(author, at: endpoint)
        #expect(server.requests.count == 3)
    }

    @Test func watchedQueryIsRefetchedAfterAMutation() async throws {
        let likes = try Likes()
        let server = try LoopbackServer { likes.answer($0) }
        let endpoint = endpoint(server)
        let (events, token) = try watch(endpoint)
        var received = events.makeAsyncIterator()
        #expect(await received.next() == "0 network")
        _ = try await client.perform(like(), at: endpoint)
        while let next = await received.next(), next != "1 network" {}
        token?.cancel()
    }

    @Test(arguments: [("Slow", "1 network"), ("SlowFail", "0 cache")])
    func optimisticValueLastsUntilTheMutationEnds(name: String, last: String) async throws {
        let likes = try Likes()
        let server = try LoopbackServer { likes.answer($0) }
        let endpoint = endpoint(server)
        let (events, token) = try watch(endpoint)
        var received = events.makeAsyncIterator()
        #expect(await received.next() == "0 network")
        let expected = try DocumentCache.OptimisticUpdate(of: post, on: client, at: endpoint) { data in
            data["it"]?["likes"] = 41
        }
        let (client, mutation) = (client, like(name))
        let task = Task { try await client.perform(mutation, at: endpoint) { $0.optimisticUpdates = [expected] } }
        while let next = await received.next(), next != "41 optimistic" {}
        #expect(try await client.perform(post, at: endpoint).likes == 41)
        likes.gate.open()
        _ = await task.result
        var between: [String] = []
        while let next = await received.next(), next != last { between.append(next) }
        #expect(between.allSatisfy { $0.hasPrefix("41") }, "\(between)")
        #expect(try await client.perform(post, at: endpoint).likes == (name == "Slow" ? 1 : 0))
        token?.cancel()
    }

    private static let responseInFlightIsNotStoredIfItsTypeIsInvalidatedArguments: [([String], Int)] = [
        (["Author"], 1), (["Post"], 2), (["A", "B", "C", "D", "E"], 2),
    ]

    /// The last case has more types than the cache remembers, so the cache stores none of the pending responses.
    @Test(arguments: Self.responseInFlightIsNotStoredIfItsTypeIsInvalidatedArguments)
    func responseInFlightIsNotStoredIfItsTypeIsInvalidated(types: [String], requestCount: Int) async throws {
        let gate = try LoopbackServer.Gate()
        let json = #"{"data":{"it":{"__typename":"Post","id":"1","likes":0}}}"#
        let answer = LoopbackServer.Response.response(200, ["Content-Type": "application/json"], json)
        let server = try LoopbackServer(.sequence([.gate(gate), answer]))
        let dependencies = BeagleDependencies()
        let cache = DocumentCache(limit: 4)
        dependencies.interceptors.add(cache)
        dependencies.interceptors.add(CacheInterceptor(cache.store))
        let (client, endpoint) = (NetworkClientDefault(dependencies: dependencies), endpoint(server))
        let post = post
        let first = Task { try await client.perform(post, at: endpoint) }
        #expect(await server.until { $0.requests.count == 1 })
        await cache.invalidate(Set(types))
        gate.open()
        _ = try await first.value
        _ = try await client.perform(post, at: endpoint)
        #expect(server.requests.count == requestCount)
    }

    /// As after a relaunch of the app, the store is older than the cache.
    @Test(arguments: [("Like", 1), ("LikeFail", 0)])
    func mutationInvalidatesResponsesStoredBeforeALaunch(name: String, expected: Int) async throws {
        let likes = try Likes()
        let server = try LoopbackServer { likes.answer($0) }
        let (endpoint, store) = (endpoint(server), MemoryResponseStore())
        func client() -> NetworkClientDefault {
            let dependencies = BeagleDependencies()
            dependencies.interceptors.add(DocumentCache(store))
            dependencies.interceptors.add(CacheInterceptor(store))
            return NetworkClientDefault(dependencies: dependencies)
        }
        for operation in [post, author] { _ = try await client().perform(operation, at: endpoint) }
        let later = client()
        _ = await result { () throws(NetworkError) in try await later.perform(like(name), at: endpoint) }
        for _ in 0..<2 { #expect(try await later.perform(post, at: endpoint).likes == expected) }
        for _ in 0..<2 { #expect(try await later.perform(author, at: endpoint).likes == 0) }
        #expect(server.requests.count == 3 + expected)
        if expected == 0 { return }
        // With cacheOnly, there is no response at all.
        let error = await result { () throws(NetworkError) in
            _ = try await later.perform(like(), at: endpoint)
            return try await later.perform(post, at: endpoint) { $0.policy = .cacheOnly }
        }.failure
        #expect(error?.kind == .notStored)
    }

    @Test func responseThatTheCacheForgetsIsRemovedFromTheStore() async throws {
        let likes = try Likes()
        let server = try LoopbackServer { likes.answer($0) }
        let dependencies = BeagleDependencies()
        let cache = DocumentCache(limit: 4)
        dependencies.interceptors.add(cache)
        dependencies.interceptors.add(CacheInterceptor(cache.store))
        let client = NetworkClientDefault(dependencies: dependencies)
        for number in 0..<5 {
            _ = try await client.perform(
                .document("{ it: post(n: \(number)) { id likes } }", as: Liked.self),
                at: endpoint(server)
            )
        }
        for number in [4, 0] {
            _ = try await client.perform(
                .document("{ it: post(n: \(number)) { id likes } }", as: Liked.self),
                at: endpoint(server)
            )
        }
        #expect(server.requests.count == 6)
    }

    private static let typenamesAreAddedToSelectionsArguments: [(String, String)] = [
        ("{ a { b } }", "{ a {__typename  b } }"), ("{a}", "{a}"),
        (
            "query($i: In = {x: {y: 1}}) { a(i: {z: 2}) { b } }",
            "query($i: In = {x: {y: 1}}) { a(i: {z: 2}) {__typename  b } }"
        ),
        (
            "{ ...F ... on Q { c } } fragment F on T { d }",
            "{ ...F ... on Q {__typename  c } } fragment F on T {__typename  d }"
        ),
    ]

    @Test(arguments: Self.typenamesAreAddedToSelectionsArguments)
    func typenamesAreAddedToSelections(text: String, expected: String) throws {
        let document = try GraphQLDocument(parsing: text)
        #expect(document.withTypenames == expected)
        #expect(
            try GraphQLDocument(parsing: expected).operation(named: nil).responseKeys
                == document.operation(named: nil).responseKeys
        )
    }

    /// Watches the post. Each event gives its likes and the source of the result.
    private func watch(_ endpoint: GraphQLEndpoint) throws -> (AsyncStream<String>, (any RequestToken)?) {
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        let post = post
        let token = client.watch(try client.networkOperation(for: post, at: endpoint)) { event in
            guard case .result(let result) = event, let response = result.response else { return }
            do {
                let likes = try post.read(response).data?.likes ?? -1
                continuation.yield("\(likes) \(result.source)")
            } catch {
                continuation.yield("\(error)")
            }
        }
        return (events, token)
    }
}
