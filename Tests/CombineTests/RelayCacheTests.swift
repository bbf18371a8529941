import BeagleNet
import BeagleNetCombine
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(1))) struct RelayCacheTests {
    private func world(_ body: String = RelayWorld.answer) throws -> RelayWorld {
        var world = try RelayWorld(body)
        world.network.cache = RelayResponseCache(size: 10, ttl: .seconds(60)) { Date(timeIntervalSince1970: 1) }
        return world
    }

    private let stored = #"{"data":{"posts":[{"id":"1"}]},"extensions":{"cacheTimestamp":1000}}"#

    @Test func storedResponseReplacesARequest() async throws {
        let world = try world()
        #expect(try await world.texts(.posts, ["a": 1]) == [RelayWorld.answer])
        #expect(try await world.texts(.posts, ["a": 1], CacheConfig(transactionID: "t")) == [stored])
        #expect(world.logger.messages.last == "Posts [t] completed from the response cache")
        #expect(try await world.texts(.posts, ["a": 2]) == [RelayWorld.answer])
        #expect(world.server.requests.count == 2)
    }

    @Test func forceBypassesTheCacheAndStoresTheResponse() async throws {
        let world = try world()
        #expect(try await world.texts(.posts, [:], CacheConfig(force: true)) == [RelayWorld.answer])
        #expect(try await world.texts(.posts, [:], CacheConfig(force: true)) == [RelayWorld.answer])
        #expect(try await world.texts() == [stored])
        #expect(world.server.requests.count == 2)
    }

    @Test func mutationClearsTheCache() async throws {
        let world = try world()
        _ = try await world.texts()
        #expect(try await world.texts(.like) == [RelayWorld.answer])
        #expect(world.network.cache?.count == 0)
        #expect(try await world.texts(.like) == [RelayWorld.answer])
        #expect(try await world.texts() == [RelayWorld.answer])
        #expect(world.server.requests.count == 4)
    }

    @Test func failedMutationClearsTheCache() async throws {
        let world = try world("<html>")
        world.network.cache?.store(Data(RelayWorld.answer.utf8), of: "a", [:])
        _ = try await world.failure(.like)
        #expect(world.network.cache?.count == 0)
    }

    @Test func queryStartedBeforeAMutationIsNotStored() async throws {
        let gate = try LoopbackServer.Gate()
        var made = try RelayWorld { request in
            let answer = LoopbackServer.Answer.response(200, ["Content-Type": "application/json"], RelayWorld.answer)
            let isQuery = String(decoding: request.body, as: UTF8.self).contains("query Posts")
            return isQuery ? .sequence([.gate(gate), answer]) : answer
        }
        let cache = RelayResponseCache(size: 10, ttl: .seconds(60))
        made.network.cache = cache
        let world = made
        async let before = world.texts()
        #expect(await world.server.until { $0.requestCount == 1 })
        #expect(try await world.texts(.like) == [RelayWorld.answer])
        gate.open()
        #expect(try await before == [RelayWorld.answer])
        #expect(cache.count == 0)
        _ = try await world.texts()
        #expect(cache.count == 1)
    }

    @Test func queryThatJoinsOneStartedBeforeAMutationIsNotStored() async throws {
        let gate = try LoopbackServer.Gate()
        var made = try RelayWorld { request in
            let answer = LoopbackServer.Answer.response(200, ["Content-Type": "application/json"], RelayWorld.answer)
            let isQuery = String(decoding: request.body, as: UTF8.self).contains("query Posts")
            return isQuery ? .sequence([.gate(gate), answer]) : answer
        }
        let cache = RelayResponseCache(size: 10, ttl: .seconds(60))
        made.network.cache = cache
        let world = made
        async let before = world.texts()
        #expect(await world.server.until { $0.requestCount == 1 })
        #expect(try await world.texts(.like) == [RelayWorld.answer])
        let texts = AsyncStream.makeStream(of: Data.self)
        let late = world.publisher().sink { _ in
            texts.continuation.finish()
        } receiveValue: {
            texts.continuation.yield($0)
        }
        let client = try #require(world.network.client as? NetworkClientDefault)
        while client.activeSubscribers < 2 { await Task.yield() }
        gate.open()
        #expect(try await before == [RelayWorld.answer])
        for await _ in texts.stream {}
        withExtendedLifetime(late) {}
        #expect(world.server.requests.count == 2)
        #expect(cache.count == 0)
        _ = try await world.texts()
        #expect(cache.count == 1)
    }

    @Test(arguments: ["[]", "[ ]", "null"])
    func emptyErrorsDoNotPreventStoring(errors: String) async throws {
        let world = try world(#"{"data":{"a":1},"errors":\#(errors)}"#)
        _ = try await world.texts()
        #expect(world.network.cache?.count == 1)
    }

    @Test(arguments: [#"{"data":{"a":1},"errors":[{"message":"no"}]}"#, #"{"errors":[{"message":"no"}]}"#])
    func responsesWithErrorsAreNotStored(body: String) async throws {
        let world = try world(body)
        #expect(try await world.texts() == [body])
        #expect(try await world.texts() == [body])
        #expect(world.server.requests.count == 2)
    }

    @Test func responsesAreKeyedByCredentialsAndEndpoint() async throws {
        var world = try world()
        let auth = AuthInterceptor(
            AuthInterceptor<String>.Rules(load: { "token" }, attach: { $1.headerFields[.authorization] = $0 }),
            origins: []
        )
        world.dependencies.interceptors.add(auth)
        world.network.client = NetworkClientDefault(dependencies: world.dependencies)
        #expect(try await world.texts() == [RelayWorld.answer])
        #expect(try await world.texts() == [stored])
        auth.reset()
        #expect(try await world.texts() == [RelayWorld.answer])
        #expect(try await world.texts() == [stored])
        world.network.endpoint?.headers["Authorization"] = "another"
        #expect(try await world.texts() == [RelayWorld.answer])
        world.network.endpoint?.headers = [:]
        let other = world.server.url + "/other"
        world.network.endpoint?.target = other
        #expect(try await world.texts() == [RelayWorld.answer])
        #expect(world.server.requests.count == 4)
    }

    @Test func operationsOfOneDocumentAreStoredSeparately() async throws {
        let world = try world()
        var request = RequestParameters.posts
        request.text = "query Posts { posts { id } } query Others { posts { id } }"
        _ = try await world.texts(request)
        request.name = "Others"
        #expect(try await world.texts(request) == [RelayWorld.answer])
        #expect(world.server.requests.count == 2)
    }

    @Test func responsesAreKeyedByCacheID() async throws {
        let world = try world()
        var request = RequestParameters.posts
        request.cacheID = "v1"
        _ = try await world.texts(request)
        request.cacheID = "v2"
        #expect(try await world.texts(request) == [RelayWorld.answer])
        request.cacheID = "v1"
        #expect(try await world.texts(request) == [stored])
    }
}
