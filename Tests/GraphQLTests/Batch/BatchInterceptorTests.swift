import BeagleNetGraphQL
import BeagleNetTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct BatchInterceptorTests {
    private let dependencies = BeagleDependencies()
    private let clock = ManualClock()

    /// Answers each of a list by its variable `id`; what is no list, alone.
    private static func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
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

    private func lists(_ server: LoopbackServer) throws -> [Int] {
        try server.requests.map { try JSONValue(parsing: $0.body).array?.count ?? 0 }
    }

    @Test func fullBatchIsOneRequestAndEachGetsItsAnswer() async throws {
        let server = try LoopbackServer(answer: Self.answer)
        let (client, endpoint) = (client(), GraphQLEndpoint(server.url))
        let posts = try await withThrowingTaskGroup(of: Post.self) { group in
            for id in ["1", "2", "3"] { group.addTask { try await client.perform(.post(id), at: endpoint) } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1.id) }
        }
        #expect(posts == ["1", "2", "3"])
        #expect(try lists(server) == [3])
    }

    @Test func errorOfOneIsNotThatOfTheOthers() async throws {
        let server = try LoopbackServer(answer: Self.answer)
        let (client, endpoint) = (client(limit: 2), GraphQLEndpoint(server.url))
        async let good = client.perform(.post("1"), at: endpoint)
        async let bad = client.perform(.post("bad"), at: endpoint)
        #expect(try await good.id == "1")
        do {
            _ = try await bad
            Issue.record("there was an answer")
        } catch {
            #expect((error as? NetworkError)?.graphQLErrors.map(\.message) == ["bad"])
        }
    }

    @Test func whoIsAloneIsSentAloneWhenTheWindowIsOver() async throws {
        let server = try LoopbackServer(answer: Self.answer)
        let (client, endpoint) = (client(), GraphQLEndpoint(server.url))
        async let post = client.perform(.post("1"), at: endpoint)
        await clock.sleepers(1)
        #expect(server.requests.isEmpty)
        clock.advance(by: .milliseconds(10))
        #expect(try await post.id == "1")
        #expect(try lists(server) == [0])
    }

    @Test func whoLeavesIsNotSentAndTheOthersAre() async throws {
        let server = try LoopbackServer(answer: Self.answer)
        let (client, endpoint) = (client(), GraphQLEndpoint(server.url))
        let leaving = Task { try await client.perform(.post("1"), at: endpoint) }
        await clock.sleepers(1)
        leaving.cancel()
        await #expect(throws: NetworkError.self) { try await leaving.value }
        async let two = client.perform(.post("2"), at: endpoint)
        async let three = client.perform(.post("3"), at: endpoint)
        async let four = client.perform(.post("4"), at: endpoint)
        _ = try await (two, three, four)
        #expect(try lists(server) == [3])
        #expect(server.requests.allSatisfy { !String(decoding: $0.body, as: UTF8.self).contains(#""id":"1""#) })
    }

    @Test func kindsAndCredentialsAreNotMixed() async throws {
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

    @Test(arguments: [
        ("[{}]", "has 1 elements"), (#"{"errors":[]}"#, "no list"), ("<html>", "no JSON"),
        (#"[{"data":1},{"data":2},{"data":3}]"#, "has 3 elements"),
    ])
    func answerThatIsNoneForAllIsToldToAll(body: String, words: String) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], body))
        let errors = await errorsOfTwo(at: GraphQLEndpoint(server.url))
        #expect(errors.allSatisfy { $0?.message.contains(words) == true }, "\(errors)")
    }

    /// What two operations of one batch fail with.
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

    @Test func oneRefusalOfAllIsThatOfEach() async throws {
        let body = #"{"errors":[{"message":"no batches here"}]}"#
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], body))
        let errors = await errorsOfTwo(at: GraphQLEndpoint(server.url))
        for error in errors { #expect(error?.graphQLErrors.map(\.message) == ["no batches here"]) }
        #expect(server.requests.count == 1)
    }

    @Test func manyAtOnceNeverExceedTheLimit() async throws {
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

    @Test func requestIsCancelledWhenAllHaveLeft() async throws {
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

    @Test func listOfRefusalsIsTheOperationsOwn() async throws {
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

    @Test func bodiesBeyondTheLimitGoInAnother() async throws {
        let server = try LoopbackServer(answer: Self.answer)
        let (client, endpoint) = (client(limit: 10, maxBytes: 250), GraphQLEndpoint(server.url))
        let task = Task {
            try await withThrowingTaskGroup(of: Post.self) { group in
                for id in 1...4 { group.addTask { try await client.perform(.post("\(id)"), at: endpoint) } }
                for try await _ in group {}
            }
        }
        await clock.sleepers(2)
        while server.requests.count < 2 {
            clock.advance(by: .milliseconds(10))
            try await Task.sleep(for: .milliseconds(5))
        }
        try await task.value
        #expect(try lists(server) == [2, 2])
    }
}
