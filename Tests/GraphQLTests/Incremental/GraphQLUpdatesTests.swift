import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import GraphQLPeers
import Testing

/// Incremental responses of third-party servers.
@Suite(.leavesNothing, .timeLimit(.minutes(5)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
struct GraphQLUpdatesTests {
    private let client = NetworkClientDefault(dependencies: BeagleDependencies())
    private static let multipart = "multipart/mixed;incrementalSpec=v0.2, application/json;q=0.9"

    private func endpoint(_ path: String, _ accept: String? = nil, test: String = "") async throws -> GraphQLEndpoint {
        var headers = ["X-Test": test]
        headers["Accept"] = accept
        return GraphQLEndpoint(try await GraphQLServer.shared.url(path), headers: headers)
    }

    private func updates(_ query: String, at endpoint: GraphQLEndpoint) async throws -> [GraphQLUpdate<JSONValue>] {
        var updates: [GraphQLUpdate<JSONValue>] = []
        for try await update in try client.results(of: GraphQLRequest(query: query), at: endpoint) {
            updates.append(update)
        }
        return updates
    }

    @Test(
        "merged pieces equal the response to the same query without the directives",
        arguments: [
            #"{ post(id: 1) { id ...@defer(label: "b") { slowBody author { name ...@defer { bio } } } } }"#,
            #"{ posts @stream(initialCount: 1) { id comments @stream(label: "c") { id likes } } }"#,
            #"{ hero { name ...@defer { friends { name ...@defer { height friends { name } } } } } }"#,
            "{ hero { friends { id ...@defer { name } ...@defer { name height } } } ...@defer { post(id: 2) { body } } }",
            #"{ post(id: 1) { id ...@defer { secret title } } }"#,
            #"{ ticks(to: 50) @stream }"#,
        ],
        [multipart, GraphQLEndpoint.incrementalAccept]
    )
    func mergedPiecesEqualTheWholeResponse(query: String, accept: String) async throws {
        let endpoint = try await endpoint("/graphql", accept)
        let updates = try await updates(query, at: endpoint)
        let plain = query.replacing(#/@(defer|stream)(\([^)]*\))?/#, with: "")
        let whole = try await client.response(to: GraphQLRequest(query: plain), at: self.endpoint("/graphql")).data
        let expected = try JSONValue(parsing: whole)
        let last = try #require(updates.last)
        #expect(last.response.data == expected["data"])
        #expect(
            Set(last.response.errors.map(\.message))
                == Set((expected["errors"]?.array ?? []).map(GraphQLError.init).map(\.message))
        )
        #expect(updates.count > 1)
        #expect(updates.dropLast().allSatisfy(\.hasNext) && !last.hasNext)
        #expect(updates.first?.response.data != last.response.data)
        #expect(try fold(updates.flatMap(\.patches)) == last.response.data)
        #expect(last.relayPayloads.last?["extensions"]?["is_final"] == true)
    }

    /// Merges the patches alone.
    private func fold(_ patches: [GraphQLPatch]) throws -> JSONValue? {
        var merge = IncrementalMerge()
        for payload in patches.relayPayloads(hasNext: true) { _ = try merge.apply(payload) }
        return merge.data
    }

    @Test(arguments: [multipart, GraphQLEndpoint.incrementalAccept])
    func laterErrorIsReportedAndEarlierDataRemains(accept: String) async throws {
        let endpoint = try await endpoint("/graphql", accept)
        let deferred = try await updates(
            "{ post(id: 1) { id ...@defer(label: \"s\") { requiredSecret } } }",
            at: endpoint
        )
        #expect(deferred.map(\.response.data) == Array(repeating: ["post": ["id": "1"]], count: 2))
        #expect(deferred.last?.response.errors.map(\.code) == ["FORBIDDEN"])
        #expect(deferred.last?.patches.map(\.label) == ["s"])
        #expect(deferred.last?.patches.map(\.content) == [nil])
        let streamed = try await updates("{ post(id: 1) { comments(brokenAfter: 2) @stream { id } } }", at: endpoint)
        #expect(streamed.last?.response.data == ["post": ["comments": [["id": "1-1"], ["id": "1-2"]]]])
        #expect(streamed.last?.response.errors.map(\.code) == ["BROKEN"])
    }

    @Test(arguments: ["multipart", "sse", "jsonl"], ["defer", "stream", "error"])
    func otherIncrementalFormatsAreSupported(framing: String, name: String) async throws {
        let expected: [String: JSONValue] = [
            "/v2022defer": [
                "hero": [
                    "id": "2001", "name": "R2-D2", "height": 1.72,
                    "friends": [["name": "Luke"], ["name": "Han", "id": "1002"]],
                ]
            ],
            "/relaydefer": ["hero": ["id": "2001", "name": "R2-D2", "height": 1.72]],
            "/v2022stream": ["posts": [["id": "1"], ["id": "2"], ["id": "3"]]],
            "/relaystream": ["posts": [["id": "1"], ["id": "2"], ["id": "3"]]],
            "/v2022error": ["post": ["id": "1"]],
        ]
        for path in ["/v2022", "/relay"] {
            guard let data = expected[path + name] else { continue }
            let updates = try await updates("{ a }", at: endpoint("\(path)?case=\(name)&as=\(framing)"))
            #expect(updates.last?.response.data == data)
            #expect(updates.map(\.hasNext) == Array(repeating: true, count: updates.count - 1) + [false])
            #expect(updates.last?.response.errors.map(\.message) == (name == "error" ? ["not yours"] : []))
        }
    }

    @Test(arguments: ["/v2022", "/relay"], ["multipart", "sse", "jsonl"])
    func truncatedStreamThrowsAfterItsUpdates(path: String, framing: String) async throws {
        let endpoint = try await endpoint("\(path)?case=cut&as=\(framing)")
        var iterator = try client.results(of: GraphQLRequest(query: "{ a }"), at: endpoint).makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first?.response.data == ["post": ["id": "1"]])
        let error = await #expect(throws: NetworkError.self) { try await iterator.next() }
        #expect(error?.kind == .truncated)
        #expect(try await iterator.next() == nil)
    }

    private struct Article: Decodable, Sendable {
        struct Author: Decodable, Sendable { let name: String }
        let id: String
        let slowBody: String?
        let author: Author?
    }

    @Test func resultsHaveTheTypeOfTheOperation() async throws {
        let operation = GraphQLOperation<NoInput, Article>.document(
            "{ post(id: 1) { id ...@defer { slowBody } ...@defer { author { name } } } }"
        )
        var bodies: [String?] = []
        for try await update in try await client.results(of: operation, at: endpoint("/graphql")) {
            #expect(update.response.data?.id == "1")
            bodies.append(update.response.data?.slowBody)
            if !update.hasNext { #expect(update.response.data?.author?.name == "Ann") }
        }
        #expect(bodies.first == .some(nil))
        #expect(bodies.last == "Hello, world")
    }

    /// Pieces that arrive together are delivered together, and the error follows them.
    @Test func validPiecesAreDeliveredBeforeTheError() async throws {
        let lines = """
            {"data":{"post":{"id":"1"}},"hasNext":true}
            {"incremental":[{"path":["post"],"data":{"slowBody":"x"}}],"hasNext":true}
            {"incremental":[{"path":["nowhere"],"data":{}}],"hasNext":true}

            """
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/jsonl"], lines))
        let updates = try client.results(
            of: GraphQLOperation<NoInput, Article>.document("{ post { id slowBody } }"),
            at: GraphQLEndpoint("http://\(server.authority)/")
        )
        var iterator = updates.makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first?.response.data?.slowBody == "x")
        #expect(first?.patches.count == 2)
        #expect(first?.hasNext == true)
        let error = await #expect(throws: NetworkError.self) { try await iterator.next() }
        #expect(error?.kind == .decoding)
        #expect(try await iterator.next() == nil)
    }

    @Test func serverWithoutIncrementalDeliverySendsOneUpdate() async throws {
        let query = "{ post(id: 1) { id } fail }"
        let updates = try await updates(query, at: endpoint("/ariadne"))
        let plain = try await client.response(to: GraphQLRequest(query: query), at: endpoint("/ariadne"))
        #expect(updates.count == 1)
        #expect(updates.first?.json == (try JSONValue(parsing: plain.data)))
        #expect(updates.first?.response.errors.count == 1)
        #expect(updates.first?.hasNext == false)
        #expect(updates.first?.relayPayloads.first?["extensions"]?["is_final"] == true)
        var typed = 0
        for try await update in try await client.results(of: .post("2"), at: endpoint("/strict")) {
            #expect(update.response.data?.title == "Ünïcode 😀")
            typed += 1
        }
        #expect(typed == 1)
    }

    private static let invalidResponseThrowsTheUsualErrorArguments: [(String, NetworkError.Kind)] = [
        ("/html", NetworkError.Kind.status), ("/empty", .decoding), ("/odd?type=text/plain&body=x", .decoding),
        ("/odd?body=[]", .decoding), ("/odd?body=%7B%7D", .decoding),
        ("/odd?type=text/event-stream&body=data:%20x%0A%0A", .decoding),
        ("/odd?type=text/event-stream&body=data:%20x%0A%0A&status=500", .status),
        ("/odd?type=multipart/mixed&body=x", .protocol),
        ("/odd?type=application/jsonl&body=%7B%22a%22:1%7D", .decoding),
        ("/odd?type=text/event-stream&body=event:%20complete%0Adata:%0A%0A", .decoding),
        ("/odd?type=text/event-stream&body=x", .truncated),
        ("/odd?type=application/jsonl&body=x&cut=1", .truncated),
    ]

    @Test(arguments: Self.invalidResponseThrowsTheUsualErrorArguments)
    func invalidResponseThrowsTheUsualError(path: String, kind: NetworkError.Kind) async throws {
        let endpoint = try await endpoint(path)
        let error = await #expect(throws: NetworkError.self) { try await updates("{ a }", at: endpoint) }
        #expect(error?.kind == kind, "\(String(describing: error))")
        await #expect(throws: NetworkError.self) {
            for try await _ in try client.results(of: .document("{ a }", as: Post.self), at: endpoint) {}
        }
    }

    @Test func errorPolicyOfTheEndpointApplies() async throws {
        var endpoint = try await endpoint("/graphql")
        let operation = GraphQLOperation<NoInput, Article>.document(
            "{ post(id: 1) { id ...@defer { slowBody: secret } } }"
        )
        endpoint.errorPolicy = .strict
        var count = 0
        let error = await #expect(throws: NetworkError.self) {
            for try await _ in try client.results(of: operation, at: endpoint) { count += 1 }
        }
        #expect(error?.graphQLErrors.map(\.code) == ["FORBIDDEN"])
        #expect(count == 1)
        endpoint.errorPolicy = .ignore
        for try await update in try client.results(of: operation, at: endpoint) {
            #expect(update.response.errors.isEmpty)
        }
    }

    @Test(arguments: ["/strict", "/apq-unsupported"])
    func persistedQueriesWorkWithIncrementalDelivery(path: String) async throws {
        let test = "incremental-hashes\(path.count)"
        var endpoint = try await endpoint(path, test: test)
        endpoint.documentStyle = .automatic
        let query = "{ post(id: 1) { id ...@defer { title } } } # \(UUID())"
        for _ in 0..<2 {
            let updates = try await updates(query, at: endpoint)
            #expect(updates.last?.response.data == ["post": ["id": "1", "title": "First"]])
        }
        let bodies = try await GraphQLServer.shared.log(of: test)["requests"]?.array?.compactMap { $0["body"]?.string }
        #expect(
            bodies?.map { $0.contains("query") } == (path == "/strict" ? [false, true, false] : [false, true, true])
        )
    }

    @Test(arguments: [multipart, GraphQLEndpoint.incrementalAccept])
    func leavingTheLoopEndsTheTransfer(accept: String) async throws {
        let test = "incremental-leaving\(accept.count)"
        let endpoint = try await endpoint("/graphql", accept, test: test)
        let query = GraphQLRequest(query: "{ ticks(to: 1000000) @stream }")
        for try await update in try client.results(of: query, at: endpoint) where update.response.data != ["ticks": []]
        {
            break
        }
        try await GraphQLServer.shared.event("ticks ended", of: test)
    }

    @Test(arguments: [multipart, GraphQLEndpoint.incrementalAccept])
    func cancellingEndsTheTransfer(accept: String) async throws {
        let test = "incremental-cancelling\(accept.count)"
        let updates = try client.results(
            of: GraphQLRequest(query: "{ ticks(to: 1000000, every: 1) @stream }"),
            at: try await endpoint("/graphql", accept, test: test)
        )
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let reading = Task {
            do throws(NetworkError) {
                var iterator = updates.makeAsyncIterator()
                while try await iterator.next() != nil { begin.yield() }
                return nil as NetworkError.Kind?
            } catch {
                return error.kind
            }
        }
        for await _ in begun { break }
        reading.cancel()
        #expect(await reading.value == .cancelled)
        try await GraphQLServer.shared.event("ticks ended", of: test)
    }

    /// The end of the body arrives after its last payload. The client waits for it in order to reuse the connection.
    @Test func connectionIsReusedIfTheEndOfTheBodyIsLate() async throws {
        let gate = try LoopbackServer.Gate()
        let line = #"{"data":{"a":1},"hasNext":false}"# + "\n"
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/jsonl\r\nTransfer-Encoding: chunked\r\n\r\n"
        let payload = "\(String(line.utf8.count, radix: 16))\r\n\(line)\r\n"
        let server = try LoopbackServer(.sequence([.raw(head + payload), .gate(gate), .raw("0\r\n\r\n")]))
        let updates = try client.results(of: GraphQLRequest(query: "{ a }"), at: GraphQLEndpoint("\(server.url)/"))
        for _ in 0..<2 {
            for try await update in updates where !update.hasNext { gate.open() }
        }
        #expect(server.record.requestCount == 2)
        #expect(server.record.connections == 1)
    }

    @Test(arguments: [multipart, GraphQLEndpoint.incrementalAccept])
    func connectionIsReusedForTheNextOperation(accept: String) async throws {
        let test = "incremental-connection\(accept.count)"
        let endpoint = try await endpoint("/graphql", accept, test: test)
        for _ in 0..<5 { _ = try await updates("{ post(id: 1) { id ...@defer { slowBody } } }", at: endpoint) }
        let requests = try await GraphQLServer.shared.log(of: test)["requests"]?.array ?? []
        #expect(requests.count == 5)
        // From the second request on, a server known to send events has its own event loop with its own connections.
        #expect(Set(requests.map { $0["client"]?.integer }).count <= 2)
    }

    @Test func invalidOperationThrowsBeforeItIsSent() async throws {
        #expect(throws: NetworkError.self) { try client.results(of: GraphQLRequest(query: "{ a }")) }
        #expect(throws: NetworkError.self) {
            try client.results(of: .document("{ a ", as: Post.self), at: GraphQLEndpoint("/"))
        }
        let endpoint = try await endpoint("/graphql")
        let error = await #expect(throws: NetworkError.self) { try await updates("mutation { a }", at: endpoint) }
        #expect(error?.kind == .badRequest)
    }
}
