import BeagleNet
import BeagleNetCombine
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import GraphQLPeers
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct RelaySubscriptionTests {
    private static let request = RequestParameters(
        name: "Count",
        operationKind: .subscription,
        text: "subscription Count($to: Int) { count(to: $to, every: 1) }"
    )

    /// Sends the responses in order and then repeats the last one.
    private func fixture(
        _ ways: [GraphQLEndpoint.SubscriptionTransport] = [.events()],
        _ answers: LoopbackServer.Response...
    ) throws -> RelayFixture {
        let left = Lock(answers)
        var fixture = try RelayFixture { _ in
            left.withLock { left in left.count > 1 ? left.removeFirst() : left[0] }
        }
        fixture.network.endpoint?.subscriptions = ways
        fixture.dependencies.interceptors.removeAll { $0 is RetryInterceptor }
        fixture.dependencies.interceptors.add(RetryInterceptor(subscriptionBackoff: Backoff(base: .zero, limit: 3)))
        return fixture
    }

    @Test func eachResultIsPublishedWithoutNullMembers() async throws {
        let fixture = try fixture(
            [.events()],
            .raw(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
                    + #"event: next\#ndata: {"data":{"count":1},"errors":null,"extensions":null}\#n\#n"#
                    + #"event: next\#ndata: {"data":null,"errors":[{"message":"boom"}]}\#n\#n"#
                    + #"event: next\#ndata: {"data":{"count":3}}\#n\#nevent: complete\#ndata:\#n\#n"#
            )
        )
        #expect(
            try await fixture.texts(Self.request, ["to": 3]) == [
                #"{"data":{"count":1}}"#, #"{"errors":[{"message":"boom"}]}"#, #"{"data":{"count":3}}"#,
            ]
        )
        #expect(
            fixture.bodies == [
                #"{"query":"subscription Count($to: Int) { count(to: $to, every: 1) }","operationName":"Count","#
                    + #""variables":{"to":3}}"#
            ]
        )
    }

    @Test(arguments: [GraphQLEndpoint.DocumentStyle.text, .automatic, .documentID])
    func documentIDSuffices(style: GraphQLEndpoint.DocumentStyle) async throws {
        var fixture = try fixture([.events()], Self.ended)
        fixture.network.endpoint?.documentStyle = style
        let request = RequestParameters(name: "Count", operationKind: .subscription, id: "abc")
        #expect(try await fixture.texts(request) == [#"{"data":{"count":1}}"#])
        #expect(fixture.bodies == [#"{"documentId":"abc","operationName":"Count"}"#])
    }

    private static let ended = LoopbackServer.Response.chunked(
        [Data("event: next\ndata: {\"data\":{\"count\":1}}\n\nevent: complete\ndata:\n\n".utf8)],
        ["Content-Type": "text/event-stream"]
    )

    @Test func lostConnectionIsReplaced() async throws {
        let lost = LoopbackServer.Response.chunked(
            [Data("event: next\ndata: {\"data\":{\"count\":0}}\n\n".utf8)],
            ["Content-Type": "text/event-stream"]
        )
        let fixture = try fixture([.events()], lost, Self.ended)
        #expect(try await fixture.texts(Self.request) == [#"{"data":{"count":0}}"#, #"{"data":{"count":1}}"#])
    }

    @Test(arguments: [200, 400])
    func errorsOfTheServerArePublishedAsTheOnlyResponse(status: Int) async throws {
        let errors = #"{"errors":[{"extensions":{"code":"BAD"},"message":"no such field"}]}"#
        let fixture = try fixture([.events()], .response(status, ["Content-Type": "application/json"], errors))
        #expect(try await fixture.texts(Self.request) == [errors])
    }

    @Test func subscriptionFailsIfNoTransportIsSupported() async throws {
        let fixture = try fixture([.events(), .multipart], .response(405))
        #expect(try await fixture.failure(Self.request).kind == .unsupported)
        #expect(fixture.server.requests.count == 2)
    }

    @Test func pollingAndUploadsAreABadConfiguration() async throws {
        let fixture = try fixture([.events()], Self.ended)
        let polled = try await fixture.failure(Self.request, CacheConfig(poll: 1))
        #expect(polled.kind == .badConfiguration)
        #expect(polled.message == "a subscription cannot be polled")
        let publisher = fixture.network.execute(
            request: Self.request,
            variables: [:],
            cacheConfig: CacheConfig(),
            uploadables: ["file": FormFile(Data(), filename: "f")]
        )
        let error = await #expect(throws: NetworkError.self) { try await publisher.texts() }
        #expect(error?.kind == .badConfiguration)
        #expect(fixture.server.requests.isEmpty)
    }

    @Test func cancellingClosesTheConnection() async throws {
        let fixture = try fixture(
            [.events()],
            .sequence([
                .raw(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                        + "event: next\ndata: {\"data\":{\"count\":1}}\n\n"
                ),
                .stall,
            ])
        )
        let came = AsyncStream.makeStream(of: Void.self)
        let held = fixture.publisher(Self.request).sink { _ in
        } receiveValue: { _ in
            came.continuation.yield()
        }
        for await _ in came.stream { break }
        held.cancel()
        #expect(await fixture.server.until { $0.openConnections == 0 })
    }

    @Test func newest4096ResultsAreKeptWithoutDemand() async throws {
        let text = (1...5000).map { "event: next\ndata: {\"data\":{\"count\":\($0)}}\n\n" }.joined()
        let answer = LoopbackServer.Response.chunked(
            [Data((text + "event: complete\ndata:\n\n").utf8)],
            ["Content-Type": "text/event-stream"]
        )
        let fixture = try fixture([.events()], answer)
        let ended = AsyncStream.makeStream(of: Void.self)
        fixture.dependencies.interceptors.insert(EndSpy { ended.continuation.yield() }, at: 0)
        // `values` requests one value at a time.
        var values = fixture.publisher(Self.request).values.makeAsyncIterator()
        var numbers = [try await values.next()]
        for await _ in ended.stream { break }
        while let value = try await values.next() { numbers.append(value) }
        #expect(numbers.count <= 4098 && numbers.count >= 4096)
        #expect(numbers.last == Data(#"{"data":{"count":5000}}"#.utf8))
        #expect(fixture.logger.messages.count { $0.contains("Count is too slow") } == 1)
    }

    private static let subscriptionWorksWithStrawberryArguments: [(String, GraphQLEndpoint.SubscriptionTransport)] = [
        ("/graphql", GraphQLEndpoint.SubscriptionTransport.webSocket()), ("/graphql", .events()),
        ("/graphql", .multipart),
        ("/single", .events(.single)),
    ]

    @Test(
        .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"),
        arguments: Self.subscriptionWorksWithStrawberryArguments
    )
    func subscriptionWorksWithStrawberry(path: String, way: GraphQLEndpoint.SubscriptionTransport) async throws {
        var endpoint = GraphQLEndpoint(try await GraphQLServer.shared.url(path))
        endpoint.subscriptions = [way]
        let network = RelayNetwork(client: BeagleDependencies().networkClient, at: endpoint)
        let texts = try await network.execute(
            request: Self.request,
            variables: ["to": 3],
            cacheConfig: CacheConfig()
        ).texts()
        #expect(texts.map { $0.replacing(" ", with: "") } == (1...3).map { #"{"data":{"count":\#($0)}}"# })
    }
}

/// Reports the end of each operation.
private struct EndSpy: Interceptor {
    let onEnd: @Sendable () -> Void

    func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        defer { onEnd() }
        return try await next(operation, emit)
    }
}
