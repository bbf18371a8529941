import BeagleNetHTTP
import Testing

@testable import BeagleNetExchanges
import struct BeagleNetExchanges.Operation

@Suite(.timeLimit(.minutes(5))) struct HostedExchangeChainTests {
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
        let fixture = try HostedFixture([DedupExchange(), Reading()], below: HeldPipeline())
        let reading = fixture.run(.query("q", .cacheOnly))
        let left = fixture.run(.query("q", .networkOnly))
        let kept = fixture.run(.query("q", .networkOnly))
        while fixture.below.held.count < 2 { await Task.yield() }
        await fixture.settle()
        left.cancel()
        #expect(await left.value.failure?.isCancelled == true)
        let held = fixture.below.held
        #expect(held.map(\.operation.policy) == [.cacheOnly, .cacheOnly])
        fixture.below.end(held[1], Operation.query().result("network"))
        #expect(try await kept.value.get().response?.json()["data"] == "network")
        fixture.below.end(held[0], Operation.query().result("store"))
        #expect(try await reading.value.get().response?.json()["data"] == "store")
        #expect(fixture.below.count == 2)
    }

    /// Holds queries until they are released.
    private final class Holding: Exchange, Sendable {
        private let held = Lock<[@Sendable () -> Void]>([])

        func register(
            client: any GraphQLClient,
            operations: AnyPublisher<Operation, Never>,
            next: @escaping ExchangeIO
        ) -> AnyPublisher<OperationResult, Never> {
            ForwardingPublisher(operations, next) { [held] operation, outputs in
                guard operation.kind == .query else { return outputs.forward(operation) }
                held.withLock { $0.append { outputs.forward(operation) } }
            }
            .eraseToAnyPublisher()
        }

        func release() {
            for forward in held.withLock({ $0 }) { forward() }
        }
    }

    /// The operation has reached the task of the first caller, which is cancelled before it has continued the operation.
    @Test func operationOfACancelledCallerContinuesForTheOther() async throws {
        let holding = Holding()
        let fixture = try HostedFixture([DedupExchange(), holding], below: HeldPipeline())
        let left = fixture.run(.query())
        let kept = fixture.run(.query())
        await fixture.settle()
        fixture.chain.queue.run {
            holding.release()
            left.cancel()
        }
        #expect(await left.value.failure?.isCancelled == true)
        await fixture.answer(Operation.query().result("kept"))
        #expect(try await kept.value.get().response?.json()["data"] == "kept")
        #expect(await fixture.count == 0)
    }

    /// The operation starts on another thread, and waits for the chain's queue. The thread that runs the queue's work cancels
    /// the operation before.
    @Test func operationCancelledBeforeItsStartIsNotStarted() async throws {
        let fixture = try HostedFixture([DedupExchange()], below: HeldPipeline())
        let task = Lock<Task<HostedRun.Outcome, Never>?>(nil)
        fixture.chain.queue.run {
            onAnotherThread { task.withLock { $0 = fixture.run(.query()) } }
            task.withLock { $0 }?.cancel()
        }
        #expect(await task.withLock { $0 }?.value.failure?.isCancelled == true)
        #expect(await fixture.count == 0)
        #expect(fixture.log.forwarded.isEmpty)
    }

    @Test func teardownRunByAnExchangeCompletes() async throws {
        let fixture = try HostedFixture([DedupExchange()], below: HeldPipeline())
        let running = fixture.run(.query())
        while fixture.below.held.isEmpty { await Task.yield() }
        let operation = try #require(fixture.log.forwarded.first)
        let listening = ResultCollector(fixture.chain.execute(operation: operation.teardown))
        while !listening.isOver { await Task.yield() }
        #expect(await running.value.failure?.isCancelled == true)
    }

    /// An operation that starts before the queued teardown runs must not end with it.
    @Test func teardownDoesNotEndALaterOperation() async throws {
        let fixture = try HostedFixture([DedupExchange()], below: HeldPipeline())
        let first = fixture.run(.query())
        while fixture.below.held.count < 1 { await Task.yield() }
        let operation = try #require(fixture.log.forwarded.first)
        let second = Lock<Task<HostedRun.Outcome, Never>?>(nil)
        fixture.chain.queue.run {
            fixture.chain.reexecute(operation: operation.teardown)
            first.cancel()
            second.withLock { $0 = fixture.run(.query()) }
        }
        #expect(await first.value.failure?.isCancelled == true)
        while fixture.below.count < 2 { await Task.yield() }
        await fixture.settle()
        await fixture.answer(Operation.query().result("new"))
        #expect(try await second.withLock { $0 }?.value.get().response?.json()["data"] == "new")
    }

    /// As with a `Client`: unless a result says otherwise, more results of the subscription follow.
    @Test(arguments: [false, true])
    func errorsOfAResultDoNotEndTheSubscription(pastAnInterceptor: Bool) async throws {
        let server = ServerExchange()
        let between: [any Exchange] = pastAnInterceptor ? [InterceptorExchange(RetryInterceptor())] : []
        let fixture = try HostedFixture(between + [server], below: HeldPipeline())
        let running = fixture.run(.subscription())
        while server.requested.isEmpty { await Task.yield() }
        let operation = server.requested[0]
        server.send(operation.result("bad", error: .graphql([GraphQLError("no")])))
        server.send(operation.result("good"))
        var last = operation.result("last")
        last.hasNext = false
        server.send(last)
        #expect(try await running.value.get().response?.json()["data"] == "last")
        #expect(fixture.log.results.map(\.data) == ["bad", "good", "last"])
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
