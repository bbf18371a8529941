import BeagleNet
import BeagleNetCombine
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct RelayNetworkTests {
    // MARK: - Requests

    @Test func bodyIsDeterministic() async throws {
        let fixture = try RelayFixture()
        for _ in 0..<20 {
            _ = try await fixture.texts(.posts, ["b": 1, "a": ["y": 2, "x": nil as Int?], "c": [true]])
        }
        let expected =
            #"{"query":"query Posts { posts { id } }","operationName":"Posts","#
            + #""variables":{"a":{"x":null,"y":2},"b":1,"c":[true]}}"#
        #expect(Set(fixture.bodies) == [expected])
        #expect(fixture.bodies.count == 20)
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
        var fixture = try RelayFixture()
        fixture.network.endpoint?.documentStyle = style
        let request = RequestParameters(
            name: "Posts",
            operationKind: .query,
            text: id == nil ? RequestParameters.posts.text : nil,
            id: id
        )
        #expect(try await fixture.texts(request) == [RelayFixture.answer])
        #expect(fixture.bodies == [body.replacing("HASH", with: hash)])
        #expect(fixture.server.requests.map(\.target) == [target.replacing("HASH", with: hash)])
    }

    @Test func unknownHashIsFollowedByTheText() async throws {
        var fixture = try RelayFixture { request in
            let isKnown = String(decoding: request.body, as: UTF8.self).contains("query Posts")
            let unknown = #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#
            return .response(200, ["Content-Type": "application/json"], isKnown ? RelayFixture.answer : unknown)
        }
        fixture.network.endpoint?.documentStyle = .automatic
        #expect(try await fixture.texts() == [RelayFixture.answer])
        #expect(fixture.bodies.count == 2)
        #expect(fixture.bodies.allSatisfy { $0.contains("sha256Hash") })
    }

    @Test func operationWithoutTextAndIDFails() async throws {
        let fixture = try RelayFixture()
        let error = try await fixture.failure(RequestParameters(name: "Posts", operationKind: .query))
        #expect(error.kind == .badRequest)
        #expect(fixture.server.requests.isEmpty)
    }

    // MARK: - Configuration

    @Test func interceptorsReceiveTheExecution() async throws {
        let seen = Lock<[NetworkOperation.RelayExecution?]>([])
        let fixture = try RelayFixture()
        fixture.dependencies.interceptors.insert(
            Spy { operation in seen.withLock { $0.append(operation.relayExecution) } },
            at: 0
        )
        let config = CacheConfig(metadata: ["screen": "home"], transactionID: "t1")
        _ = try await fixture.texts(.like, [:], config)
        let execution = try #require(seen.withLock { $0 }.first ?? nil)
        #expect(execution.request == .like)
        #expect(execution.cacheConfig.metadata as? [String: String] == ["screen": "home"])
    }

    @Test func forceUsesTheNetworkOnlyPolicy() async throws {
        let seen = Lock<[RequestPolicy]>([])
        let fixture = try RelayFixture()
        fixture.dependencies.interceptors.insert(
            Spy { operation in seen.withLock { $0.append(operation.policy) } },
            at: 0
        )
        _ = try await fixture.texts()
        _ = try await fixture.texts(.posts, [:], CacheConfig(force: true))
        #expect(seen.withLock { $0 } == [.cacheFirst, .networkOnly])
    }

    @Test func transactionIDIsLoggedAndOptionallySent() async throws {
        var fixture = try RelayFixture()
        let config = CacheConfig(transactionID: "t1")
        _ = try await fixture.texts(.posts, [:], config)
        fixture.network.transactionField = "X-Transaction"
        _ = try await fixture.texts(.posts, [:], config)
        #expect(fixture.server.requests.map { $0["X-Transaction"] } == [nil, "t1"])
        let lines = fixture.logger.messages.filter { $0.contains("[t1]") }
        #expect(lines == ["Posts [t1] completed", "Posts [t1] completed"])
        _ = try await fixture.texts()
        #expect(fixture.logger.messages.filter { $0.contains("Posts [") }.count == 2)
    }

    @Test func liveConfigIDIsSentAsAnExtension() async throws {
        let fixture = try RelayFixture()
        _ = try await fixture.texts(.posts, [:], CacheConfig(liveConfigID: "live1"))
        #expect(try JSONValue(parsing: Data(fixture.bodies[0].utf8))["extensions"] == ["liveConfigId": "live1"])
    }

    // MARK: - Files

    @Test func filesAreSentAtTheirPaths() async throws {
        let fixture = try RelayFixture()
        let (photo, other) = (FormFile(Data("p".utf8), filename: "p.png"), FormFile(Data("o".utf8), filename: "o.png"))
        let texts = try await fixture.network.execute(
            request: .like,
            variables: ["album": "1"],
            cacheConfig: CacheConfig(),
            uploadables: ["cover": photo, "input.photos.1": photo, "variables.input.photos.0": other]
        ).texts()
        #expect(texts == [RelayFixture.answer])
        let body = fixture.bodies[0]
        #expect(fixture.server.requests[0]["Content-Type"]?.hasPrefix("multipart/form-data") == true)
        #expect(body.contains(#""variables":{"album":"1","cover":null,"input":{"photos":[null,null]}}"#))
        let map = #"{"0":["variables.cover","variables.input.photos.1"],"1":["variables.input.photos.0"]}"#
        #expect(body.contains(map))
        #expect(body.components(separatedBy: "filename=").count == 3)
    }

    @Test(arguments: ["album.name", "list.x", "list.99", "list.-1"])
    func fileWithAnInvalidPathFails(path: String) async throws {
        let fixture = try RelayFixture()
        let publisher = fixture.network.execute(
            request: .like,
            variables: ["album": "1", "list": [1]],
            cacheConfig: CacheConfig(),
            uploadables: [path: FormFile(Data(), filename: "p")]
        )
        let error = await #expect(throws: NetworkError.self) { try await publisher.texts() }
        #expect(error?.kind == .badRequest)
        #expect(fixture.server.requests.isEmpty)
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
        let fixture = try RelayFixture(body, status: status)
        #expect(try await fixture.texts() == [expected])
    }

    private static let invalidResponseFailsArguments: [(String, Int, String, NetworkError.Kind)] = [
        ("<html>", 200, "text/html", .decoding), ("{", 200, "application/json", .decoding),
        ("{}", 200, "application/json", .decoding), ("[]", 200, "application/json", .decoding),
        ("gone", 404, "text/plain", .status), (#"{"error":"x"}"#, 401, "application/json", .status),
    ]

    @Test(arguments: Self.invalidResponseFailsArguments)
    func invalidResponseFails(body: String, status: Int, type: String, kind: NetworkError.Kind) async throws {
        let fixture = try RelayFixture(body, status: status, type: type)
        #expect(try await fixture.failure().kind == kind)
    }

    @Test func refusedConnectionFails() async throws {
        var fixture = try RelayFixture()
        fixture.network.endpoint = GraphQLEndpoint(try #require(URL(string: "http://127.0.0.1:1")))
        fixture.dependencies.interceptors.removeAll { $0 is RetryInterceptor }
        #expect(try await fixture.failure(.posts, CacheConfig(transactionID: "t")).kind == .connect)
        #expect(fixture.logger.messages.contains("Posts [t] failed: connect"))
    }

    // MARK: - Subscribers

    @Test func queriesInFlightAreSharedAndMutationsAreNot() async throws {
        let gate = try LoopbackServer.Gate()
        let fixture = try RelayFixture { _ in
            .sequence([.gate(gate), .response(200, ["Content-Type": "application/json"], RelayFixture.answer)])
        }
        let count = Lock(0)
        let likes = Lock(0)
        fixture.dependencies.interceptors.insert(
            Spy { operation in
                if operation.kind == .mutation { likes.withLock { $0 += 1 } } else { count.withLock { $0 += 1 } }
            },
            at: 0
        )
        async let first = fixture.texts(.posts, ["a": 1])
        async let second = fixture.texts(.posts, ["a": 1])
        async let third = fixture.texts(.posts, ["a": 2])
        async let fourth = fixture.texts(.like)
        async let fifth = fixture.texts(.like)
        #expect(await fixture.server.until { $0.requestCount == 4 })
        gate.open()
        let texts = try await [first, second, third, fourth, fifth]
        #expect(texts == Array(repeating: [RelayFixture.answer], count: 5))
        #expect(fixture.server.requests.count == 4)
        #expect(count.withLock { $0 } == 2)
        #expect(likes.withLock { $0 } == 2)
    }

    @Test func eachSubscriberSendsARequest() async throws {
        let fixture = try RelayFixture()
        let publisher = fixture.publisher()
        #expect(fixture.server.requests.isEmpty)
        #expect(try await publisher.texts() == [RelayFixture.answer])
        #expect(try await publisher.texts() == [RelayFixture.answer])
        #expect(fixture.server.requests.count == 2)
    }

    @Test func cancellingCancelsTheTransfer() async throws {
        let fixture = try RelayFixture { _ in .stall }
        let held = fixture.publisher(.posts, [:], CacheConfig(transactionID: "t")).sink { _ in
        } receiveValue: { _ in
        }
        #expect(await fixture.server.until { $0.requestCount == 1 })
        held.cancel()
        #expect(await fixture.server.until { $0.openConnections == 0 })
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
