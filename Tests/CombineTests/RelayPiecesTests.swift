import BeagleNet
import BeagleNetCombine
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Incremental responses.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct RelayPiecesTests {
    private static let request = RequestParameters(
        name: "Posts",
        operationKind: .query,
        text: "query Posts { a ... @defer(label: \"B\") { b } list @stream(label: \"L\") }"
    )

    private static let payloads = [
        #"{"data":{"a":1,"list":[]},"extensions":null,"pending":["#
            + #"{"id":"0","path":[],"label":"B"},{"id":"1","path":["list"],"label":"L"}],"hasNext":true}"#,
        #"{"incremental":[{"id":"1","items":[7,8]}],"extensions":null,"hasNext":true}"#,
        #"{"incremental":[{"id":"0","data":{"b":2}}],"completed":[{"id":"0"},{"id":"1"}],"hasNext":false}"#,
    ]

    private func fixture(_ payloads: [String] = payloads) throws -> RelayFixture {
        let parts = payloads.map { "\r\n--graphql\r\nContent-Type: application/json\r\n\r\n\($0)" }
        let body = parts.joined() + "\r\n--graphql--\r\n"
        return try RelayFixture(body, type: "multipart/mixed; boundary=graphql")
    }

    /// A stream of 300 items, each in its own payload.
    private static let stream =
        [#"{"data":{"list":[]},"pending":[{"id":"0","path":["list"],"label":"L"}],"hasNext":true}"#]
        + (0..<300).map { #"{"incremental":[{"id":"0","items":[\#($0)]}],"hasNext":true}"# }
        + [#"{"completed":[{"id":"0"}],"hasNext":false}"#]

    @Test func eachValueIsTheResponseSoFar() async throws {
        let gates = [try LoopbackServer.Gate(), try LoopbackServer.Gate(), try LoopbackServer.Gate()]
        let fixture = try RelayFixture { _ in
            let head = "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=graphql\r\n\r\n--graphql"
            let parts = zip(Self.payloads, gates).flatMap { payload, gate -> [LoopbackServer.Response] in
                [.raw("\r\nContent-Type: application/json\r\n\r\n\(payload)\r\n--graphql"), .gate(gate)]
            }
            return .sequence([.raw(head)] + parts + [.raw("--\r\n"), .close])
        }
        var texts: [String] = []
        for try await data in fixture.publisher(Self.request).values {
            gates[texts.count].open()
            texts.append(String(decoding: data, as: UTF8.self))
        }
        #expect(
            texts == [
                #"{"data":{"a":1,"list":[]}}"#,
                #"{"data":{"a":1,"list":[7,8]}}"#,
                #"{"data":{"a":1,"b":2,"list":[7,8]}}"#,
            ]
        )
        #expect(fixture.server.requests.first?["Accept"]?.contains("multipart/mixed") == true)
    }

    @Test func piecesThatArriveTogetherAreMerged() async throws {
        let fixture = try fixture(Self.stream)
        var answers: [Data] = []
        for try await all in fixture.publisher(Self.request).collect().values { answers = all }
        #expect(answers.count < 300)
        #expect(
            answers.last.map { String(decoding: $0, as: UTF8.self) }
                == #"{"data":{"list":[\#((0..<300).map { "\($0)" }.joined(separator: ","))]}}"#
        )
    }

    @Test func slowReaderReceivesEveryPatch() async throws {
        var fixture = try fixture(Self.stream)
        fixture.network.incrementalDelivery = .patches
        let config = CacheConfig(transactionID: "t")
        var values = fixture.publisher(Self.request, [:], config).values.makeAsyncIterator()
        var pieces = [try await values.next()]
        while !fixture.logger.messages.contains("Posts [t] completed") {
            try await Task.sleep(for: .milliseconds(1))
        }
        while let piece = try await values.next() { pieces.append(piece) }
        let items = try pieces.compactMap { try $0.map { try JSONValue(parsing: $0) } }.compactMap { $0["data"] }
        #expect(items.filter { $0.object == nil && $0 != .null } == (0..<300).map { .integer($0) })
    }

    @Test func mergedResponseIsStoredWithPatches() async throws {
        var fixture = try fixture()
        fixture.network.incrementalDelivery = .patches
        fixture.network.cache = RelayResponseCache(size: 10, ttl: .seconds(60)) { Date(timeIntervalSince1970: 1) }
        _ = try await fixture.texts(Self.request)
        let stored = #"{"data":{"a":1,"b":2,"list":[7,8]},"extensions":{"cacheTimestamp":1000}}"#
        #expect(try await fixture.texts(Self.request) == [stored])
    }

    @Test func patchesHaveTheFormatOfRelay() async throws {
        var fixture = try fixture()
        fixture.network.incrementalDelivery = .patches
        #expect(
            try await fixture.texts(Self.request) == [
                #"{"data":{"a":1,"list":[]},"extensions":{"is_final":false}}"#,
                #"{"data":7,"extensions":{"is_final":false},"label":"L","path":["list",0]}"#,
                #"{"data":8,"extensions":{"is_final":false},"label":"L","path":["list",1]}"#,
                #"{"data":{"a":1,"b":2,"list":[7,8]},"extensions":{"is_final":true},"label":"B","path":[]}"#,
            ]
        )
    }

    /// Relay identifies a fragment by its label and path, so pieces below it and shared data must be part of its payload.
    @Test func fragmentInSeveralPiecesIsOnePatchAtItsPath() async throws {
        var fixture = try fixture([
            #"{"data":{"a":{}},"pending":[{"id":"0","path":["a"],"label":"x"},{"id":"1","path":["a"],"label":"y"}],"#
                + #""hasNext":true}"#,
            #"{"incremental":[{"data":{"b":{"c":{}}},"id":"0"},{"data":{"e":1},"id":"0"}],"hasNext":true}"#,
            #"{"incremental":[{"data":{"d":2},"id":"0","subPath":["b","c"]}],"completed":[{"id":"0"}],"hasNext":true}"#,
            #"{"incremental":[{"data":{"f":3},"id":"1"}],"completed":[{"id":"1"}],"hasNext":false}"#,
        ])
        fixture.network.incrementalDelivery = .patches
        #expect(
            try await fixture.texts(Self.request) == [
                #"{"data":{"a":{}},"extensions":{"is_final":false}}"#,
                #"{"data":{"b":{"c":{"d":2}},"e":1},"extensions":{"is_final":false},"label":"x","path":["a"]}"#,
                #"{"data":{"b":{"c":{"d":2}},"e":1,"f":3},"extensions":{"is_final":true},"label":"y","path":["a"]}"#,
            ]
        )
    }

    @Test(arguments: ["application/json", "multipart/mixed; boundary=graphql"])
    func singleResponseKeepsItsText(type: String) async throws {
        let text = #"{"data":{"b":18446744073709551615,"a":0.12345678901234567890}}"#
        let body = type.hasPrefix("multipart") ? "--graphql\r\n\r\n\(text)\r\n--graphql--\r\n" : text
        var fixture = try RelayFixture(body, type: type)
        #expect(try await fixture.texts(Self.request) == [text])
        fixture.network.incrementalDelivery = .patches
        #expect(try await fixture.texts(Self.request) == [text.dropLast() + #","extensions":{"is_final":true}}"#])
    }

    @Test func mergedResponseIsStored() async throws {
        var fixture = try fixture()
        fixture.network.cache = RelayResponseCache(size: 10, ttl: .seconds(60)) { Date(timeIntervalSince1970: 1) }
        _ = try await fixture.texts(Self.request)
        let stored = #"{"data":{"a":1,"b":2,"list":[7,8]},"extensions":{"cacheTimestamp":1000}}"#
        #expect(try await fixture.texts(Self.request) == [stored])
        #expect(fixture.server.requests.count == 1)
    }

    @Test func truncatedStreamFailsAfterItsValues() async throws {
        let fixture = try fixture(Array(Self.payloads.prefix(2)))
        var texts: [String] = []
        let error = await #expect(throws: NetworkError.self) {
            for try await data in fixture.publisher(Self.request).values {
                texts.append(String(decoding: data, as: UTF8.self))
            }
        }
        #expect(error?.kind == .truncated)
        #expect(texts.last == #"{"data":{"a":1,"list":[7,8]}}"#)
    }

    @Test func serverWithoutIncrementalDeliverySendsOneResponse() async throws {
        let fixture = try RelayFixture(#"{"data":{"a":1},"extensions":null}"#)
        #expect(try await fixture.texts(Self.request) == [#"{"data":{"a":1}}"#])
    }

    @Test func graphQLErrorsArePublishedAsAResponse() async throws {
        let fixture = try RelayFixture(#"{"errors":[{"message":"no"}]}"#, status: 400)
        #expect(try await fixture.texts(Self.request) == [#"{"errors":[{"message":"no"}]}"#])
    }

    @Test func cancellingBetweenPiecesCancelsTheTransfer() async throws {
        let part = "\r\n--graphql\r\nContent-Type: application/json\r\n\r\n\(Self.payloads[0])\r\n--graphql"
        let head = "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=graphql\r\n\r\n"
        let fixture = try RelayFixture { _ in .sequence([.raw(head + part), .stall]) }
        let (received, hear) = AsyncStream.makeStream(of: Void.self)
        let held = fixture.publisher(Self.request).sink { _ in
        } receiveValue: { _ in
            hear.yield()
        }
        for await _ in received { break }
        held.cancel()
        #expect(await fixture.server.until { $0.openConnections == 0 })
    }
}
