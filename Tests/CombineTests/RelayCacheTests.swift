import BeagleNet
import BeagleNetCombine
import BeagleNetHTTP
import BeagleNetTesting
import Testing

@Suite struct RelayCacheTests {
    private func world(_ body: String = RelayWorld.answer) throws -> RelayWorld {
        var world = try RelayWorld(body)
        world.network.cache = RelayResponseCache(size: 10, ttl: .seconds(60)) { Date(timeIntervalSince1970: 1) }
        return world
    }

    private let stored = #"{"data":{"posts":[{"id":"1"}]},"extensions":{"cacheTimestamp":1000}}"#

    @Test func storedAnswerIsGivenInTheServersPlace() async throws {
        let world = try world()
        #expect(try await world.texts(.posts, ["a": 1]) == [RelayWorld.answer])
        #expect(try await world.texts(.posts, ["a": 1], CacheConfig(transactionID: "t")) == [stored])
        #expect(world.logger.messages.last == "Posts [t] was answered from the response cache")
        #expect(try await world.texts(.posts, ["a": 2]) == [RelayWorld.answer])
        #expect(world.server.requests.count == 2)
    }

    @Test func forcePassesByWhatIsStoredAndStoresAnew() async throws {
        let world = try world()
        #expect(try await world.texts(.posts, [:], CacheConfig(force: true)) == [RelayWorld.answer])
        #expect(try await world.texts(.posts, [:], CacheConfig(force: true)) == [RelayWorld.answer])
        #expect(try await world.texts() == [stored])
        #expect(world.server.requests.count == 2)
    }

    @Test func mutationForgetsWhatIsStored() async throws {
        let world = try world()
        _ = try await world.texts()
        #expect(try await world.texts(.like) == [RelayWorld.answer])
        #expect(world.network.cache?.count == 0)
        #expect(try await world.texts(.like) == [RelayWorld.answer])
        #expect(try await world.texts() == [RelayWorld.answer])
        #expect(world.server.requests.count == 4)
    }

    @Test func mutationForgetsAlsoWhereItFails() async throws {
        let world = try world("<html>")
        world.network.cache?.store(Data(RelayWorld.answer.utf8), of: "a", [:])
        _ = try await world.failure(.like)
        #expect(world.network.cache?.count == 0)
    }

    @Test(arguments: [#"{"data":{"a":1},"errors":[{"message":"no"}]}"#, #"{"errors":[{"message":"no"}]}"#])
    func answersWithErrorsAreNotStored(body: String) async throws {
        let world = try world(body)
        #expect(try await world.texts() == [body])
        #expect(try await world.texts() == [body])
        #expect(world.server.requests.count == 2)
    }

    @Test func whatStandsForTheTextTellsAnswersApart() async throws {
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
