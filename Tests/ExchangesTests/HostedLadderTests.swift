import BeagleNetHTTP
import Testing

@testable import BeagleNetExchanges
import struct BeagleNetExchanges.Operation

@Suite(.timeLimit(.minutes(1))) struct HostedLadderTests {
    /// Has all queries answered from a store.
    private struct Reading: Exchange {
        func register(
            client: any GraphQLClient,
            operations: AnyPublisher<Operation, Never>,
            next: @escaping ExchangeIO
        ) -> AnyPublisher<OperationResult, Never> {
            next(operations.map { $0.kind == .query ? $0.with(policy: .cacheOnly) : $0 }.eraseToAnyPublisher())
        }
    }

    /// Two wait for the same, and another for what a store has of it. When the first of the two has left, whose operation it is
    /// that is under way, the second has its answer all the same, though an exchange has made it look like the other's.
    @Test func answerIsForTheRowThatAskedThoughTheRunHasLeft() async throws {
        let world = try HostedWorld([DedupExchange(), Reading()], below: Below())
        let reading = world.run(.query("q", .cacheOnly))
        let left = world.run(.query("q", .networkOnly))
        let kept = world.run(.query("q", .networkOnly))
        while world.below.held.count < 2 { await Task.yield() }
        await world.settle()
        left.cancel()
        #expect(await left.value.failure?.isCancelled == true)
        let held = world.below.held
        #expect(held.map(\.operation.policy) == [.cacheOnly, .cacheOnly])
        world.below.end(held[1], Operation.query().result("network"))
        #expect(try await kept.value.get().response?.json()["data"] == "network")
        world.below.end(held[0], Operation.query().result("store"))
        #expect(try await reading.value.get().response?.json()["data"] == "store")
        #expect(world.below.count == 2)
    }

    @Test func teardownThatAnExchangeRunsIsOver() async throws {
        let world = try HostedWorld([DedupExchange()], below: Below())
        let running = world.run(.query())
        while world.below.held.isEmpty { await Task.yield() }
        let asked = try #require(world.log.forwarded.first)
        let listening = Listening(world.ladder.execute(operation: asked.teardown))
        while !listening.isOver { await Task.yield() }
        #expect(await running.value.failure?.isCancelled == true)
    }

    /// What somebody begins before it has its turn waits for its own end.
    @Test func teardownEndsNothingThatIsAskedLater() async throws {
        let world = try HostedWorld([DedupExchange()], below: Below())
        let first = world.run(.query())
        while world.below.held.count < 1 { await Task.yield() }
        let asked = try #require(world.log.forwarded.first)
        let second = Lock<Task<HostedRun.Outcome, Never>?>(nil)
        world.ladder.lane.run {
            world.ladder.reexecute(operation: asked.teardown)
            first.cancel()
            second.withLock { $0 = world.run(.query()) }
        }
        #expect(await first.value.failure?.isCancelled == true)
        while world.below.count < 2 { await Task.yield() }
        await world.settle()
        await world.answer(Operation.query().result("new"))
        #expect(try await second.withLock { $0 }?.value.get().response?.json()["data"] == "new")
    }

    /// As a `Client` has it: of a subscription that says nothing else there is more to come.
    @Test("errors of a result are not its subscription's end", arguments: [false, true])
    func errorsOfAResultAreNotTheEnd(pastAnInterceptor: Bool) async throws {
        let server = ServerExchange()
        let between: [any Exchange] = pastAnInterceptor ? [InterceptorExchange(RetryInterceptor())] : []
        let world = try HostedWorld(between + [server], below: Below())
        let running = world.run(.subscription())
        while server.asked.isEmpty { await Task.yield() }
        let asked = server.asked[0]
        server.send(asked.result("bad", error: .graphql([GraphQLError("no")])))
        server.send(asked.result("good"))
        var last = asked.result("last")
        last.hasNext = false
        server.send(last)
        #expect(try await running.value.get().response?.json()["data"] == "last")
        #expect(world.log.results.map(\.data) == ["bad", "good", "last"])
    }

    /// The original's of its typed calls: a value is made of the data, and what has another shape is an error.
    @Test func valueIsMadeOfTheData() async throws {
        struct Post: Decodable, Sendable { let title: String }
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        dependencies.interceptors.add(ExchangeInterceptor([DedupExchange(), CacheExchange()], logger: OffLogger()))
        let transport = ScriptedTransport { _ in #"{"data":{"post":{"title":"First"}}}"# }
        let client = NetworkClientDefault(dependencies: dependencies, transport: transport)
        let endpoint = GraphQLEndpoint("http://host/graphql")
        for document in ["{ post { title } }", "mutation { post { title } }"] {
            let right = GraphQLOperation<[String: String], Post>(input: [:], operationString: document)
            #expect(try await client.perform(right, at: endpoint).title == "First")
            let wrong = GraphQLOperation<[String: String], [Post]>(input: [:], operationString: document)
            let error = await #expect(throws: NetworkError.self) { try await client.perform(wrong, at: endpoint) }
            #expect(error?.kind == .decoding)
        }
    }
}

extension HostedRun.Outcome {
    /// Why there is no result.
    fileprivate var failure: NetworkError? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
