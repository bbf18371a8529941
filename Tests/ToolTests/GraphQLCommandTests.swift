import BeagleNetHTTP
import BeagleNetReplay
import BeagleNetTesting
import Foundation
import Testing

struct GraphQLCommandTests {
    private let query = "query Post($id: ID!, $n: Int) { post(id: $id, n: $n) { id } }"
    private let post = #"{"data":{"post":{"id":"1"}}}"#

    private func server(_ body: String, status: Int = 200) throws -> LoopbackServer {
        try LoopbackServer(.response(status, ["Content-Type": "application/json"], body))
    }

    private func body(_ server: LoopbackServer) throws -> JSONValue {
        try JSONValue(parsing: try #require(server.requests.first).body)
    }

    @Test func dataIsPrintedAndVariablesAreTyped() async throws {
        let server = try server(post)
        let run = try await beagle("graphql", server.url, "-q", query, "-v", "id=1", "-v", "n=2")
        #expect(run.exit == 0, "\(run.errors)")
        #expect(run.errors.isEmpty)
        #expect(try JSONValue(parsing: run.output) == ["post": ["id": "1"]])
        #expect(try body(server)["variables"] == ["id": "1", "n": 2])
        #expect(try body(server)["operationName"] == "Post")
    }

    @Test(arguments: ["application/json", "application/json;charset=UTF-8", "*/*"])
    func repeatedContentTypeIsAccepted(_ second: String) async throws {
        let fields = "Content-Type: application/json\r\nContent-Type: \(second)\r\nContent-Length: \(post.utf8.count)"
        let server = try LoopbackServer(.raw("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n\(post)"))
        let run = try await beagle("graphql", server.url, "-q", query)
        #expect(run.exit == 0, "\(run.errors)")
    }

    @Test func variablesKeepAllDigitsOfNumbers() async throws {
        let server = try server(post)
        let big = "123456789012345678901234567890.10"
        let run = try await beagle(
            "graphql",
            server.url,
            "-q",
            "query($a: Big, $b: [Big], $c: In) { post(a: $a, b: $b, c: $c) { id } }",
            "-v",
            "a=\(big)",
            "-v",
            "b=[1.0, 1e400]",
            "--variables",
            #"{"c": {"z": \#(big), "a": 18446744073709551616}}"#
        )
        #expect(run.exit == 0, "\(run.errors)")
        let sent = String(decoding: try #require(server.requests.first).body, as: UTF8.self)
        #expect(
            sent.contains(
                #""variables":{"a":\#(big),"b":[1.0,1e400],"c":{"a":18446744073709551616,"z":\#(big)}}"#
            ),
            "\(sent)"
        )
    }

    @Test(arguments: ["", "x"])
    func responseNumbersKeepAllDigits(error: String) async throws {
        let data = #"{"z":18446744073709551615,"a":[0.12345678901234567890,{"n":1.0}]}"#
        let errors = error.isEmpty ? "[]" : #"[{"message":"\#(error)"}]"#
        let server = try server(#"{"data":\#(data),"errors":\#(errors)}"#)
        let run = try await beagle("graphql", server.url, "-q", "{ z a }", "--json")
        #expect(run.exit == (error.isEmpty ? 0 : 102))
        #expect(run.text.contains(#""data":{"a":[0.12345678901234567890,{"n":1.0}],"z":18446744073709551615}"#))
        #expect(try run.json()["ok"] == .bool(error.isEmpty))
    }

    @Test func jsonPrintsOneObject() async throws {
        let server = try server(#"{"data":{"post":null},"extensions":{"cost":1}}"#)
        let run = try await beagle("graphql", server.url, "-q", query, "--variables", #"{"id":"7"}"#, "--json")
        #expect(run.exit == 0)
        #expect(try run.json()["result"] == ["data": ["post": nil], "extensions": ["cost": 1]])
        #expect(try body(server)["variables"] == ["id": "7"])
    }

    @Test(arguments: [200, 400]) func graphQLErrorsAreReportedWithExitCode102(status: Int) async throws {
        let answer =
            #"{"data":{"a":1},"errors":[{"message":"no such post","path":["b"],"extensions":{"code":"GONE"}}]}"#
        let type = "application/graphql-response+json"
        let server = try LoopbackServer(.response(status, ["Content-Type": type], answer))
        let run = try await beagle("graphql", server.url, "-q", "{ a b }")
        #expect(run.exit == 102)
        #expect(run.errors.contains("no such post at b [GONE]"))
        #expect(try JSONValue(parsing: run.output) == ["a": 1])
        let json = try await beagle("graphql", server.url, "-q", "{ a b }", "--json").json()
        #expect(json["exit"] == 102)
        #expect(json["error"]?["code"] == "graphql")
        #expect(json["error"]?["errors"]?[0]?["message"] == "no such post")
        #expect(json["error"]?["data"] == ["a": 1])
    }

    @Test func errorStatusIsReportedUnlessTheBodyIsAGraphQLResponse() async throws {
        let refusing = try server("[]", status: 400)
        #expect(try await beagle("graphql", refusing.url, "-q", "{ a }").exit == 22)
        let telling = try server(#"{"errors":[{"message":"no such field"}]}"#, status: 400)
        let run = try await beagle("graphql", telling.url, "-q", "{ a }", "--json")
        #expect(run.exit == 102)
        #expect(try run.json()["error"]?["errors"]?[0]?["message"] == "no such field")
        let type = "application/graphql-response+json"
        let odd = try LoopbackServer(.response(500, ["Content-Type": type], #"{"data":{"a":1}}"#))
        let answered = try await beagle("graphql", odd.url, "-q", "{ a }")
        #expect(answered.exit == 0)
        #expect(try JSONValue(parsing: answered.output) == ["a": 1])
    }

    @Test func queryTooLongForTheURLIsPosted() async throws {
        let post = post
        let server = try LoopbackServer { request in
            request.method == "GET"
                ? .response(414, [:], "") : .response(200, ["Content-Type": "application/json"], post)
        }
        #expect(try await beagle("graphql", server.url, "-q", "{ post { id } }", "--get").exit == 0)
        #expect(server.requests.map(\.method) == ["GET", "POST"])
    }

    @Test(arguments: [200, 400]) func documentIsSentOnlyIfItsHashIsUnknown(status: Int) async throws {
        let post = post
        let server = try LoopbackServer { request in
            let isKnown = request.method == "POST"
            let miss = #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#
            return .response(isKnown ? 200 : status, ["Content-Type": "application/json"], isKnown ? post : miss)
        }
        let run = try await beagle(
            "graphql",
            server.url,
            "-q",
            query,
            "-v",
            "id=1",
            "--persisted",
            "--get",
            "-H",
            "X-A: 1"
        )
        #expect(run.exit == 0, "\(run.errors)")
        #expect(server.requests.map(\.method) == ["GET", "POST"])
        #expect(server.requests.map { $0["X-A"] } == ["1", "1"])
        #expect(server.requests.first?.target.contains("persistedQuery") == true)
        #expect(server.requests.first?.target.contains("query=") == false)
    }

    /// Some proxies repeat the field.
    @Test(arguments: ["text/plain", "text/plain, text/plain"])
    func textOfARejectedHashIsShownRedacted(_ type: String) async throws {
        let text = "No GraphQL query found, token=abc123 \u{1B}[31m\nmore"
        let server = try LoopbackServer(.response(400, ["Content-Type": type], text))
        let run = try await beagle("graphql", server.url, "-q", query, "-v", "id=1", "--persisted")
        #expect(run.exit == 22)
        #expect(run.errors.contains("400 Bad Request: No GraphQL query found, token="), "\(run.errors)")
        #expect(!run.errors.contains("abc123") && !run.errors.contains("\u{1B}[31m"))
    }

    @Test func demoBackendExecutesOperations() async throws {
        try await withBackend { url in
            let document = """
                query Q($id: ID!) { hero { ...N friends { name } } p: post(id: $id) { title } hello(name: "\\u0041") }
                fragment N on Character { name __typename }
                """
            let expected: JSONValue = [
                "hero": [
                    "name": "Ada", "__typename": "Character", "friends": [["name": "Grace"], ["name": "Barbara"]],
                ],
                "p": ["title": "Second"], "hello": "Hello, A!",
            ]
            for flags in [[], ["--get"], ["--persisted"], ["--persisted", "--get"]] {
                let arguments = ["graphql", "\(url)/graphql", "-q", document, "-v", "id=2"] + flags
                let run = try await beagle(arguments)
                #expect(run.exit == 0, "\(run.errors)")
                #expect(try JSONValue(parsing: run.output) == expected)
            }
            let change = "mutation { createPost(title: \"x\") { id title @skip(if: true) } }"
            #expect(try await beagle("graphql", "\(url)/graphql", "-q", change).text.contains(#""id": "4""#))
            for (wrong, text) in [
                ("{ nope }", "nope"), ("{ fail }", "always fails"), ("query($a: ID!) { post(id: $a) { id } }", "$a"),
            ] {
                let run = try await beagle("graphql", "\(url)/graphql", "-q", wrong)
                #expect(run.exit == 102 && run.errors.contains(text), "\(run.errors)")
            }
        }
    }

    @Test(arguments: [true, false])
    func tooLongHashURLIsPostedBeforeTheDocumentOnce(isTextKnown: Bool) async throws {
        let post = post
        let server = try LoopbackServer { request in
            if request.method == "GET" { return .response(414, [:], "") }
            let isWhole = String(decoding: request.body, as: UTF8.self).contains("query Post")
            let miss = #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#
            return .response(200, ["Content-Type": "application/json"], isWhole && isTextKnown ? post : miss)
        }
        try await withDirectory { directory in
            let path = "\(directory)/a.bglog"
            let flags = ["--persisted", "--get", "-H", "X-A: 1", "--record", path]
            let run = try await beagle(["graphql", server.url, "-q", query, "-v", "id=1"] + flags)
            #expect(run.exit == (isTextKnown ? 0 : 102), "\(run.errors)")
            #expect(server.requests.map(\.method) == ["GET", "POST", "POST"])
            #expect(server.requests.map { $0["X-A"] } == ["1", "1", "1"])
            let bodies = server.requests.dropFirst().map { String(decoding: $0.body, as: UTF8.self) }
            #expect(bodies.map { $0.contains("query Post") } == [false, true])
            #expect(bodies.allSatisfy { $0.contains("persistedQuery") })
            let entries = Array(try RequestLog.Reader(directory: path).entries())
            #expect(entries.map(\.kind) == ["query", "query", "query"])
            #expect(entries.map(\.operationName) == ["Post", "Post", "Post"])
        }
    }

    @Test(arguments: ["query", "mutation"]) func operationNameIsPrintedAndRecorded(kind: String) async throws {
        let server = try server(post)
        try await withDirectory { directory in
            let path = "\(directory)/a.bglog"
            let document = "\(kind) Post { post { id } }"
            let run = try await beagle("graphql", server.url, "-q", document, "--record", path, "--verbose")
            #expect(run.exit == 0, "\(run.errors)")
            #expect(run.errors.split(separator: "\n").contains("* \(kind) Post"), "\(run.errors)")
            let entries = Array(try RequestLog.Reader(directory: path).entries())
            #expect(entries.map(\.kind) == [kind])
            #expect(entries.map(\.operationName) == ["Post"])
        }
    }

    @Test(arguments: [("query", 2), ("mutation", 1)])
    func onlyQueriesAreRetried(kind: String, count: Int) async throws {
        let server = try server("[]", status: 503)
        let run = try await beagle("graphql", server.url, "-q", "\(kind) { a }", "--retry", "1")
        #expect(run.exit == 22, "\(run.errors)")
        #expect(server.requests.count == count)
    }

    @Test func fileIsSentWithItsVariable() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (document, file) = (folder.appending(path: "u.graphql"), folder.appending(path: "a.txt"))
        try Data("mutation($in: In!) { up(in: $in) }".utf8).write(to: document)
        try Data("hello".utf8).write(to: file)
        let server = try server(#"{"data":{"up":true}}"#)
        let run = try await beagle(
            "graphql",
            server.url,
            "-q",
            "@\(document.path)",
            "--upload",
            "in.files.0=@\(file.path)"
        )
        #expect(run.exit == 0, "\(run.errors)")
        let request = try #require(server.requests.first)
        let text = String(decoding: request.body, as: UTF8.self)
        #expect(text.contains(#""variables":{"in":{"files":[null]}}"#))
        #expect(text.contains(#"{"0":["variables.in.files.0"]}"#))
        #expect(text.contains("hello"))
        #expect(request["GraphQL-Require-Preflight"] == "true")
    }

    @Test(arguments: [[], ["--persisted"]], ["@-", "@/dev/stdin"])
    func documentIsReadFromStandardInput(flags: [String], place: String) async throws {
        let post = post
        let server = try LoopbackServer { request in
            let isWhole = String(decoding: request.body, as: UTF8.self).contains("query Post")
            let miss = #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#
            return .response(200, ["Content-Type": "application/json"], isWhole ? post : miss)
        }
        let arguments = ["graphql", server.url, "-q", place, "-v", "id=1"] + flags
        let run = try await BeagleProcess(arguments, input: query).outcome()
        #expect(run.exit == 0, "\(run.errors)")
        #expect(server.requests.count == 1 + flags.count)
    }

    @Test func operationIsSelectedByName() async throws {
        let server = try server(#"{"data":{"a":1}}"#)
        let two = "query A { a } query B { b }"
        #expect(try await beagle("graphql", server.url, "-q", two).exit == 43)
        #expect(try await beagle("graphql", server.url, "-q", two, "--operation", "A").exit == 0)
        #expect(try body(server)["operationName"] == "A")
    }

    private static let mistakesAreReportedArguments: [([String], Int32, String)] = [
        (["-q", "{ a "], 43, "line 1, column 5"), (["-q", "mutation { a }", "--get"], 43, "URL"),
        (["-q", "subscription { a }"], 4, "subscription"), (["-q", "{ a }", "-v", "=1"], 64, "no name"),
        (["-q", "{ a }", "--upload", "a=b"], 64, "--upload"),
        (["-q", "{ a }", "-v", "a=5", "--upload", "a.b=@/bin/sh"], 43, "cannot attach a file at variables.a.b"),
        (["-q", "@/nowhere"], 26, "cannot read"),
        (["-q", "{ a }", "--variables", "[1]"], 64, "object"),
        (["-q", "{ a }", "--variables", "{bad"], 64, "is not JSON"),
        (["-q", "{ a }", "--variables", "@/nowhere"], 26, "cannot read"), ([], 64, "query"),
    ]

    @Test(arguments: Self.mistakesAreReportedArguments)
    func mistakesAreReported(flags: [String], exit: Int32, words: String) async throws {
        let run = try await beagle(["graphql", "http://127.0.0.1:1/"] + flags)
        #expect(run.exit == exit, "\(run.errors)")
        #expect(run.errors.contains(words), "\(run.errors)")
    }

    @Test func operationIsRecordedAndReplayed() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).bglog").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = try server(post)
        let arguments = ["graphql", server.url, "-q", query, "-v", "id=1"]
        let recorded = try await beagle(arguments + ["--record", folder])
        let replayed = try await beagle(arguments + ["--replay", folder])
        #expect(replayed.exit == 0, "\(replayed.errors)")
        #expect(replayed.output == recorded.output)
        #expect(server.requests.count == 1)
    }
}
