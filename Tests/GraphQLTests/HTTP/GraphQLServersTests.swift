import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import GraphQLPeers
import Testing

/// Operations with third-party servers.
@Suite(.leavesNothing, .timeLimit(.minutes(5)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
struct GraphQLServersTests {
    private let dependencies = BeagleDependencies()
    private var client: NetworkClientDefault { NetworkClientDefault(dependencies: dependencies) }

    private func endpoint(_ path: String, test: String = #function) async throws -> GraphQLEndpoint {
        GraphQLEndpoint(try await GraphQLServer.shared.url(path), headers: ["X-Test": test])
    }

    private func requests(_ test: String = #function) async throws -> [JSONValue] {
        let name = test.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return try await GraphQLServer.shared.log(of: name)["requests"]?.array ?? []
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"])
    func queriesSucceed(path: String) async throws {
        for method: GraphQLEndpoint.QueryMethod in [.post, .get] {
            var endpoint = try await endpoint(path)
            endpoint.queryMethod = method
            #expect(try await client.perform(.post("2"), at: endpoint).title == "Ünïcode 😀")
        }
    }

    @Test func mutationReturnsTheNewPost() async throws {
        struct Input: Encodable, Sendable { let title: String }
        let operation = GraphQLOperation<Input, Post>(
            input: Input(title: "New"),
            operationString: "mutation Create($title: String!) { createPost(title: $title) { id title } }"
        )
        #expect(try await client.perform(operation, at: endpoint("/graphql")).title == "New")
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"])
    func errorsOfEachClassAreReported(path: String) async throws {
        let endpoint = try await endpoint(path)
        for text in ["{ nope }", "{ post(id: 1) }", "query($id: ID!) { post(id: $id) { id } }"] {
            do throws(NetworkError) {
                _ = try await client.execute(.document(text, as: Post.self), at: endpoint)
                Issue.record("\(text) succeeded")
            } catch {
                #expect(error.kind == (path == "/ariadne" ? .status : .graphQL), "\(text): \(error)")
                #expect(!error.graphQLErrors.isEmpty)
            }
        }
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"])
    func partialDataIsKept(path: String) async throws {
        struct Both: Decodable, Sendable { let fail: String?; let post: Post }
        var operation = GraphQLOperation<NoInput, Both>.document("{ fail post(id: 1) { id title } }")
        operation.root = .wholeData
        let response = try await client.execute(operation, at: endpoint(path))
        #expect(response.data?.post.title == "First")
        #expect(response.data?.fail == nil)
        #expect(response.errors.map(\.code) == ["BOOM"])
        #expect(response.errors.first?.path == [.key("fail")])
        if path == "/strict" { #expect(response.response.status.code == 294) }
    }

    @Test func hashIsRegisteredOnlyOnce() async throws {
        var endpoint = try await endpoint("/strict")
        endpoint.documentStyle = .automatic
        endpoint.queryMethod = .get
        let text = "query Registered($id: ID!) { post(id: $id) { id title } } # \(UInt64.random(in: 0 ... .max))"
        for id in ["1", "2", "3"] {
            let operation = GraphQLOperation<IDInput, Post>(input: IDInput(id: id), operationString: text)
            #expect(try await client.perform(operation, at: endpoint).id == id)
        }
        let requests = try await requests()
        #expect(requests.map { $0["method"]?.string } == ["GET", "POST", "GET", "GET"])
        #expect(requests.filter { $0["body"]?.string?.contains("Registered") == true }.count == 1)
    }

    @Test func serverWithoutPersistedQueriesGetsTexts() async throws {
        var endpoint = try await endpoint("/apq-unsupported")
        endpoint.documentStyle = .automatic
        for _ in 0..<2 { #expect(try await client.perform(.post("1"), at: endpoint).id == "1") }
        let bodies = try await requests().map { $0["body"]?.string ?? "" }
        #expect(bodies.map { $0.contains("persistedQuery") } == [true, false, false])
    }

    @Test func registeringAMutationDoesNotRunItTwice() async throws {
        var endpoint = try await endpoint("/strict")
        endpoint.documentStyle = .automatic
        let text = "mutation { createPost(title: \"once\") { id title } } # \(UInt64.random(in: 0 ... .max))"
        let operation = GraphQLOperation<NoInput, Post>.document(text)
        for _ in 0..<2 { #expect(try await client.perform(operation, at: endpoint).title == "once") }
        let bodies = try await requests().map { $0["body"]?.string ?? "" }
        #expect(bodies.map { $0.contains("createPost") } == [false, true, false])
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"])
    func fileIsSentWithItsVariables(path: String) async throws {
        struct Sent: Decodable, Sendable, Equatable { let name: String; let size: Int }
        struct Input: Encodable, Sendable { let file: GraphQLUpload }
        let file = FormFile(Data("hello".utf8), filename: "a.txt", contentType: "text/plain")
        let operation = GraphQLOperation<Input, Sent>(
            input: Input(file: GraphQLUpload(file)),
            operationString: "mutation($file: Upload!) { upload(file: $file) { name size } }"
        )
        #expect(try await client.perform(operation, at: endpoint(path)) == Sent(name: "a.txt", size: 5))
    }

    @Test func filesAreFoundAtAnyDepthAndSentOnce() async throws {
        struct Sent: Decodable, Sendable { let name: String }
        struct Input: Encodable, Sendable { let files: [GraphQLUpload] }
        let (one, two) = (
            FormFile(Data("1".utf8), filename: "one", contentType: "text/plain"),
            FormFile(Data("2".utf8), filename: "two", contentType: "text/plain")
        )
        let operation = GraphQLOperation<Input, [Sent]>(
            input: Input(files: [one, two, one].map(GraphQLUpload.init)),
            operationString: "mutation($files: [Upload!]!) { uploads(files: $files) { name } }"
        )
        let request = try operation.request()
        #expect(request.files.map(\.paths) == [["variables.files.0", "variables.files.2"], ["variables.files.1"]])
        #expect(request.variables == Data(#"{"files":[null,null,null]}"#.utf8))
        #expect(try await client.perform(operation, at: endpoint("/graphql")).map(\.name) == ["one", "two", "one"])
    }

    @Test(arguments: ["/graphql", "/strict"])
    func filesOnDiskAndInMemoryAreFoundInAListOfObjects(path: String) async throws {
        struct Document: Encodable, Sendable { let title: String; let file: GraphQLUpload }
        struct Folder: Encodable, Sendable { let docs: [Document]; let name = "F" }
        struct Input: Encodable, Sendable { let input: Folder }
        struct Sent: Decodable, Sendable, Equatable { let name: String; let sha256: String; let type: String }
        let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        let disk = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).bin")
        defer { try? FileManager.default.removeItem(at: disk) }
        try bytes.write(to: disk)
        let (big, small) = (
            FormFile(path: disk.path, filename: "big.bin", contentType: "image/png"),
            FormFile(Data("hello".utf8), filename: "small.txt", contentType: "text/plain")
        )
        let docs = [big, small, big].map { Document(title: $0.filename, file: GraphQLUpload($0)) }
        let operation = GraphQLOperation<Input, [Sent]>(
            input: Input(input: Folder(docs: docs)),
            operationString: "mutation($input: Folder!) { uploadFolder(input: $input) { name sha256 type } }"
        )
        let paths = (0..<3).map { "variables.input.docs.\($0).file" }
        #expect(try operation.request().files.map(\.paths) == [[paths[0], paths[2]], [paths[1]]])
        let test = UUID().uuidString
        let sent = try await client.perform(operation, at: endpoint(path, test: test))
        let (ofDisk, ofMemory) = (
            Sent(name: "big.bin", sha256: try SHA256Digest.hex(of: bytes), type: "image/png"),
            Sent(name: "small.txt", sha256: try SHA256Digest.hex(of: Data("hello".utf8)), type: "text/plain")
        )
        #expect(sent == [ofDisk, ofMemory, ofDisk])
        let bodies = try await requests(test).map { $0["body"]?.string ?? "" }
        #expect(bodies.map { $0.components(separatedBy: "filename=").count } == [3])
    }

    @Test func hashOfAnotherTextIsRejected() async throws {
        var request = GraphQLRequest(query: "{ post(id: 1) { id } }")
        request.extensions["persistedQuery"] = ["version": 1, "sha256Hash": .string(String(repeating: "0", count: 64))]
        let response = try await client.response(to: request, at: endpoint("/strict"))
        #expect(response.status == .badRequest)
        let errors = try response.json()["errors"]?.array?.map(GraphQLError.init)
        #expect(errors?.map(\.message) == ["provided sha does not match query"])
        #expect(try await requests().count == 1)
    }

    @Test func missingFileThrowsBeforeAnythingIsSent() async throws {
        struct Input: Encodable, Sendable { let file: GraphQLUpload }
        let operation = GraphQLOperation<Input, String>(
            input: Input(file: GraphQLUpload(FormFile(path: "/nonexistent/file"))),
            operationString: "mutation($file: Upload!) { upload(file: $file) { name } }"
        )
        let endpoint = try await endpoint("/graphql")
        let error = await #expect(throws: NetworkError.self) { try await client.perform(operation, at: endpoint) }
        #expect(error?.mayHaveReachedServer == false)
        #expect(try await requests().isEmpty)
    }

    @Test func encodingAFileOutsideAnOperationThrows() {
        let upload = GraphQLUpload(FormFile(Data(), filename: "a"))
        #expect(throws: EncodingError.self) { try JSONEncoder().encode([upload]) }
    }

    @Test func identicalQueriesShareOneRequest() async throws {
        let endpoint = try await endpoint("/graphql")
        let client = client
        let operation = GraphQLOperation<NoInput, String>.document("{ slow(ms: 150) }")
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { try await client.perform(operation, at: endpoint) } }
            for try await _ in group {}
        }
        #expect(try await requests().count == 1)
    }

    @Test func mutationsAreNeverShared() async throws {
        let endpoint = try await endpoint("/graphql")
        let client = client
        let operation = GraphQLOperation<NoInput, Post>.document("mutation { createPost(title: \"x\") { id title } }")
        try await withThrowingTaskGroup(of: Post.self) { group in
            for _ in 0..<4 { group.addTask { try await client.perform(operation, at: endpoint) } }
            for try await _ in group {}
        }
        #expect(try await requests().count == 4)
    }

    @Test func credentialsAreRenewedForOperations() async throws {
        let answer = #"{"data":{"post":{"id":"1","title":"T"}}}"#
        let server = try LoopbackServer { request in
            request["Authorization"] == "Bearer token1"
                ? .response(401, [:], "") : .response(200, ["Content-Type": "application/json"], answer)
        }
        let rules = AuthInterceptor<String>.Rules(
            load: { "token1" },
            renew: { _ in "token2" },
            attach: { token, message in message.headerFields[.authorization] = "Bearer \(token)" }
        )
        let url = try #require(URL(string: server.url))
        let origin = try #require(Origin(url))
        dependencies.interceptors.add(AuthInterceptor(rules, origins: [origin]))
        #expect(try await client.perform(.post("1"), at: GraphQLEndpoint(server.url)).title == "T")
        #expect(server.requests.map { $0["Authorization"] } == ["Bearer token1", "Bearer token2"])
    }
}
