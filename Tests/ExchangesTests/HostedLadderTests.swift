import BeagleNetHTTP
import Testing

@testable import BeagleNetExchanges
import struct BeagleNetExchanges.Operation

@Suite(.timeLimit(.minutes(1))) struct HostedLadderTests {
    /// Makes all queries read from a store.
    private struct Reading: Exchange {
        func register(
            client: any GraphQLClient,
            operations: AnyPublisher<Operation, Never>,
            next: @escaping ExchangeIO
        ) -> AnyPublisher<OperationResult, Never> {
            next(operations.map { $0.kind == .query ? $0.with(policy: .cacheOnly) : $0 }.eraseToAnyPublisher())
        }
    }

    /// Two callers run the same network query, and a third one reads it from a store. The first caller, whose operation is in
    /// flight, cancels. The second must still get its result, although an exchange gave both operations the same policy.
    @Test func resultReachesTheOtherCallerIfTheFirstCancels() async throws {
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

    @Test func teardownRunByAnExchangeCompletes() async throws {
        let world = try HostedWorld([DedupExchange()], below: Below())
        let running = world.run(.query())
        while world.below.held.isEmpty { await Task.yield() }
        let asked = try #require(world.log.forwarded.first)
        let listening = Listening(world.ladder.execute(operation: asked.teardown))
        while !listening.isOver { await Task.yield() }
        #expect(await running.value.failure?.isCancelled == true)
    }

    /// An operation that starts before the queued teardown runs must not end with it.
    @Test func teardownDoesNotEndALaterOperation() async throws {
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

    /// As with a `Client`: unless a result says otherwise, more results of the subscription follow.
    @Test(arguments: [false, true])
    func errorsOfAResultDoNotEndTheSubscription(pastAnInterceptor: Bool) async throws {
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

    /// From the original's typed calls: the data is decoded into a value, and data of another shape is an error.
    @Test func dataIsDecodedIntoAValue() async throws {
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
    /// The error, or `nil` if there is a result.
    fileprivate var failure: NetworkError? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
