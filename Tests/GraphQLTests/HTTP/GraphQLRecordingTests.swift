import BeagleNetGraphQL
import BeagleNetReplay
import Foundation
import GraphQLPeers
import Testing

/// Operations with third-party servers that are recorded and then replayed from the recording alone.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
struct GraphQLRecordingTests {
    private let test = UUID().uuidString

    private func endpoint(_ path: String) async throws -> GraphQLEndpoint {
        GraphQLEndpoint(try await GraphQLServer.shared.url(path), headers: ["X-Test": test])
    }

    /// Runs operations with the server while recording, then with the recording, and checks that both give the same result.
    private func replayed<Answer: Equatable>(
        _ ask: (any NetworkClient) async throws -> Answer
    ) async throws -> (answer: Answer, entries: [LogEntry], replay: ReplayClient) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gql-\(UUID()).bglog").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let log = try RequestLog(directory: folder)
        let dependencies = BeagleDependencies()
        dependencies.interceptors.add(RecordInterceptor(log))
        let answer = try await ask(NetworkClientDefault(dependencies: dependencies))
        await log.close()
        let recording = try Recording(contentsOf: folder)
        let replay = ReplayClient(recording, dependencies: BeagleDependencies())
        let again = try await ask(replay)
        #expect(again == answer)
        try replay.assertAllUsed()
        let requests = try await GraphQLServer.shared.log(of: test)["requests"]?.array
        #expect(requests?.count == recording.entries.count, "the replay sent requests to the server")
        return (answer, recording.entries, replay)
    }

    @Test func queryIsReplayedByItsVariables() async throws {
        let endpoint = try await endpoint("/graphql")
        let (_, entries, replay) = try await replayed { try await $0.perform(.post("1"), at: endpoint) }
        #expect(entries.map(\.operationName) == ["Post"])
        #expect(entries.map(\.kind) == ["query"])
        await #expect(throws: NetworkError.self) { try await replay.perform(.post("2"), at: endpoint) }
    }

    @Test func queryInAURLIsReplayedByItsVariables() async throws {
        var endpoint = try await endpoint("/graphql")
        endpoint.queryMethod = .get
        let (_, entries, replay) = try await replayed { try await $0.perform(.post("1"), at: endpoint) }
        #expect(entries.map(\.request.method) == ["GET"])
        #expect(entries.map(\.operationName) == ["Post"])
        let error = await #expect(throws: NetworkError.self) { try await replay.perform(.post("2"), at: endpoint) }
        #expect(error?.kind == .notInRecording)
    }

    @Test func hashAndItsRegistrationAreReplayed() async throws {
        var endpoint = try await endpoint("/strict")
        endpoint.documentStyle = .automatic
        let operation = GraphQLOperation<IDInput, Post>(
            input: IDInput(id: "1"),
            operationString: "query Hashed($id: ID!) { post(id: $id) { id title } } # \(test)"
        )
        let (answer, entries, _) = try await replayed { try await $0.perform(operation, at: endpoint) }
        #expect(answer.title == "First")
        #expect(entries.map { $0.sent.contains("query Hashed") } == [false, true])
    }

    @Test func replayedMutationDoesNotRunAgain() async throws {
        let endpoint = try await endpoint("/graphql")
        let operation = GraphQLOperation<NoInput, Post>.document("mutation { createPost(title: \"x\") { id title } }")
        let (_, entries, _) = try await replayed { try await $0.perform(operation, at: endpoint) }
        #expect(entries.map(\.kind) == ["mutation"])
        let events = try await GraphQLServer.shared.log(of: test)["events"]?.array
        #expect(events?.map { $0["event"]?.string } == ["created"])
    }

    /// A batch is one message, which only replays for the same operations in the same order.
    @Test func batchIsRecordedAsOneMessage() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gql-\(UUID()).bglog").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let endpoint = try await endpoint("/graphql")
        let log = try RequestLog(directory: folder)
        let dependencies = BeagleDependencies()
        dependencies.interceptors.add(BatchInterceptor(window: .seconds(30), limit: 2))
        dependencies.interceptors.add(RecordInterceptor(log))
        let client = NetworkClientDefault(dependencies: dependencies)
        async let one = client.perform(.post("1"), at: endpoint)
        async let two = client.perform(.post("2"), at: endpoint)
        #expect(try await [one.id, two.id] == ["1", "2"])
        await log.close()
        let recording = try Recording(contentsOf: folder)
        #expect(recording.entries.map(\.kind) == ["query"])
        #expect(recording.entries.map(\.operationName) == [nil])
        let sent = try JSONValue(parsing: #require(recording.entries.first).sent).array
        #expect(Set(sent?.compactMap { $0["variables"]?["id"]?.string } ?? []) == ["1", "2"])
        let replay = ReplayClient(recording, dependencies: BeagleDependencies())
        let error = await #expect(throws: NetworkError.self) { try await replay.perform(.post("1"), at: endpoint) }
        #expect(error?.kind == .notInRecording)
    }

    private struct Attachment: Encodable, Sendable { let file: GraphQLUpload }
    private struct Sent: Decodable, Sendable, Equatable { let name: String; let size: Int; let sha256: String }

    private func upload(_ file: FormFile) -> GraphQLOperation<Attachment, Sent> {
        GraphQLOperation(
            input: Attachment(file: GraphQLUpload(file)),
            operationString: "mutation($file: Upload!) { upload(file: $file) { name size sha256 } }"
        )
    }

    @Test func uploadIsReplayedByItsFile() async throws {
        let endpoint = try await endpoint("/graphql")
        let file = FormFile(Data("hello".utf8), filename: "a.txt", contentType: "text/plain")
        let (answer, _, replay) = try await replayed { try await $0.perform(upload(file), at: endpoint) }
        #expect(answer.size == 5)
        let others = [
            FormFile(Data("hullo".utf8), filename: "a.txt", contentType: "text/plain"),
            FormFile(Data("hello".utf8), filename: "b.txt", contentType: "text/plain"),
        ]
        for other in others {
            let error = await #expect(throws: NetworkError.self) {
                try await replay.perform(upload(other), at: endpoint)
            }
            #expect(error?.kind == .notInRecording)
        }
    }

    @Test(arguments: ["/graphql", "/v2022?as=sse", "/v2022?as=jsonl", "/relay"])
    func incrementalResponseIsReplayedInTheSamePieces(path: String) async throws {
        let endpoint = try await endpoint(path)
        let request = GraphQLRequest(query: #"{ post(id: 1) { id ...@defer(label: "b") { slowBody } } }"#)
        let (answers, entries, _) = try await replayed { client -> [JSONValue] in
            var answers: [JSONValue] = []
            for try await update in try client.results(of: request, at: endpoint) { answers.append(update.json) }
            return answers
        }
        #expect(answers.count > 1)
        #expect(entries.count == 1)
        if path == "/graphql" {
            #expect(answers.last?["data"] == ["post": ["id": "1", "slowBody": "Hello, world"]])
        }
    }
}

extension LogEntry {
    /// The recorded request body as text.
    fileprivate var sent: String {
        if case .data(let data)? = request.body?.content { String(decoding: data, as: UTF8.self) } else { "" }
    }
}
