import BeagleNet
import BeagleNetCombine
import BeagleNetHTTP
import Foundation
import GraphQLPeers
import Testing

/// The Relay network with third-party servers.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
struct RelayServersTests {
    private static let post = RequestParameters(
        name: "Post",
        operationKind: .query,
        text: "query Post($id: ID!) { post(id: $id) { id title } }"
    )

    private func network(_ path: String, _ headers: [String: String] = [:]) async throws -> RelayNetwork {
        let endpoint = GraphQLEndpoint(try await GraphQLServer.shared.url(path), headers: headers)
        return RelayNetwork(client: BeagleDependencies().networkClient, at: endpoint)
    }

    /// Returns all published responses.
    private func answers(
        of network: RelayNetwork,
        to request: RequestParameters,
        _ variables: VariableData,
        _ uploadables: [String: FormFile] = [:]
    ) async throws -> [JSONValue] {
        let publisher = network.execute(
            request: request,
            variables: variables,
            cacheConfig: CacheConfig(),
            uploadables: uploadables
        )
        return try await publisher.texts().map { try JSONValue(parsing: $0) }
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"]) func queryReturnsData(path: String) async throws {
        let answers = try await answers(of: network(path), to: Self.post, ["id": "2"])
        #expect(answers == [["data": ["post": ["id": "2", "title": "Ünïcode 😀"]]]])
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"])
    func invalidDocumentPublishesErrors(path: String) async throws {
        let request = RequestParameters(name: "Nope", operationKind: .query, text: "query Nope { nope }")
        let answers = try await answers(of: network(path), to: request, [:])
        #expect(answers.map { $0["data"] != nil } == [false])
        #expect(answers.first?["errors"]?[0]?["message"]?.string?.contains("'nope'") == true)
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"]) func mutationRunsOnce(path: String) async throws {
        let test = UUID().uuidString
        let request = RequestParameters(
            name: "Create",
            operationKind: .mutation,
            text: "mutation Create($title: String!) { createPost(title: $title) { title } }"
        )
        let answers = try await answers(of: network(path, ["X-Test": test]), to: request, ["title": "New"])
        #expect(answers == [["data": ["createPost": ["title": "New"]]]])
        #expect(try await GraphQLServer.shared.log(of: test)["requests"]?.array?.count == 1)
    }

    @Test(arguments: ["/graphql", "/strict"]) func filesOnDiskAndInMemoryAreUploaded(path: String) async throws {
        let disk = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).txt")
        defer { try? FileManager.default.removeItem(at: disk) }
        try Data("of the disk".utf8).write(to: disk)
        let request = RequestParameters(
            name: "Upload",
            operationKind: .mutation,
            text: "mutation Upload($input: Folder!) { uploadFolder(input: $input) { name size sha256 } }"
        )
        let docs = [["title": "a"], ["title": "b"]]
        let answers = try await answers(
            of: network(path),
            to: request,
            ["input": ["name": "F", "docs": docs] as VariableData],
            [
                "input.docs.0.file": FormFile(path: disk.path, filename: "a.txt"),
                "input.docs.1.file": FormFile(Data("of memory".utf8), filename: "b.txt"),
            ]
        )
        let files = try ["of the disk", "of memory"].map { try SHA256Digest.hex(of: Data($0.utf8)) }
        let expected: JSONValue = [
            ["name": "a.txt", "size": 11, "sha256": .string(files[0])],
            ["name": "b.txt", "size": 9, "sha256": .string(files[1])],
        ]
        #expect(answers == [["data": ["uploadFolder": expected]]])
    }

    // MARK: - Incremental responses

    private static let deferred = RequestParameters(
        name: "Deferred",
        operationKind: .query,
        text: #"query Deferred($id: ID!) { post(id: $id) { id ...@defer(label: "Deferred$body") { slowBody } } }"#
    )

    private static let multipart = "multipart/mixed;incrementalSpec=v0.2, application/json;q=0.9"

    @Test(arguments: [multipart, GraphQLEndpoint.incrementalAccept])
    func mergedPiecesEqualTheWholeResponse(accept: String) async throws {
        let network = try await network("/graphql", ["Accept": accept])
        let answers = try await answers(of: network, to: Self.deferred, ["id": "1"])
        #expect(answers.last == ["data": ["post": ["id": "1", "slowBody": "Hello, world"]]])
        #expect(answers.allSatisfy { $0["data"]?["post"]?["id"] == "1" })
    }

    @Test(arguments: [multipart, GraphQLEndpoint.incrementalAccept])
    func patchesArePublishedSeparately(accept: String) async throws {
        var network = try await network("/graphql", ["Accept": accept])
        network.incrementalDelivery = .patches
        let answers = try await answers(of: network, to: Self.deferred, ["id": "1"])
        let expected: [JSONValue] = [
            ["data": ["post": ["id": "1"]], "extensions": ["is_final": false]],
            [
                "data": ["id": "1", "slowBody": "Hello, world"], "path": ["post"], "label": "Deferred$body",
                "extensions": ["is_final": true],
            ],
        ]
        #expect(answers == expected)
    }
}
