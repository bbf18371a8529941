import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Requests on the wire, byte for byte.
@Suite(.leavesNothing) struct GraphQLMessageTests {
    private let client = NetworkClientDefault(dependencies: BeagleDependencies())
    private let answer = LoopbackServer.Response.response(
        200,
        ["Content-Type": "application/json"],
        #"{"data":{"post":{"id":"1","title":"First"}}}"#
    )

    /// Runs an operation and returns the request that the server received.
    private func received<Input: Encodable & Sendable>(
        _ operation: GraphQLOperation<Input, Post>,
        _ change: (inout GraphQLEndpoint) -> Void = { _ in }
    ) async throws -> LoopbackServer.Request {
        let server = try LoopbackServer(answer)
        var endpoint = GraphQLEndpoint(server.url + "/graphql?tenant=a")
        change(&endpoint)
        _ = try await client.execute(operation, at: endpoint)
        return try #require(server.requests.first)
    }

    @Test func parametersHaveTheOrderOfTheSpecification() async throws {
        var operation = GraphQLOperation<IDInput, Post>.post("1")
        operation.extensions = ["b": 1, "a": true]
        let request = try await received(operation)
        #expect(request.method == "POST")
        #expect(request.target == "/graphql?tenant=a")
        #expect(request["Content-Type"] == "application/json")
        #expect(request["Accept"] == "application/graphql-response+json, application/json;q=0.9")
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == #"{"query":"query Post($id: ID!) { post(id: $id) { id title } }","operationName":"Post","#
                + #""variables":{"id":"1"},"extensions":{"a":true,"b":1}}"#
        )
    }

    /// The beginning of the message is cached with the document.
    @Test func eachOperationOfADocumentIsSentByItsName() async throws {
        let text = #"query A { post(id: "1\\n") { id title } } query B { post(id: "2") { id title } }"#
        for name in ["A", "B", "B", "A"] {
            var operation = GraphQLOperation<NoInput, Post>.document(text)
            operation.operationName = name
            let body = try await received(operation).body
            let sent = try JSONValue(parsing: body)
            #expect(sent.object?["query"]?.string == text)
            #expect(sent.object?["operationName"]?.string == name)
            #expect(sent.object?.count == 2)
        }
    }

    @Test func extensionsAreSentWithoutVariables() async throws {
        var operation = GraphQLOperation<NoInput, Post>.document("{ post(id: 1) { id title } }")
        operation.extensions = ["a": 1]
        let body = try await received(operation).body
        #expect(
            String(decoding: body, as: UTF8.self) == #"{"query":"{ post(id: 1) { id title } }","extensions":{"a":1}}"#
        )
        let byPath = try await received(operation) { $0.documentStyle = .path }
        #expect(String(decoding: byPath.body, as: UTF8.self) == #"{"extensions":{"a":1}}"#)
    }

    @Test func emptyMembersAreOmitted() async throws {
        let request = try await received(.document("{ post(id: 1) { id title } }"))
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"query":"{ post(id: 1) { id title } }"}"#)
    }

    @Test func equalVariablesHaveEqualBytes() async throws {
        struct Many: Encodable { var values = Dictionary(uniqueKeysWithValues: (0..<20).map { ("k\($0)", $0) }) }
        let operation = GraphQLOperation<Many, Post>(
            input: Many(),
            operationString: "query($values: Values) { post(v: $values) { id } }"
        )
        let bodies = try (0..<20).map { _ in try operation.request().variables }
        #expect(Set(bodies).count == 1)
    }

    @Test func shortQueryIsSentInTheURL() async throws {
        let request = try await received(.post("a+b &=")) { $0.queryMethod = .get }
        #expect(request.method == "GET")
        #expect(request.body.isEmpty)
        #expect(request["Content-Type"] == nil)
        #expect(request["GraphQL-Require-Preflight"] == "true")
        #expect(
            request.target
                == "/graphql?tenant=a&query=query%20Post%28%24id%3A%20ID%21%29%20%7B%20post%28id%3A%20%24id%29%20%7B%20id"
                + "%20title%20%7D%20%7D&operationName=Post&variables=%7B%22id%22%3A%22a%2Bb%20%26%3D%22%7D"
        )
    }

    @Test func longQueryIsSentInABody() async throws {
        let request = try await received(.post(String(repeating: "x", count: 2000))) { $0.queryMethod = .get }
        #expect(request.method == "POST")
    }

    @Test func queryIsPostedIfTheServerRejectsTheURLAsTooLong() async throws {
        let answer = answer
        let server = try LoopbackServer { $0.method == "GET" ? .response(414, [:], "") : answer }
        var endpoint = GraphQLEndpoint(server.url)
        endpoint.queryMethod = .get
        #expect(try await client.perform(.post("1"), at: endpoint) == Post(id: "1", title: "First"))
        #expect(server.requests.map(\.method) == ["GET", "POST"])
    }

    @Test func mutationIsNeverSentInTheURL() async throws {
        let request = try await received(.document("mutation { post { id } }")) { $0.queryMethod = .get }
        #expect(request.method == "POST")
        #expect(request["GraphQL-Require-Preflight"] == nil)
    }

    @Test func mutationDeclaredAsAQueryIsNotSent() async throws {
        let server = try LoopbackServer(answer)
        let request = GraphQLRequest(query: "mutation { drop }", kind: .query)
        let error = await #expect(throws: NetworkError.self) {
            try await client.response(to: request, at: GraphQLEndpoint(server.url))
        }
        #expect(error?.kind == .badRequest)
        #expect(error?.mayHaveReachedServer == false)
        #expect(server.requests.isEmpty)
    }

    private static let nonObjectVariablesAreNotSentArguments: [(String, String)] = [
        ("[1]", "the variables are not a JSON object"), ("7", "the variables are not a JSON object"),
        ("null", "the variables are not a JSON object"),
        ("{bad", "the variables are not valid JSON: expected a string at byte 1"),
        ("{} {}", "the variables are not valid JSON: unexpected text after the value at byte 3"),
    ]

    @Test(arguments: Self.nonObjectVariablesAreNotSentArguments)
    func nonObjectVariablesAreNotSent(text: String, words: String) async throws {
        let server = try LoopbackServer(answer)
        let endpoint = GraphQLEndpoint(server.url)
        var request = GraphQLRequest(query: "query($id: ID) { post(id: $id) { id } }", variables: Data(text.utf8))
        var errors = [
            await #expect(throws: NetworkError.self) { try await client.response(to: request, at: endpoint) },
            #expect(throws: NetworkError.self) { _ = try client.results(of: request, at: endpoint) },
        ]
        request.query = "subscription { post { id } }"
        request.kind = .subscription
        errors.append(#expect(throws: NetworkError.self) { _ = try client.subscribe(to: request, at: endpoint) })
        #expect(errors.map { $0?.message } == [words, words, words])
        #expect(errors.allSatisfy { $0?.kind == .badRequest && $0?.mayHaveReachedServer == false })
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: ["", "{}", " {\"id\": 1} "]) func rawVariablesAreSentUnchanged(text: String) async throws {
        let server = try LoopbackServer(answer)
        let request = GraphQLRequest(query: "{ post { id } }", variables: Data(text.utf8))
        _ = try await client.response(to: request, at: GraphQLEndpoint(server.url))
        let body = try String(decoding: #require(server.requests.first).body, as: UTF8.self)
        #expect(body.contains("variables") == (text.count > 2))
        #expect(text.count <= 2 || body.contains(text))
    }

    @Test func documentStylesSendTheHash() async throws {
        let text = "query ($id: ID!) {\n  user(id: $id) {\n    name\n  }\n}"
        let hash = "7dba4bd717b41f10434822356a93c32b1fb4907b983e854300ad839f84cdcd6e"
        let operation = GraphQLOperation<IDInput, Post?>(input: IDInput(id: "1"), operationString: text)
        let server = try LoopbackServer(
            .response(200, ["Content-Type": "application/json"], #"{"data":{"user":null}}"#)
        )
        var endpoint = GraphQLEndpoint(server.url + "/graphql")
        for style: GraphQLEndpoint.DocumentStyle in [.documentID, .parameter("doc_id"), .path] {
            endpoint.documentStyle = style
            #expect(try await client.perform(operation, at: endpoint) == nil)
        }
        let bodies = server.requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(
            bodies == [
                #"{"documentId":"sha256:\#(hash)","variables":{"id":"1"}}"#,
                #"{"doc_id":"\#(hash)","variables":{"id":"1"}}"#, #"{"variables":{"id":"1"}}"#,
            ]
        )
        #expect(server.requests.map(\.target) == ["/graphql", "/graphql", "/graphql/\(hash)"])
    }

    @Test func documentIDIsSentInTheFormOfTheEndpoint() async throws {
        let server = try LoopbackServer(answer)
        var endpoint = GraphQLEndpoint(server.url)
        for style: GraphQLEndpoint.DocumentStyle in [.text, .automatic, .documentID, .parameter("id")] {
            endpoint.documentStyle = style
            _ = try await client.response(to: GraphQLRequest(documentID: "sha256:abc"), at: endpoint)
        }
        let bodies = server.requests.map { String(decoding: $0.body, as: UTF8.self) }
        let known = #"{"documentId":"sha256:abc"}"#
        #expect(bodies == [known, known, known, #"{"id":"abc"}"#])
        await #expect(throws: NetworkError.self) { try await client.response(to: GraphQLRequest(), at: endpoint) }
    }

    private static func refusal(_ message: String, _ code: String) -> String {
        #"{"errors":[{"message":"\#(message)","extensions":{"code":"\#(code)"}}]}"#
    }

    private static let unknownHash = refusal("PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND")
    private static let wrongHash = refusal("provided sha does not match query", "INTERNAL_SERVER_ERROR")

    /// Returns the error of an operation sent by its hash and the bodies that the server received.
    private func refused(
        _ status: Int,
        hash: String,
        text: String,
        inPieces: Bool
    ) async throws -> (error: NetworkError, bodies: [JSONValue]) {
        let server = try LoopbackServer { request in
            let isText = String(decoding: request.body, as: UTF8.self).contains(#""query":"#)
            return .response(status, ["Content-Type": "application/json"], isText ? text : hash)
        }
        var endpoint = GraphQLEndpoint(server.url)
        endpoint.documentStyle = .automatic
        let error = await #expect(throws: NetworkError.self) {
            guard inPieces else {
                _ = try await client.perform(.post("1"), at: endpoint)
                return
            }
            for try await _ in try client.results(of: .post("1"), at: endpoint) {}
        }
        return (try #require(error), try server.requests.map { try JSONValue(parsing: $0.body) })
    }

    @Test(arguments: [200, 400], [false, true])
    func unknownHashIsRegisteredOnlyOnce(status: Int, inPieces: Bool) async throws {
        let (error, bodies) = try await refused(
            status,
            hash: Self.unknownHash,
            text: Self.unknownHash,
            inPieces: inPieces
        )
        #expect(error.kind == (status == 200 ? .graphQL : .status))
        #expect(error.graphQLErrors.map(\.code) == ["PERSISTED_QUERY_NOT_FOUND"])
        #expect(error.data == Data(Self.unknownHash.utf8))
        #expect(bodies.map { $0["query"] != nil } == [false, true])
        #expect(bodies.first?["extensions"] == bodies.last?["extensions"])
    }

    @Test(arguments: [200, 400], [false, true])
    func textThatDoesNotMatchItsHashIsNotSentAgain(status: Int, inPieces: Bool) async throws {
        let (error, bodies) = try await refused(
            status,
            hash: Self.unknownHash,
            text: Self.wrongHash,
            inPieces: inPieces
        )
        #expect(error.kind == (status == 200 ? .graphQL : .status))
        #expect(error.graphQLErrors.map(\.message) == ["provided sha does not match query"])
        #expect(error.data == Data(Self.wrongHash.utf8))
        #expect(bodies.map { $0["query"] != nil } == [false, true])
    }

    @Test(arguments: [200, 400], [false, true])
    func hashRejectedForAnotherReasonIsNotRegistered(status: Int, inPieces: Bool) async throws {
        let (error, bodies) = try await refused(
            status,
            hash: Self.wrongHash,
            text: Self.unknownHash,
            inPieces: inPieces
        )
        #expect(error.graphQLErrors.map(\.message) == ["provided sha does not match query"])
        #expect(bodies.map { $0["query"] != nil } == [false])
    }

    @Test func encodedOperationEqualsTheSentBody() async throws {
        let operation = GraphQLOperation<NoInput, Post>.document("query A { post(id: 1) { id title } }")
        let body = try JSONValue(parsing: JSONEncoder().encode(operation))
        #expect(body == ["query": .string(operation.operationString), "operationName": "A"])
    }

    @Test func logNamesTheOperation() async throws {
        let server = try LoopbackServer(answer)
        let (dependencies, logger) = (BeagleDependencies(), MemoryLogger())
        dependencies.logger = logger
        let client = NetworkClientDefault(dependencies: dependencies)
        _ = try await client.perform(.post("1"), at: GraphQLEndpoint(server.url))
        #expect(logger.messages.contains { "\($0)".contains("query Post; ") }, "\(logger.messages)")
    }

    @Test func uploadProgressIsReported() async throws {
        struct Input: Encodable, Sendable { let file: GraphQLUpload }
        let server = try LoopbackServer(answer)
        let file = FormFile(Data(count: 1 << 20), filename: "a")
        let operation = GraphQLOperation<Input, Post>(
            input: Input(file: GraphQLUpload(file)),
            operationString: "mutation($file: Upload!) { post(file: $file) { id title } }"
        )
        let bytesSent = Lock<Int64>(0)
        let progress: @Sendable (TransferRequest.Progress) -> Void = { report in
            bytesSent.withLock { $0 = report.bytesSent }
        }
        _ = try await client.perform(operation, at: GraphQLEndpoint(server.url), onProgress: progress)
        #expect(bytesSent.withLock { $0 } > 1 << 20)
    }

    @Test func fieldsOfTheEndpointOverrideTheDefaults() async throws {
        let request = try await received(.post("1")) { $0.headers = ["accept": "application/json", "X-App": "7"] }
        #expect(request["Accept"] == "application/json")
        #expect(request["X-App"] == "7")
    }
}
