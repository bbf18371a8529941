import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

@testable import BeagleNetExchanges
import struct BeagleNetExchanges.Operation

@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct WebSocketExchangeTests {
    /// Subscriptions whose results and ends the test controls.
    private final class Server: Sendable {
        typealias Emit = @Sendable (OperationResult) -> Void

        struct Running: Sendable {
            let operation: Operation
            let emit: Emit
            let end: AsyncThrowingStream<Void, any Error>.Continuation
        }

        private let log = Lock<(started: [Running], ended: Int)>(([], 0))

        var started: [Running] { log.withLock { $0.started } }
        /// The number of subscriptions that have ended or were cancelled.
        var ended: Int { log.withLock { $0.ended } }

        func exchange(handleAllOperations: Bool = false) -> WebSocketExchange {
            WebSocketExchange(handleAllOperations: handleAllOperations) { [self] operation, _, emit in
                let (stream, end) = AsyncThrowingStream<Void, any Error>.makeStream()
                log.withLock { $0.started.append(Running(operation: operation, emit: emit, end: end)) }
                defer { log.withLock { $0.ended += 1 } }
                for try await _ in stream {}
            }
        }

        func started(_ count: Int) async -> Running {
            while started.count < count { await Task.yield() }
            return started[count - 1]
        }

        func ended(_ count: Int) async {
            while ended < count { await Task.yield() }
        }
    }

    private let server = Server()
    private let s = Operation.subscription()

    @Test(arguments: ExchangePlacement.allCases) func subscriptionsAreHandledOthersForwarded(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(server.exchange())
        await fixture.ask([.query(), .mutation(), s])
        let running = await server.started(1)
        running.emit(running.operation.result(1))
        running.emit(running.operation.result(2))
        #expect(fixture.results.map(\.data) == [1, 2])
        #expect(fixture.log.forwarded.map(\.kind) == [.query, .mutation])
    }

    @Test(arguments: ExchangePlacement.allCases) func allOperationsAreHandledIfConfigured(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(server.exchange(handleAllOperations: true))
        await fixture.ask([.query(), .mutation()])
        _ = await server.started(2)
        #expect(fixture.log.forwarded.isEmpty)
    }

    @Test(arguments: ExchangePlacement.allCases) func teardownEndsTheSubscriptionAndIsForwarded(
        _ way: ExchangePlacement
    ) async throws {
        let fixture = try way.fixture(server.exchange())
        await fixture.ask(s)
        let running = await server.started(1)
        await fixture.leave(s)
        await server.ended(1)
        running.emit(running.operation.result("late"))
        #expect(fixture.results.isEmpty)
        #expect(fixture.log.forwarded.map(\.kind) == [.teardown])
    }

    /// From urql: the end of the source is a teardown for the subscriber.
    @Test(arguments: ExchangePlacement.allCases) func endOfTheServerReexecutesTheOperation(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(server.exchange())
        await fixture.ask(s)
        await server.started(1).end.finish()
        while fixture.events.isEmpty { await Task.yield() }
        #expect(fixture.events == ["again s cache-first"])
        #expect(fixture.results.isEmpty)
    }

    @Test func endOfTheServerReexecutesATeardown() async {
        let client = CallRecordingClient()
        let fixture = ExchangeFixture(server.exchange(), client)
        fixture.operations.send(s)
        await server.started(1).end.finish()
        while client.reexecuted.isEmpty { await Task.yield() }
        #expect(client.reexecuted == [s.teardown()])
        #expect(fixture.results.isEmpty)
    }

    @Test func failureIsTheLastResult() async {
        let client = CallRecordingClient()
        let fixture = ExchangeFixture(server.exchange(), client)
        fixture.operations.send(s)
        await server.started(1).end.finish(throwing: NetworkError(.network, during: .body, "lost"))
        while fixture.results.isEmpty { await Task.yield() }
        #expect(fixture.results.map { $0.error?.networkError?.message } == ["lost"])
        #expect(fixture.results.first?.hasNext == false)
        #expect(client.reexecuted.isEmpty)
        // The same subscription can start again immediately.
        fixture.operations.send(s)
        _ = await server.started(2)
    }

    @Test(arguments: [1000, 5000]) func messagesHaveTheGivenLimit(limit: Int) async throws {
        let event = "event: next\ndata: {\"data\":{\"text\":\"\(String(repeating: "a", count: 3000))\"}}\n\n"
        let body = Data((event + "event: complete\ndata:\n\n").utf8)
        let loopback = try LoopbackServer(.chunked([body], ["Content-Type": "text/event-stream"]))
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        let exchange = WebSocketExchange(
            client: NetworkClientDefault(dependencies: dependencies),
            over: [.events()],
            maxMessageBytes: limit
        )
        let url = try #require(URL(string: loopback.url + "/graphql"))
        let client = Client(request: URLRequest(url: url), exchanges: [exchange], logger: OffLogger())
        let listening = ResultCollector(client.subscribe(to: ExecutionArgs(query: "subscription { text }")))
        while listening.results.isEmpty { await Task.yield() }
        let expected: NetworkError.Kind? = limit == 1000 ? .tooLarge : nil
        #expect(listening.results.first?.error?.networkError?.kind == expected)
        listening.leave()
    }

    @Test func interceptorRetriesAfterAFailure() async throws {
        let retry = RetryInterceptor(
            subscriptionBackoff: Backoff(base: .microseconds(1), limit: 5)
        )
        let client = Client(
            request: URLRequest(url: try #require(URL(string: "http://host/graphql"))),
            exchanges: [InterceptorExchange(retry), server.exchange()],
            logger: OffLogger()
        )
        let listening = ResultCollector(client.subscribe(to: ExecutionArgs(query: "subscription { news }")))
        await server.started(1).end.finish(throwing: NetworkError(.network, during: .body, "lost"))
        let again = await server.started(2)
        again.emit(again.operation.result("one"))
        while listening.results.isEmpty { await Task.yield() }
        #expect(listening.texts == ["one"])
    }

    @Test(arguments: ExchangePlacement.allCases) func runningSubscriptionIsNotStartedTwice(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(server.exchange())
        await fixture.ask([s, s])
        _ = await server.started(1)
        #expect(server.started.count == 1)
    }

    /// A result that arrives while one subscriber cancels and another subscribes, in one block, reaches neither of them.
    @Test func lateResultDoesNotReachTheNextSubscriber() async {
        let client = Client(
            request: URLRequest(url: URL(filePath: "/graphql")),
            exchanges: [server.exchange()],
            logger: OffLogger()
        )
        let news = ExecutionArgs(query: "subscription { news }")
        let first = ResultCollector(client.subscribe(to: news))
        let running = await server.started(1)
        let second = Lock<ResultCollector?>(nil)
        client.queue.run {
            let given = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                running.emit(running.operation.result("late"))
                given.signal()
            }
            given.wait()
            first.leave()
            let listening = ResultCollector(client.subscribe(to: news))
            second.withLock { $0 = listening }
        }
        let again = await server.started(2)
        again.emit(again.operation.result("news"))
        #expect(second.withLock { $0 }?.texts == ["news"])
        #expect(first.texts.isEmpty)
    }

    /// Defect D12 of the original: its socket rejected an id that it had used before and forgot cancelled subscribers.
    @Test func sameSubscriptionStartsAgainUnderItsID() async throws {
        let client = Client(
            request: URLRequest(url: URL(filePath: "/graphql")),
            exchanges: [DedupExchange(), server.exchange()],
            logger: OffLogger()
        )
        let news = ExecutionArgs(query: "subscription { news }")
        // Cancelled and started again immediately.
        let left = ResultCollector(client.subscribe(to: news))
        left.leave()
        let first = ResultCollector(client.subscribe(to: news))
        let running = await server.started(2)
        running.emit(running.operation.result("one"))
        #expect(first.texts == ["one"])
        // Ended by the server and started again.
        running.end.finish()
        while !first.isOver { await Task.yield() }
        let second = ResultCollector(client.subscribe(to: news))
        let again = await server.started(3)
        again.emit(again.operation.result("two"))
        #expect(second.texts == ["two"])
        #expect(left.texts == [])
        #expect(Set(server.started.map(\.operation.id)).count == 1)
        await server.ended(2)
    }
}
