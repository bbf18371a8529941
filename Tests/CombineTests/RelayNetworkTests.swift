import BeagleNet
import BeagleNetCombine
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(1))) struct RelayNetworkTests {
    // MARK: - Requests

    @Test func bodyIsDeterministic() async throws {
        let world = try RelayWorld()
        for _ in 0..<20 {
            _ = try await world.texts(.posts, ["b": 1, "a": ["y": 2, "x": nil as Int?], "c": [true]])
        }
        let expected =
            #"{"query":"query Posts { posts { id } }","operationName":"Posts","#
            + #""variables":{"a":{"x":null,"y":2},"b":1,"c":[true]}}"#
        #expect(Set(world.bodies) == [expected])
        #expect(world.bodies.count == 20)
    }

    private static let persistedOperationIsSentInTheFormOfTheEndpointArguments:
        [(GraphQLEndpoint.DocumentStyle, String?, String, String)] = [
            (.documentID, "abc", #"{"documentId":"abc","operationName":"Posts"}"#, "/graphql"),
            (.text, "abc", #"{"documentId":"abc","operationName":"Posts"}"#, "/graphql"),
            (.automatic, "abc", #"{"documentId":"abc","operationName":"Posts"}"#, "/graphql"),
            (.parameter("doc_id"), "abc", #"{"doc_id":"abc","operationName":"Posts"}"#, "/graphql"),
            (.parameter("id"), "abc", #"{"id":"abc","operationName":"Posts"}"#, "/graphql"),
            (.path, "abc", #"{"operationName":"Posts"}"#, "/graphql/abc"),
            (.documentID, nil, #"{"documentId":"sha256:HASH","operationName":"Posts"}"#, "/graphql"),
            (.parameter("doc_id"), nil, #"{"doc_id":"HASH","operationName":"Posts"}"#, "/graphql"),
            (.path, nil, #"{"operationName":"Posts"}"#, "/graphql/HASH"),
        ]

    @Test(arguments: Self.persistedOperationIsSentInTheFormOfTheEndpointArguments)
    func persistedOperationIsSentInTheFormOfTheEndpoint(
        style: GraphQLEndpoint.DocumentStyle,
        id: String?,
        body: String,
        target: String
    ) async throws {
        let hash = "99ffd94929276ce608387ab1a363599bb4b52a2af41eea6865f8e60cd78bace2"
        var world = try RelayWorld()
        world.network.endpoint?.documents = style
        let request = RequestParameters(
            name: "Posts",
            operationKind: .query,
            text: id == nil ? RequestParameters.posts.text : nil,
            id: id
        )
        #expect(try await world.texts(request) == [RelayWorld.answer])
        #expect(world.bodies == [body.replacing("HASH", with: hash)])
        #expect(world.server.requests.map(\.target) == [target.replacing("HASH", with: hash)])
    }

    @Test func unknownHashIsFollowedByTheText() async throws {
        var world = try RelayWorld { request in
            let isKnown = String(decoding: request.body, as: UTF8.self).contains("query Posts")
            let unknown = #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#
            return .response(200, ["Content-Type": "application/json"], isKnown ? RelayWorld.answer : unknown)
        }
        world.network.endpoint?.documents = .automatic
        #expect(try await world.texts() == [RelayWorld.answer])
        #expect(world.bodies.count == 2)
        #expect(world.bodies.allSatisfy { $0.contains("sha256Hash") })
    }

    @Test func operationWithoutTextAndIDFails() async throws {
        let world = try RelayWorld()
        let error = try await world.failure(RequestParameters(name: "Posts", operationKind: .query))
        #expect(error.kind == .badRequest)
        #expect(world.server.requests.isEmpty)
    }

    // MARK: - Configuration

    @Test func interceptorsReceiveTheExecution() async throws {
        let seen = Lock<[RelayExecution?]>([])
        let world = try RelayWorld()
        world.dependencies.interceptors.insert(
            Spy { operation in seen.withLock { $0.append(operation.relayExecution) } },
            at: 0
        )
        let config = CacheConfig(metadata: ["screen": "home"], transactionID: "t1")
        _ = try await world.texts(.like, [:], config)
        let execution = try #require(seen.withLock { $0 }.first ?? nil)
        #expect(execution.request == .like)
        #expect(execution.cacheConfig.metadata as? [String: String] == ["screen": "home"])
    }

    @Test func forceUsesTheNetworkOnlyPolicy() async throws {
        let seen = Lock<[RequestPolicy]>([])
        let world = try RelayWorld()
        world.dependencies.interceptors.insert(
            Spy { operation in seen.withLock { $0.append(operation.policy) } },
            at: 0
        )
        _ = try await world.texts()
        _ = try await world.texts(.posts, [:], CacheConfig(force: true))
        #expect(seen.withLock { $0 } == [.cacheFirst, .networkOnly])
    }

    @Test func transactionIDIsLoggedAndOptionallySent() async throws {
        var world = try RelayWorld()
        let config = CacheConfig(transactionID: "t1")
        _ = try await world.texts(.posts, [:], config)
        world.network.transactionField = "X-Transaction"
        _ = try await world.texts(.posts, [:], config)
        #expect(world.server.requests.map { $0["X-Transaction"] } == [nil, "t1"])
        let lines = world.logger.messages.filter { $0.contains("[t1]") }
        #expect(lines == ["Posts [t1] completed", "Posts [t1] completed"])
        _ = try await world.texts()
        #expect(world.logger.messages.filter { $0.contains("Posts [") }.count == 2)
    }

    @Test func liveConfigIDIsSentAsAnExtension() async throws {
        let world = try RelayWorld()
        _ = try await world.texts(.posts, [:], CacheConfig(liveConfigID: "live1"))
        #expect(try JSONValue(parsing: Data(world.bodies[0].utf8))["extensions"] == ["liveConfigId": "live1"])
    }

    // MARK: - Files

    @Test func filesAreSentAtTheirPaths() async throws {
        let world = try RelayWorld()
        let (photo, other) = (FormFile(Data("p".utf8), filename: "p.png"), FormFile(Data("o".utf8), filename: "o.png"))
        let texts = try await world.network.execute(
            request: .like,
            variables: ["album": "1"],
            cacheConfig: CacheConfig(),
            uploadables: ["cover": photo, "input.photos.1": photo, "variables.input.photos.0": other]
        ).texts()
        #expect(texts == [RelayWorld.answer])
        let body = world.bodies[0]
        #expect(world.server.requests[0]["Content-Type"]?.hasPrefix("multipart/form-data") == true)
        #expect(body.contains(#""variables":{"album":"1","cover":null,"input":{"photos":[null,null]}}"#))
        let map = #"{"0":["variables.cover","variables.input.photos.1"],"1":["variables.input.photos.0"]}"#
        #expect(body.contains(map))
        #expect(body.components(separatedBy: "filename=").count == 3)
    }

    @Test(arguments: ["album.name", "list.x", "list.99", "list.-1"])
    func fileWithAnInvalidPathFails(path: String) async throws {
        let world = try RelayWorld()
        let publisher = world.network.execute(
            request: .like,
            variables: ["album": "1", "list": [1]],
            cacheConfig: CacheConfig(),
            uploadables: [path: FormFile(Data(), filename: "p")]
        )
        let error = await #expect(throws: NetworkError.self) { try await publisher.texts() }
        #expect(error?.kind == .badRequest)
        #expect(world.server.requests.isEmpty)
    }

    // MARK: - Responses

    private static let graphQLErrorsArePublishedAsAResponseArguments: [(String, Int, String)] = [
        (#"{"data":null,"errors":[{"message":"no"}]}"#, 200, #"{"errors":[{"message":"no"}]}"#),
        (#"{"data":{"a":1},"errors":[{"message":"no"}]}"#, 200, #"{"data":{"a":1},"errors":[{"message":"no"}]}"#),
        (#"{ "data" : {"a":1.50}, "extensions":null}"#, 200, #"{ "data" : {"a":1.50}}"#),
        (#"{"errors":[{"message":"no"}]}"#, 400, #"{"errors":[{"message":"no"}]}"#),
    ]

    @Test(arguments: Self.graphQLErrorsArePublishedAsAResponseArguments)
    func graphQLErrorsArePublishedAsAResponse(body: String, status: Int, expected: String) async throws {
        let world = try RelayWorld(body, status: status)
        #expect(try await world.texts() == [expected])
    }

    private static let invalidResponseFailsArguments: [(String, Int, String, NetworkError.Kind)] = [
        ("<html>", 200, "text/html", .decoding), ("{", 200, "application/json", .decoding),
        ("{}", 200, "application/json", .decoding), ("[]", 200, "application/json", .decoding),
        ("gone", 404, "text/plain", .status), (#"{"error":"x"}"#, 401, "application/json", .status),
    ]

    @Test(arguments: Self.invalidResponseFailsArguments)
    func invalidResponseFails(body: String, status: Int, type: String, kind: NetworkError.Kind) async throws {
        let world = try RelayWorld(body, status: status, type: type)
        #expect(try await world.failure().kind == kind)
    }

    @Test func refusedConnectionFails() async throws {
        var world = try RelayWorld()
        world.network.endpoint = GraphQLEndpoint(try #require(URL(string: "http://127.0.0.1:1")))
        world.dependencies.interceptors.removeAll { $0 is RetryInterceptor }
        #expect(try await world.failure(.posts, CacheConfig(transactionID: "t")).kind == .connect)
        #expect(world.logger.messages.contains("Posts [t] failed: connect"))
    }

    // MARK: - Subscribers

    @Test func queriesInFlightAreSharedAndMutationsAreNot() async throws {
        let gate = try LoopbackServer.Gate()
        let world = try RelayWorld { _ in
            .sequence([.gate(gate), .response(200, ["Content-Type": "application/json"], RelayWorld.answer)])
        }
        let count = Lock(0)
        let likes = Lock(0)
        world.dependencies.interceptors.insert(
            Spy { operation in
                if operation.kind == .mutation { likes.withLock { $0 += 1 } } else { count.withLock { $0 += 1 } }
            },
            at: 0
        )
        async let first = world.texts(.posts, ["a": 1])
        async let second = world.texts(.posts, ["a": 1])
        async let third = world.texts(.posts, ["a": 2])
        async let fourth = world.texts(.like)
        async let fifth = world.texts(.like)
        #expect(await world.server.until { $0.requestCount == 4 })
        gate.open()
        let texts = try await [first, second, third, fourth, fifth]
        #expect(texts == Array(repeating: [RelayWorld.answer], count: 5))
        #expect(world.server.requests.count == 4)
        #expect(count.withLock { $0 } == 2)
        #expect(likes.withLock { $0 } == 2)
    }

    @Test func eachSubscriberSendsARequest() async throws {
        let world = try RelayWorld()
        let publisher = world.publisher()
        #expect(world.server.requests.isEmpty)
        #expect(try await publisher.texts() == [RelayWorld.answer])
        #expect(try await publisher.texts() == [RelayWorld.answer])
        #expect(world.server.requests.count == 2)
    }

    @Test func cancellingCancelsTheTransfer() async throws {
        let world = try RelayWorld { _ in .stall }
        let held = world.publisher(.posts, [:], CacheConfig(transactionID: "t")).sink { _ in
        } receiveValue: { _ in
        }
        #expect(await world.server.until { $0.requestCount == 1 })
        held.cancel()
        #expect(await world.server.until { $0.openConnections == 0 })
    }
}

/// Reports each operation that passes.
struct Spy: Interceptor {
    let see: @Sendable (NetworkOperation) -> Void

    init(_ see: @escaping @Sendable (NetworkOperation) -> Void) {
        self.see = see
    }

    nonisolated(nonsending) func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        see(operation)
        return try await next(operation, emit)
    }
}
