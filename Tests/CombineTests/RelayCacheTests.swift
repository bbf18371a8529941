import BeagleNet
import BeagleNetCombine
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct RelayCacheTests {
    private func fixture(_ body: String = RelayFixture.answer) throws -> RelayFixture {
        var fixture = try RelayFixture(body)
        fixture.network.cache = RelayResponseCache(size: 10, ttl: .seconds(60)) { Date(timeIntervalSince1970: 1) }
        return fixture
    }

    private let stored = #"{"data":{"posts":[{"id":"1"}]},"extensions":{"cacheTimestamp":1000}}"#

    @Test func storedResponseReplacesARequest() async throws {
        let fixture = try fixture()
        #expect(try await fixture.texts(.posts, ["a": 1]) == [RelayFixture.answer])
        #expect(try await fixture.texts(.posts, ["a": 1], CacheConfig(transactionID: "t")) == [stored])
        #expect(fixture.logger.messages.last == "Posts [t] completed from the response cache")
        #expect(try await fixture.texts(.posts, ["a": 2]) == [RelayFixture.answer])
        #expect(fixture.server.requests.count == 2)
    }

    @Test func forceBypassesTheCacheAndStoresTheResponse() async throws {
        let fixture = try fixture()
        #expect(try await fixture.texts(.posts, [:], CacheConfig(force: true)) == [RelayFixture.answer])
        #expect(try await fixture.texts(.posts, [:], CacheConfig(force: true)) == [RelayFixture.answer])
        #expect(try await fixture.texts() == [stored])
        #expect(fixture.server.requests.count == 2)
    }

    @Test func mutationClearsTheCache() async throws {
        let fixture = try fixture()
        _ = try await fixture.texts()
        #expect(try await fixture.texts(.like) == [RelayFixture.answer])
        #expect(fixture.network.cache?.count == 0)
        #expect(try await fixture.texts(.like) == [RelayFixture.answer])
        #expect(try await fixture.texts() == [RelayFixture.answer])
        #expect(fixture.server.requests.count == 4)
    }

    @Test func failedMutationClearsTheCache() async throws {
        let fixture = try fixture("<html>")
        fixture.network.cache?.store(Data(RelayFixture.answer.utf8), of: "a", [:])
        _ = try await fixture.failure(.like)
        #expect(fixture.network.cache?.count == 0)
    }

    @Test func queryStartedBeforeAMutationIsNotStored() async throws {
        let gate = try LoopbackServer.Gate()
        var made = try RelayFixture { request in
            let answer = LoopbackServer.Response.response(
                200,
                ["Content-Type": "application/json"],
                RelayFixture.answer
            )
            let isQuery = String(decoding: request.body, as: UTF8.self).contains("query Posts")
            return isQuery ? .sequence([.gate(gate), answer]) : answer
        }
        let cache = RelayResponseCache(size: 10, ttl: .seconds(60))
        made.network.cache = cache
        let fixture = made
        async let before = fixture.texts()
        #expect(await fixture.server.until { $0.requestCount == 1 })
        #expect(try await fixture.texts(.like) == [RelayFixture.answer])
        gate.open()
        #expect(try await before == [RelayFixture.answer])
        #expect(cache.count == 0)
        _ = try await fixture.texts()
        #expect(cache.count == 1)
    }

    @Test func queryThatJoinsOneStartedBeforeAMutationIsNotStored() async throws {
        let gate = try LoopbackServer.Gate()
        var made = try RelayFixture { request in
            let answer = LoopbackServer.Response.response(
                200,
                ["Content-Type": "application/json"],
                RelayFixture.answer
            )
            let isQuery = String(decoding: request.body, as: UTF8.self).contains("query Posts")
            return isQuery ? .sequence([.gate(gate), answer]) : answer
        }
        let cache = RelayResponseCache(size: 10, ttl: .seconds(60))
        made.network.cache = cache
        let fixture = made
        async let before = fixture.texts()
        #expect(await fixture.server.until { $0.requestCount == 1 })
        #expect(try await fixture.texts(.like) == [RelayFixture.answer])
        let texts = AsyncStream.makeStream(of: Data.self)
        let late = fixture.publisher().sink { _ in
            texts.continuation.finish()
        } receiveValue: {
            texts.continuation.yield($0)
        }
        let client = try #require(fixture.network.client as? NetworkClientDefault)
        while client.activeSubscribers < 2 { await Task.yield() }
        gate.open()
        #expect(try await before == [RelayFixture.answer])
        for await _ in texts.stream {}
        withExtendedLifetime(late) {}
        #expect(fixture.server.requests.count == 2)
        #expect(cache.count == 0)
        _ = try await fixture.texts()
        #expect(cache.count == 1)
    }

    @Test(arguments: ["[]", "[ ]", "null"])
    func emptyErrorsDoNotPreventStoring(errors: String) async throws {
        let fixture = try fixture(#"{"data":{"a":1},"errors":\#(errors)}"#)
        _ = try await fixture.texts()
        #expect(fixture.network.cache?.count == 1)
    }

    @Test(arguments: [#"{"data":{"a":1},"errors":[{"message":"no"}]}"#, #"{"errors":[{"message":"no"}]}"#])
    func responsesWithErrorsAreNotStored(body: String) async throws {
        let fixture = try fixture(body)
        #expect(try await fixture.texts() == [body])
        #expect(try await fixture.texts() == [body])
        #expect(fixture.server.requests.count == 2)
    }

    @Test func responsesAreKeyedByCredentialsAndEndpoint() async throws {
        var fixture = try fixture()
        let auth = AuthInterceptor(
            AuthInterceptor<String>.Rules(load: { "token" }, attach: { $1.headerFields[.authorization] = $0 }),
            origins: []
        )
        fixture.dependencies.interceptors.add(auth)
        fixture.network.client = NetworkClientDefault(dependencies: fixture.dependencies)
        #expect(try await fixture.texts() == [RelayFixture.answer])
        #expect(try await fixture.texts() == [stored])
        auth.reset()
        #expect(try await fixture.texts() == [RelayFixture.answer])
        #expect(try await fixture.texts() == [stored])
        fixture.network.endpoint?.headers["Authorization"] = "another"
        #expect(try await fixture.texts() == [RelayFixture.answer])
        fixture.network.endpoint?.headers = [:]
        let other = fixture.server.url + "/other"
        fixture.network.endpoint?.target = other
        #expect(try await fixture.texts() == [RelayFixture.answer])
        #expect(fixture.server.requests.count == 4)
    }

    @Test func operationsOfOneDocumentAreStoredSeparately() async throws {
        let fixture = try fixture()
        var request = RequestParameters.posts
        request.text = "query Posts { posts { id } } query Others { posts { id } }"
        _ = try await fixture.texts(request)
        request.name = "Others"
        #expect(try await fixture.texts(request) == [RelayFixture.answer])
        #expect(fixture.server.requests.count == 2)
    }

    @Test func responsesAreKeyedByCacheID() async throws {
        let fixture = try fixture()
        var request = RequestParameters.posts
        request.cacheID = "v1"
        _ = try await fixture.texts(request)
        request.cacheID = "v2"
        #expect(try await fixture.texts(request) == [RelayFixture.answer])
        request.cacheID = "v1"
        #expect(try await fixture.texts(request) == [stored])
    }
}
