import BeagleNetHTTP
import Foundation
import GraphQLPeers
import Testing

/// `beagle graphql` with servers of other projects.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
struct GraphQLServersTests {
    private let test = UUID().uuidString

    private func run(_ path: String, _ arguments: String...) async throws -> BeagleProcess.Outcome {
        let url = try await GraphQLServer.shared.url(path).absoluteString
        return try await beagle(["graphql", url, "-H", "X-Test: \(test)"] + arguments)
    }

    /// The bodies that the server received.
    private func bodies() async throws -> [String] {
        let requests = try await GraphQLServer.shared.log(of: test)["requests"]?.array ?? []
        return requests.map { $0["body"]?.string ?? "" }
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"]) func queryReturnsItsResult(path: String) async throws {
        let query = "query Post($id: ID!) { post(id: $id) { id title } }"
        for flags in [[], ["--get"]] {
            let url = try await GraphQLServer.shared.url(path).absoluteString
            let run = try await beagle(["graphql", url, "-q", query, "-v", "id=2"] + flags)
            #expect(run.exit == 0, "\(run.errors)")
            #expect(try JSONValue(parsing: run.output) == ["post": ["id": "2", "title": "Ünïcode 😀"]])
        }
    }

    @Test func mutationIsExecutedOnce() async throws {
        let mutation = "mutation($title: String!) { createPost(title: $title) { title } }"
        let run = try await run("/graphql", "-q", mutation, "-v", "title=7", "--json")
        #expect(run.exit == 0, "\(run.errors)")
        #expect(try run.json()["result"] == ["data": ["createPost": ["title": "7"]]])
        let events = try await GraphQLServer.shared.log(of: test)["events"]?.array
        #expect(events?.map { $0["event"]?.string } == ["created"])
    }

    @Test(arguments: [[], ["--persisted"]]) func fileIsSentOnce(flags: [String]) async throws {
        try await withDirectory { directory in
            let file = directory + "/sea.txt"
            try Data("hello".utf8).write(to: URL(fileURLWithPath: file))
            let url = try await GraphQLServer.shared.url("/strict").absoluteString
            let mutation = "mutation($file: Upload!) { upload(file: $file) { name size } }"
            let arguments = ["-H", "X-Test: \(test)", "-q", mutation, "--upload", "file=@\(file)"]
            let run = try await beagle(["graphql", url] + arguments + flags)
            #expect(run.exit == 0, "\(run.errors)")
            #expect(try JSONValue(parsing: run.output) == ["upload": ["name": "sea.txt", "size": 5]])
            #expect(try await bodies().count == 1)
        }
    }

    @Test func hashIsSentFirstAndKnownTheNextTime() async throws {
        let query = "{ post(id: 1) { title } } # \(test)"
        for _ in 0..<2 {
            let run = try await run("/strict", "-q", query, "--persisted")
            #expect(run.exit == 0, "\(run.errors)")
            #expect(try JSONValue(parsing: run.output) == ["post": ["title": "First"]])
        }
        #expect(try await bodies().map { $0.contains(test) } == [false, true, false])
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"]) func errorsExitWith102(path: String) async throws {
        let run = try await run(path, "-q", "{ nope }")
        #expect(run.exit == 102)
        #expect(run.errors.contains("'nope'"), "\(run.errors)")
        #expect(run.output.isEmpty)
    }

    @Test func dataIsPrintedInSpiteOfErrors() async throws {
        let run = try await run("/graphql", "-q", "{ fail post(id: 1) { title } }")
        #expect(run.exit == 102)
        #expect(run.errors.contains("at fail [BOOM]"), "\(run.errors)")
        #expect(try JSONValue(parsing: run.output) == ["fail": nil, "post": ["title": "First"]])
    }
}
