import BeagleNetGraphQL
import Foundation
import Testing

/// Statuses, media types and bodies of responses (GraphQL over HTTP, 7).
struct ParsedGraphQLResponseTests {
    private static let ours = "application/graphql-response+json"
    private static let json = "application/json; charset=utf-8"
    private static let data = #"{"data":{"post":{"id":"1","title":"First"}}}"#
    private static let refused = #"{"errors":[{"message":"no such field","extensions":{"code":"NOPE"}}]}"#

    private func execute<Output: Decodable & Sendable>(
        _ body: String,
        as type: Output.Type = Post.self,
        _ document: String = "query Post($id: ID!) { post(id: $id) { id title } }",
        status: Int = 200,
        type contentType: String? = ParsedGraphQLResponseTests.ours,
        _ change: (inout GraphQLEndpoint) -> Void = { _ in }
    ) async throws(NetworkError) -> GraphQLResponse<Output> {
        let client = StubClient { _ in
            var response = HTTPResponse(status: .init(code: status))
            response.headerFields[.contentType] = contentType
            return NetworkResponse(data: Data(body.utf8), response: response)
        }
        var endpoint = GraphQLEndpoint("http://localhost/graphql")
        change(&endpoint)
        return try await client.execute(.document(document), at: endpoint)
    }

    private func failure(
        _ body: String,
        status: Int = 200,
        type: String? = ParsedGraphQLResponseTests.ours,
        _ change: (inout GraphQLEndpoint) -> Void = { _ in }
    ) async -> NetworkError? {
        do throws(NetworkError) {
            _ = try await execute(body, status: status, type: type, change)
            return nil
        } catch {
            return error
        }
    }

    private static let dataIsDecodedIfTheResponseIsGraphQLArguments: [(Int, String?)] = [
        (200, ours), (294, ours), (400, ours), (500, ours), (200, json), (201, json), (200, "application/problem+json"),
        (200, nil),
    ]

    @Test(arguments: Self.dataIsDecodedIfTheResponseIsGraphQLArguments)
    func dataIsDecodedIfTheResponseIsGraphQL(status: Int, type: String?) async throws {
        let response = try await execute(Self.data, status: status, type: type)
        #expect(response.data == Post(id: "1", title: "First"))
        #expect(response.response.status.code == status)
    }

    @Test func errorMessageShowsTheFirstErrorOnOneLineWithoutSecrets() async throws {
        let body = #"{"errors":[{"message":"no\nway, password=hunter2"},{"message":"second"}]}"#
        let error = try #require(await failure(body))
        #expect(error.message.hasPrefix("the server returned an error, and 1 more: no way, password="))
        #expect(!error.description.contains("hunter2") && !error.message.contains("second"))
        #expect(error.advice == "see all errors in graphQLErrors")
    }

    private static let errorsWithoutDataAreAGraphQLErrorArguments: [(Int, String)] = [
        (200, ours), (400, ours), (422, ours), (200, json),
    ]

    @Test(arguments: Self.errorsWithoutDataAreAGraphQLErrorArguments)
    func errorsWithoutDataAreAGraphQLError(status: Int, type: String) async throws {
        let error = try #require(await failure(Self.refused, status: status, type: type))
        #expect(error.kind == .graphQL)
        #expect(error.graphQLErrors.map(\.description) == ["no such field [NOPE]"])
        #expect(error.message == "the server returned an error NOPE: no such field")
        #expect(error.advice == nil)
        #expect(error.response?.status.code == status)
        #expect(error.data == Data(Self.refused.utf8))
    }

    @Test func statusErrorKeepsTheErrorsOfItsBody() async throws {
        let error = try #require(await failure(Self.refused, status: 400, type: Self.json))
        #expect(error.kind == .status)
        #expect(error.graphQLErrors.map(\.message) == ["no such field"])
    }

    @Test func dataOfAnErrorStatusIsIgnored() async throws {
        let error = try #require(await failure(Self.data, status: 500, type: Self.json))
        #expect(error.kind == .status)
    }

    private static let badResponsesHaveDistinctErrorKindsArguments: [(String, Int, String, String)] = [
        ("<html>", 500, "text/html", "status"), ("<html>", 200, "text/html", "decoding"),
        ("", 200, json, "decoding"), ("", 500, json, "status"), ("null", 200, json, "decoding"),
        ("[1]", 200, json, "decoding"), ("{}", 200, json, "decoding"), (#"{"data":null}"#, 200, ours, "decoding"),
        (#"{"data":null,"errors":[]}"#, 200, ours, "decoding"), (#"{"data":7}"#, 200, ours, "decoding"),
        (#"{"data":{"post":{"id":"1""#, 200, ours, "decoding"), (#"{"data":{}}"#, 200, ours, "decoding"),
        (#"{"data":{"post":null}}"#, 200, ours, "none"), (#"{"data":{"post":{"id":7}}}"#, 200, ours, "decoding"),
        ("\u{FEFF}" + #"{"data":{"post":null}}"#, 200, ours, "none"),
    ]

    @Test(arguments: Self.badResponsesHaveDistinctErrorKindsArguments)
    func badResponsesHaveDistinctErrorKinds(body: String, status: Int, type: String, kind: String) async throws {
        let error = await failure(body, status: status, type: type)
        #expect(error?.kind.rawValue ?? "none" == kind)
        if let error { #expect(error.data == Data(body.utf8)) }
    }

    @Test func errorPolicyDecidesAboutErrorsBesideData() async throws {
        let body = #"{"errors":[{"message":"half","path":["post",0,"x"]}],"data":{"post":{"id":"1","title":"T"}}}"#
        let response = try await execute(body)
        #expect(response.data?.title == "T")
        #expect(response.errors.map(\.description) == ["half at post.0.x"])
        #expect(try await execute(body) { $0.errorPolicy = .ignore }.errors.isEmpty)
        let error = try #require(await failure(body) { $0.errorPolicy = .strict })
        #expect(error.graphQLErrors.first?.path == [.key("post"), .index(0), .key("x")])
    }

    @Test func errorsBesideInvalidDataAreAGraphQLError() async throws {
        let error = try #require(await failure(#"{"data":7,"errors":[{"message":"gone"}]}"#))
        #expect(error.graphQLErrors.map(\.message) == ["gone"])
    }

    @Test func nullWithErrorsThrowsUnlessTheTypeIsOptional() async throws {
        let body = #"{"data":{"post":null},"errors":[{"message":"gone"}]}"#
        #expect(await failure(body)?.graphQLErrors.map(\.message) == ["gone"])
        let optional = try await execute(body, as: Post?.self)
        #expect(optional.data == nil && optional.errors.map(\.message) == ["gone"])
        let response = try await execute(#"{"data":{"post":null}}"#, as: Post?.self)
        #expect(response.data == nil)
    }

    @Test func skippedFieldIsNilIfTheTypeIsOptional() async throws {
        let text = "query Post($x: Boolean!) { post(id: 1) @include(if: $x) { id title } }"
        #expect(try await execute(#"{"data":{}}"#, as: Post?.self, text).data == nil)
        let client = StubClient { _ in try NetworkResponse(json: ["data": [:]]) }
        let endpoint = GraphQLEndpoint("http://localhost/graphql")
        #expect(try await client.perform(.document(text, as: Post?.self), at: endpoint) == nil)
        let needed = GraphQLOperation<NoInput, Post>.document(text)
        await #expect(throws: NetworkError.self) { try await client.perform(needed, at: endpoint) }
    }

    @Test(arguments: [
        #""boom""#, "7", #"[{"locations":"x"},"text",7,null,{"message":3,"path":"p","extensions":[]}]"#,
        #"{"message":"alone"}"#,
    ])
    func malformedErrorsAreKept(errors: String) async throws {
        let error = try #require(await failure(#"{"errors":\#(errors)}"#))
        #expect(error.kind == .graphQL)
        let raw = try JSONValue(parsing: errors)
        #expect(error.graphQLErrors.map(\.raw) == raw.array ?? [raw])
    }

    @Test(arguments: [#"null"#, "[]"]) func emptyMembersEqualAbsentOnes(errors: String) async throws {
        let response = try await execute(
            #"{"data":{"post":{"id":"1","title":"T"}},"errors":\#(errors),"extensions":null}"#
        )
        #expect(response.errors.isEmpty)
        #expect(response.extensions.isEmpty)
    }

    @Test func unknownMembersAreIgnoredAndExtensionsAreDecoded() async throws {
        let response = try await execute(
            #"{"x":[{"data":1}],"extensions":{"cost":3},"data":{"__typename":"Query","post":{"id":"1","title":"T"}}}"#
        )
        #expect(response.extensions == ["cost": 3])
        #expect(response.data?.title == "T")
    }

    @Test func ambiguousRootFieldThrows() async throws {
        let two = "{ a: post(id: 1) { id title } b: post(id: 2) { id title } }"
        let body = #"{"data":{"b":{"id":"2","title":"B"},"a":{"id":"1","title":"A"}}}"#
        do throws(NetworkError) {
            _ = try await execute(body, two)
            Issue.record("one of two root fields was chosen")
        } catch {
            #expect(error.kind == .badRequest)
            #expect(error.message.contains("a, b"))
        }
    }

    /// Long responses take another decoding path, which must give the same result.
    @Test(arguments: [0, 1 << 10, 1 << 17]) func responseLengthDoesNotChangeTheResult(count: Int) async throws {
        let rest = #""rest":[{"a":"\#(String(repeating: "x", count: count))"},[]]"#
        let data = #"{"other":null,"post":{"id":"0","title":""},\#(rest),"post":{"id":"1","title":"First"}}"#
        let response = try await execute(#"{"data":\#(data),"errors":[{"message":"a"}],\#(rest)}"#)
        #expect(response.data == Post(id: "1", title: "First"))
        #expect(response.errors.map(\.message) == ["a"])
        let missing = await failure(#"{\#(rest),"data":{\#(rest),"post":{"id":"1","title":null}}}"#)
        #expect(missing?.kind == .decoding)
        let context = missing?.underlying.map { "\($0)" } ?? ""
        #expect(context.contains("title") && !context.contains("post"))
    }

    @Test func rootSelectsOneFieldOrTheWholeData() async throws {
        let body = #"{"data":{"b":{"id":"2","title":"B"},"a":{"id":"1","title":"A"}}}"#
        let client = StubClient { _ in try NetworkResponse(json: JSONValue(parsing: body)) }
        let endpoint = GraphQLEndpoint("http://localhost/graphql")
        let text = "{ a: post(id: 1) { id title } ...Rest } fragment Rest on Query { b: post(id: 2) { id title } }"
        var one = GraphQLOperation<NoInput, Post>.document(text)
        one.root = .field("b")
        #expect(try await client.perform(one, at: endpoint).title == "B")
        var all = GraphQLOperation<NoInput, [String: Post]>.document(text)
        all.root = .wholeData
        #expect(try await client.perform(all, at: endpoint).keys.sorted() == ["a", "b"])
        one.root = .field("c")
        await #expect(throws: NetworkError.self) { try await client.perform(one, at: endpoint) }
    }

    @Test(arguments: [
        #"{"message":"token=abc is stale"}"#, #"{"message":"x","extensions":{"code":"abc"}}"#,
        #"{"message":"x","extensions":{"code":"A\nabc"}}"#,
    ])
    func errorDescriptionContainsNoServerSecret(entry: String) async throws {
        let error = try #require(await failure(#"{"errors":[\#(entry)]}"#))
        #expect(!"\(error)".contains("abc"))
    }

    @Test func unrequestedIncrementalResponseIsMerged() async throws {
        let body = [
            "--b\r\nContent-Type: application/json\r\n\r\n",
            #"{"data":{"post":{"id":"1"}},"pending":[{"id":"0","path":["post"]}],"hasNext":true}"#,
            "\r\n--b\r\nContent-Type: application/json\r\n\r\n",
            #"{"incremental":[{"id":"0","data":{"title":"T"}}],"completed":[{"id":"0"}],"hasNext":false}"#,
            "\r\n--b--\r\n",
        ]
        let type = "multipart/mixed; boundary=b"
        #expect(try await execute(body.joined(), type: type).data == Post(id: "1", title: "T"))
        let half = body.prefix(2).joined() + "\r\n--b--\r\n"
        let cut = await failure(half, type: type)
        #expect(cut?.kind == .truncated)
        let uncompleted = body.joined().replacing(#""completed":[{"id":"0"}],"#, with: "")
        #expect(await failure(uncompleted, type: type)?.kind == .truncated)
        #expect(cut?.data == Data(half.utf8))
        let broken = (body.prefix(3) + ["<html>\r\n--b--\r\n"]).joined()
        let error = await failure(broken, type: type)
        #expect(error?.kind == .decoding)
        #expect(error?.data == Data(broken.utf8))
        #expect(await failure("--b--\r\n", type: type)?.kind == .decoding)
        let number = "18446744073709551615"
        let one = body[0] + #"{"data":{"post":{"id":"1","title":"T","n":\#(number)}}}"# + "\r\n--b--\r\n"
        let whole = try await execute(one, type: type).response
        #expect(String(decoding: whole.data, as: UTF8.self).contains(number))
    }
}
