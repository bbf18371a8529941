import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import GraphQLPeers
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct BatchInterceptorTests {
    private let dependencies = BeagleDependencies()
    private let clock = ManualClock()

    /// Responds to each operation of a batch by its variable `id`, and to a single operation with a single response.
    private static func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        do {
            let body = try JSONValue(parsing: request.body)
            let answers = (body.array ?? [body]).map { one -> JSONValue in
                let id = one["variables"]?["id"] ?? .null
                if id == "bad" { return ["data": ["post": nil], "errors": [["message": "bad"]]] }
                return ["data": ["post": ["id": id, "title": "T"]]]
            }
            let json: JSONValue = body.array == nil ? answers[0] : .array(answers)
            return .response(200, ["Content-Type": "application/json"], try json.text())
        } catch {
            return .response(400, [:], "\(error)")
        }
    }

    private func client(limit: Int = 3, maxBytes: Int = 100 << 10) -> NetworkClientDefault {
        dependencies.interceptors.add(
            BatchInterceptor(window: .milliseconds(10), limit: limit, maxBytes: maxBytes, clock: clock)
        )
        return NetworkClientDefault(dependencies: dependencies)
    }

    private func endpoint(
        at server: LoopbackServer,
        _ documents: GraphQLEndpoint.DocumentStyle
    ) -> GraphQLEndpoint {
        var endpoint = GraphQLEndpoint(server.url)
        endpoint.documentStyle = documents
        return endpoint
    }

    private func lists(_ server: LoopbackServer) throws -> [Int] {
        try server.requests.map { try JSONValue(parsing: $0.body).array?.count ?? 0 }
    }

    @Test func fullBatchIsOneRequestAndEachOperationGetsItsResponse() async throws {
        let server = try LoopbackServer(answer: Self.answer)
        let (client, endpoint) = (client(), GraphQLEndpoint(server.url))
        let posts = try await withThrowingTaskGroup(of: Post.self) { group in
            for id in ["1", "2", "3"] { group.addTask { try await client.perform(.post(id), at: endpoint) } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1.id) }
        }
        #expect(posts == ["1", "2", "3"])
        #expect(try lists(server) == [3])
    }

    @Test("the deadline of one operation, by the system's clock, doesn't cut off the others of its batch")
    func deadlineOfOneOperationDoesNotAffectTheOthers() async throws {
        let isTimedOut = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { request in
            isTimedOut.wait()
            // Long enough to see a transfer that is cut off.
            Thread.sleep(forTimeInterval: 0.3)
            return Self.answer(request)
        }
        let (client, endpoint) = (client(limit: 2), GraphQLEndpoint(server.url))
        async let limited = client.perform(.post("1"), at: endpoint) { $0.deadline = .seconds(1) }
        await clock.waitForSleepers(1)
        async let other = client.perform(.post("2"), at: endpoint)
        do {
            _ = try await limited
            Issue.record("the operation succeeded")
        } catch {
            #expect((error as? NetworkError)?.kind == .timeout)
        }
        isTimedOut.signal()
        #expect(try await other.id == "2")
        #expect(try lists(server) == [2])
    }

    @Test func errorOfOneOperationDoesNotAffectTheOthers() async throws {
        let server = try LoopbackServer(answer: Self.answer)
        let (client, endpoint) = (client(limit: 2), GraphQLEndpoint(server.url))
        async let good = client.perform(.post("1"), at: endpoint)
        async let bad = client.perform(.post("bad"), at: endpoint)
        #expect(try await good.id == "1")
        do {
            _ = try await bad
            Issue.record("the operation succeeded")
        } catch {
            #expect((error as? NetworkError)?.graphQLErrors.map(\.message) == ["bad"])
        }
    }

    @Test func singleOperationIsSentUnbatchedAfterTheWindow() async throws {
        let server = try LoopbackServer(answer: Self.answer)
        let (client, endpoint) = (client(), GraphQLEndpoint(server.url))
        async let post = client.perform(.post("1"), at: endpoint)
        await clock.waitForSleepers(1)
        #expect(server.requests.isEmpty)
        clock.advance(by: .milliseconds(10))
        #expect(try await post.id == "1")
        #expect(try lists(server) == [0])
    }

    @Test func cancelledOperationIsNotPartOfTheBatch() async throws {
        let server = try LoopbackServer(answer: Self.answer)
        let (client, endpoint) = (client(), GraphQLEndpoint(server.url))
        let leaving = Task { try await client.perform(.post("1"), at: endpoint) }
        await clock.waitForSleepers(1)
        leaving.cancel()
        await #expect(throws: NetworkError.self) { try await leaving.value }
        async let two = client.perform(.post("2"), at: endpoint)
        async let three = client.perform(.post("3"), at: endpoint)
        async let four = client.perform(.post("4"), at: endpoint)
        _ = try await (two, three, four)
        #expect(try lists(server) == [3])
        #expect(server.requests.allSatisfy { !String(decoding: $0.body, as: UTF8.self).contains(#""id":"1""#) })
    }

    @Test func operationsWithDifferentCredentialsAreNotBatchedTogether() async throws {
        let server = try LoopbackServer(answer: Self.answer)
        let (client, endpoint) = (client(limit: 2), GraphQLEndpoint(server.url))
        var other = endpoint
        other.headers = ["Authorization": "Bearer other"]
        let others = other
        async let one = client.perform(.post("1"), at: endpoint)
        async let two = client.perform(.post("2"), at: others)
        async let three = client.perform(.post("3"), at: endpoint)
        async let four = client.perform(.post("4"), at: others)
        _ = try await (one, two, three, four)
        #expect(try lists(server) == [2, 2])
        for request in server.requests {
            let isOther = request["Authorization"] != nil
            let ids = try JSONValue(parsing: request.body).array?.compactMap { $0["variables"]?["id"]?.string }
            #expect(Set(ids ?? []) == (isOther ? ["2", "4"] : ["1", "3"]))
        }
    }

    private static let invalidBatchResponseFailsEveryOperationArguments: [(String, String)] = [
        ("[{}]", "has 1 element"), (#"{"errors":[]}"#, "not a list"), ("<html>", "not valid JSON"),
        (#"[{"data":1},{"data":2},{"data":3}]"#, "has 3 elements"),
    ]

    @Test(arguments: Self.invalidBatchResponseFailsEveryOperationArguments)
    func invalidBatchResponseFailsEveryOperation(body: String, words: String) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], body))
        let errors = await errorsOfTwo(at: GraphQLEndpoint(server.url))
        #expect(errors.allSatisfy { $0?.message.contains(words) == true }, "\(errors)")
        #expect(errors.allSatisfy { $0?.kind == .decoding && $0?.data == Data(body.utf8) })
        #expect(
            errors.allSatisfy { $0?.advice == "remove the BatchInterceptor if the server does not support batching" }
        )
    }

    /// Returns the errors of two operations in one batch.
    private func errorsOfTwo(at endpoint: GraphQLEndpoint) async -> [NetworkError?] {
        let client = client(limit: 2)
        return await withTaskGroup(of: NetworkError?.self) { group in
            for id in ["1", "2"] {
                group.addTask {
                    do throws(NetworkError) {
                        _ = try await client.perform(.post(id), at: endpoint)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(arguments: ["", #""data":null,"#]) func singleErrorFailsEveryOperation(data: String) async throws {
        let body = #"{\#(data)"errors":[{"message":"no batches here"}]}"#
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], body))
        let errors = await errorsOfTwo(at: GraphQLEndpoint(server.url))
        for error in errors {
            #expect(error?.graphQLErrors.map(\.message) == ["no batches here"])
            #expect(error?.data == Data(body.utf8))
        }
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ["", #""data":null,"#]) func unknownHashesAreFollowedByTexts(data: String) async throws {
        let server = try LoopbackServer { request in
            let refusal = #"{\#(data)"errors":[{"message":"PersistedQueryNotFound"}]}"#
            return String(decoding: request.body, as: UTF8.self).contains(#""query":"#)
                ? Self.answer(request) : .response(200, ["Content-Type": "application/json"], refusal)
        }
        let (client, endpoint) = (client(limit: 2), endpoint(at: server, .automatic))
        async let one = client.perform(.post("1"), at: endpoint)
        async let two = client.perform(.post("2"), at: endpoint)
        #expect(try await [one.id, two.id] == ["1", "2"])
        #expect(try lists(server) == [2, 2])
    }

    private struct Author: Decodable, Sendable { let name: String }

    /// Responds to each operation of a batch by its name, in reversed order.
    private static func reversed(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        let message = (try? JSONValue(parsing: request.body).array) ?? []
        let answers = message.reversed().map { one -> JSONValue in
            one["operationName"] == "Author"
                ? ["data": ["author": ["name": "Ann"]]] : ["data": ["post": ["id": "1", "title": "T"]]]
        }
        return .response(200, ["Content-Type": "application/json"], "\(JSONValue.array(answers))")
    }

    @Test(arguments: [GraphQLEndpoint.DocumentStyle.text, .automatic])
    func reorderedResponsesFailEveryOperation(documents: GraphQLEndpoint.DocumentStyle) async throws {
        let server = try LoopbackServer(answer: Self.reversed)
        let (client, endpoint) = (client(limit: 2), endpoint(at: server, documents))
        async let post = result { () throws(NetworkError) in try await client.perform(.post("1"), at: endpoint).id }
        async let author = result { () throws(NetworkError) in
            try await client.perform(.document("query Author { author { name } }", as: Author.self), at: endpoint).name
        }
        for error in await [post.failure, author.failure] {
            #expect(error?.kind == .decoding)
            #expect(error?.message.hasPrefix("batch response out of order: element ") == true)
            let said = String(decoding: error?.data ?? Data(), as: UTF8.self)
            #expect(said.contains("Ann"))
        }
        #expect(try lists(server) == [2])
    }

    @Test func skippedFieldDoesNotMakeTheBatchOutOfOrder() async throws {
        let server = try LoopbackServer { request in
            let message = (try? JSONValue(parsing: request.body).array) ?? []
            let answers = message.map { $0["operationName"] == "Author" ? #"{"data":{}}"# : #"{"data":{"post":null}}"# }
            return .response(200, ["Content-Type": "application/json"], "[\(answers.joined(separator: ","))]")
        }
        let (client, endpoint) = (client(limit: 2), GraphQLEndpoint(server.url))
        let text = "query Author { author @skip(if: true) { name } }"
        async let post = client.perform(.document("query Post { post { id } }", as: Post?.self), at: endpoint)
        async let author = client.perform(.document(text, as: Author?.self), at: endpoint)
        #expect(try await post == nil)
        #expect(try await author == nil)
        #expect(try lists(server) == [2])
    }

    /// Over an event stream. The pipeline tests cover WebSockets.
    @Test func queriesOverSubscriptionTransportsAreNotBatched() async throws {
        let server = try LoopbackServer { request in
            let message = try? JSONValue(parsing: request.body)
            let data = JSONValue.object(["post": ["id": message?["variables"]?["id"] ?? "list", "title": "T"]])
            return .events("event: next\ndata: {\"data\":\(data)}\n\nevent: complete\ndata:\n\n")
        }
        var live = GraphQLEndpoint(server.url)
        live.kindsOverSubscriptionTransports = [.query]
        live.subscriptions = [.events()]
        let (client, endpoint) = (client(limit: 2), live)
        async let one = client.perform(.post("1"), at: endpoint)
        async let two = client.perform(.post("2"), at: endpoint)
        #expect(try await [one.id, two.id] == ["1", "2"])
        #expect(try lists(server) == [0, 0])
    }

    @Test func progressOfASingleOperationIsReported() async throws {
        let title = String(repeating: "t", count: 1 << 20)
        let server = try LoopbackServer(
            .response(200, ["Content-Type": "application/json"], #"{"data":{"post":{"id":"1","title":"\#(title)"}}}"#)
        )
        let (client, endpoint, clock) = (client(), GraphQLEndpoint(server.url), clock)
        let received = Lock<Int64>(0)
        let progress: @Sendable (TransferRequest.Progress) -> Void = { progress in
            received.withLock { $0 = progress.bytesReceived }
        }
        async let post = client.perform(.post("1"), at: endpoint, onProgress: progress)
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(10))
        _ = try await post
        #expect(received.withLock { $0 } > 1 << 20)
    }

    private static let errorBodyIsPartOfEachErrorArguments: [(String, Set<String>)] = [
        ("no batches here", ["no batches here"]), (#"[{"a":1}, {"b":2}]"#, [#"{"a":1}"#, #"{"b":2}"#]),
        (#"[{"a":1}]"#, [#"[{"a":1}]"#]),
    ]

    /// A list with one element for each operation is split. Otherwise each error has the whole body.
    @Test(arguments: Self.errorBodyIsPartOfEachErrorArguments)
    func errorBodyIsPartOfEachError(body: String, kept: Set<String>) async throws {
        let server = try LoopbackServer(.response(400, ["Content-Type": "application/json"], body))
        let errors = await errorsOfTwo(at: GraphQLEndpoint(server.url))
        #expect(errors.allSatisfy { $0?.kind == .status && $0?.response?.status == .badRequest })
        #expect(Set(errors.map { String(decoding: $0?.data ?? Data(), as: UTF8.self) }) == kept)
        #expect(server.requests.count == 1)
    }

    @Test func concurrentOperationsNeverExceedTheBatchLimit() async throws {
        let server = try LoopbackServer(answer: Self.answer)
        dependencies.interceptors.add(BatchInterceptor(window: .milliseconds(5), limit: 10))
        let (client, endpoint) = (NetworkClientDefault(dependencies: dependencies), GraphQLEndpoint(server.url))
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for id in 0..<500 { group.addTask { try await client.perform(.post("\(id)"), at: endpoint).id } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 500)
        #expect(try lists(server).allSatisfy { $0 <= 10 })
    }

    @Test func requestIsCancelledWhenAllOperationsAreCancelled() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(.gate(gate))
        let (client, endpoint) = (client(limit: 2), GraphQLEndpoint(server.url))
        let tasks = ["1", "2"].map { id in Task { try await client.perform(.post(id), at: endpoint) } }
        #expect(await server.until { $0.requests.count == 1 })
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: NetworkError.self) { try await task.value } }
        #expect(await server.until { $0.openConnections == 0 })
        gate.open()
    }

    @Test func eachOperationGetsItsOwnErrorsFromAListOfErrors() async throws {
        let body = #"[{"errors":[{"message":"first"}]},{"errors":[{"message":"second"}]}]"#
        let type = "application/graphql-response+json"
        let server = try LoopbackServer(.response(400, ["Content-Type": type], body))
        let (client, endpoint) = (client(limit: 2), GraphQLEndpoint(server.url))
        let messages = await withTaskGroup(of: [String].self) { group in
            for id in ["1", "2"] {
                group.addTask {
                    do throws(NetworkError) {
                        _ = try await client.perform(.post(id), at: endpoint)
                        return []
                    } catch {
                        return error.graphQLErrors.map(\.message)
                    }
                }
            }
            return await group.reduce(into: Set<String>()) { $0.formUnion($1) }
        }
        #expect(messages == ["first", "second"])
    }

    @Test func bodiesOverTheByteLimitStartAnotherBatch() async throws {
        let server = try LoopbackServer(answer: Self.answer)
        let (client, endpoint) = (client(limit: 10, maxBytes: 250), GraphQLEndpoint(server.url))
        let task = Task {
            try await withThrowingTaskGroup(of: Post.self) { group in
                for id in 1...4 { group.addTask { try await client.perform(.post("\(id)"), at: endpoint) } }
                for try await _ in group {}
            }
        }
        // The third operation has sent the first two and started another batch. The fourth may be too late for that
        // one.
        #expect(await server.until { !$0.requests.isEmpty })
        let advancing = Task {
            while !Task.isCancelled {
                clock.advance(by: .milliseconds(10))
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        try await task.value
        advancing.cancel()
        #expect(try [[2, 2], [2, 0, 0]].contains(lists(server)))
    }

    // MARK: - Third-party servers

    private func endpoint(_ path: String, _ test: String = "") async throws -> GraphQLEndpoint {
        GraphQLEndpoint(try await GraphQLServer.shared.url(path), headers: ["X-Test": test])
    }

    /// Returns the request bodies that the server received.
    private func bodies(_ test: String) async throws -> [JSONValue] {
        let requests = try await GraphQLServer.shared.log(of: test)["requests"]?.array ?? []
        return try requests.map { try JSONValue(parsing: $0["body"]?.string ?? "") }
    }

    @Test(.enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"), arguments: ["/graphql", "/strict"])
    func serverRespondsToEachOperationOfABatch(path: String) async throws {
        let test = UUID().uuidString
        let (client, endpoint) = (client(limit: 3), try await endpoint(path, test))
        async let first = client.perform(.post("1"), at: endpoint)
        async let second = client.perform(.post("2"), at: endpoint)
        async let refused = client.perform(.document("{ nope }", as: Post.self), at: endpoint)
        let titles = try await [first.title, second.title]
        #expect(titles == ["First", "Ünïcode 😀"])
        do {
            _ = try await refused
            Issue.record("the operation succeeded")
        } catch {
            let failure = error as? NetworkError
            #expect(failure?.kind == .graphQL)
            #expect(failure?.graphQLErrors.map(\.message) == ["Cannot query field 'nope' on type 'Query'."])
        }
        #expect(try await bodies(test).map { $0.array?.count } == [3])
    }

    @Test(.enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
    func eachMutationOfABatchRunsOnce() async throws {
        let test = UUID().uuidString
        let (client, endpoint) = (client(limit: 2), try await endpoint("/graphql", test))
        let titles = try await withThrowingTaskGroup(of: String.self) { group in
            for title in ["a", "b"] {
                let text = "mutation { createPost(title: \"\(title)\") { id title } }"
                group.addTask { try await client.perform(.document(text, as: Post.self), at: endpoint).title }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(titles == ["a", "b"])
        #expect(try await bodies(test).map { $0.array?.count } == [2])
        let events = try await GraphQLServer.shared.log(of: test)["events"]?.array
        #expect(events?.map { $0["event"]?.string } == ["created", "created"])
    }

    @Test(.enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
    func hashesOfABatchAreRegisteredTogether() async throws {
        let test = UUID().uuidString
        var automatic = try await endpoint("/strict", test)
        automatic.documentStyle = .automatic
        let (client, batched) = (client(limit: 2), automatic)
        let text = "query Batched($id: ID!) { post(id: $id) { id title } } # \(test)"
        for _ in 0..<2 {
            let ids = try await withThrowingTaskGroup(of: String.self) { group in
                for id in ["1", "2"] {
                    let operation = GraphQLOperation<IDInput, Post>(input: IDInput(id: id), operationString: text)
                    group.addTask { try await client.perform(operation, at: batched).id }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(ids == ["1", "2"])
        }
        let texts = try await bodies(test).map { list in list.array?.map { $0["query"]?.string } }
        #expect(texts == [[nil, nil], [text, text], [nil, nil]])
    }

    /// Both operations get the server's own message and status.
    @Test(.enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
    func serverWithoutBatchingFailsEachOperation() async throws {
        let endpoint = try await endpoint("/ariadne")
        let refusal = "Operation data should be a JSON object"
        for error in await errorsOfTwo(at: endpoint) {
            #expect(error?.kind == .status && error?.response?.status == .badRequest)
            #expect(error?.advice == "remove the BatchInterceptor if the server does not support batching")
            #expect(error?.graphQLErrors.map(\.message) == [refusal])
            #expect(error?.data == Data(#"{"errors":[{"message":"\#(refusal)"}]}"#.utf8))
        }
    }

    @Test(.enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
    func batchOverTheServerLimitFailsEachOperation() async throws {
        let test = UUID().uuidString
        let (client, endpoint) = (client(limit: 11), try await endpoint("/graphql", test))
        let refusals = await withTaskGroup(of: Data?.self) { group in
            for id in 1...11 {
                group.addTask {
                    do throws(NetworkError) {
                        _ = try await client.perform(.post("\(id)"), at: endpoint)
                        return nil
                    } catch {
                        return error.data
                    }
                }
            }
            return await group.reduce(into: [Data?]()) { $0.append($1) }
        }
        #expect(refusals.count == 11 && refusals.allSatisfy { $0 == Data("Too many operations".utf8) })
        #expect(try await bodies(test).map { $0.array?.count } == [11])
    }
}
