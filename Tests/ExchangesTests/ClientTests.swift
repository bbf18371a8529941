import BeagleNetExchanges
import BeagleNetHTTP
import Foundation
import Synchronization
import Testing

import struct BeagleNetExchanges.Operation

@Suite(.timeLimit(.minutes(5))) struct ClientTests {
    private static let request = URLRequest(url: URL(filePath: "/graphql"))
    private let args = ExecutionArgs(query: "query Q($id: ID) { post(id: $id) { title } }", variables: ["id": 1])
    private let change = ExecutionArgs(query: "mutation { change }")
    private let news = ExecutionArgs(query: "subscription { news }")

    private func client(_ exchanges: any Exchange...) -> Client {
        Client(request: Self.request, exchanges: exchanges, logger: OffLogger())
    }

    /// A server whose results are the number of the operation.
    private func counting() -> ServerExchange {
        let count = Atomic(0)
        return ServerExchange { [$0.result(.integer(Int64(count.add(1, ordering: .relaxed).newValue)))] }
    }

    // MARK: - Defects of the original

    /// Defect D1: each call had its own id, so nothing was shared or stored.
    @Test func identicalQueriesShareOneExecutionAndTheStore() {
        let server = ServerExchange()
        let client = client(DedupExchange(), CacheExchange(), server)
        let (one, other) = (ResultCollector(client.query(args)), ResultCollector(client.query(args)))
        #expect(server.operations.count == 1)
        server.send(server.operations[0].result("hello"))
        #expect(one.texts == ["hello"])
        #expect(other.texts == ["hello"])
        one.leave()
        other.leave()
        let third = ResultCollector(client.query(args))
        #expect(third.texts == ["hello"])
        #expect(server.kinds == [.query, .teardown])
        third.leave()
    }

    /// Defect D1: operations with other contents or for another user must have other ids.
    @Test func differentOperationsHaveDifferentIDs() {
        let server = ServerExchange()
        let client = client(server)
        var authorized = Self.request
        authorized.setValue("Bearer one", forHTTPHeaderField: "Authorization")
        var named = args
        named.operationName = "Q"
        var extended = args
        extended.extensions = ["trace": true]
        let kept = [
            client.query(args), client.query(args, request: authorized), client.query(named), client.query(extended),
            client.query(ExecutionArgs(query: args.query, variables: ["id": "1"])),
            client.query(ExecutionArgs(query: args.query, variables: ["id": 1.0])),
            client.query(ExecutionArgs(query: args.query, variables: ["id": nil])),
            client.query(ExecutionArgs(query: args.query)), client.subscribe(to: args), client.mutate(args),
            client.mutate(args),
        ]
        .map { ResultCollector($0) }
        #expect(Set(server.operations.map(\.id)).count == kept.count)
        #expect(server.operations.allSatisfy { $0.id.utf8.count >= 32 })
    }

    /// Defect D2: a synchronous result never reached its subscriber.
    @Test func synchronousResultReachesTheSubscriber() {
        let client = client(DedupExchange(), CacheExchange(), counting())
        let first = ResultCollector(client.query(args))
        #expect(first.texts == ["1"])
        let second = ResultCollector(client.query(args))
        #expect(second.texts == ["1"])
        first.leave()
        second.leave()
        #expect(ResultCollector(client.query(args)).texts == ["1"])
    }

    /// Defect D3: with a synchronous transport, all results were lost.
    @Test func synchronousMutationResultReachesTheSubscriber() {
        let server = counting()
        let client = client(DedupExchange(), server)
        let mutation = ResultCollector(client.mutate(change))
        #expect(mutation.texts == ["1"])
        #expect(mutation.isOver)
        #expect(server.kinds == [.mutation])
    }

    /// Defect D5: there was no result.
    @Test func cacheOnlyWithoutAStoredResultReturns() async throws {
        let server = counting()
        let client = client(CacheExchange(), server)
        let result = try await client.query(args, policy: .cacheOnly)
        #expect(result.data == .null)
        #expect(result.error == nil)
        #expect(server.requested.isEmpty)
    }

    /// Defect D8: after the server had ended a subscription, a new one ended immediately.
    @Test func endedSubscriptionCanStartAgain() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        for _ in 0..<3 {
            let listening = ResultCollector(client.subscribe(to: news))
            let operation = server.operations.last { $0.kind == .subscription }
            var last = operation?.result("last")
            last?.hasNext = false
            if let last { server.send(last) }
            #expect(listening.texts == ["last"])
            #expect(listening.isOver)
        }
        #expect(server.kinds == [.subscription, .teardown, .subscription, .teardown, .subscription, .teardown])
    }

    /// Defect D8, if an exchange ends the subscription with a teardown, as those of the original do.
    @Test func teardownByAnExchangeEndsTheSubscription() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        for _ in 0..<2 {
            let listening = ResultCollector(client.subscribe(to: news))
            server.send(server.requested.last.map { $0.result("news") } ?? Operation.query().result(nil))
            #expect(!listening.isOver)
            if let operation = server.requested.last { client.reexecute(operation: operation.teardown()) }
            #expect(listening.texts == ["news"])
            #expect(listening.isOver)
        }
        #expect(server.kinds == [.subscription, .teardown, .subscription, .teardown])
    }

    /// Defect D9: eight threads were enough to crash the process or to lose a result.
    @Test func eightThreadsLoseNothing() async {
        let queue = DispatchQueue(label: "transport", attributes: .concurrent)
        let server = LaterExchange(queue)
        let client = client(DedupExchange(), CacheExchange(), server)
        let answered = Lock(0)
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<50 {
                        let isMutation = number % 5 == 0
                        let document = isMutation ? "mutation { change }" : "query($id: ID) { post(id: $id) }"
                        // Several threads run the same ten queries concurrently.
                        let id: AnyCodable = .integer(Int64(number % 2 == 0 ? number % 10 : thread * 50 + number))
                        let args = ExecutionArgs(query: document, variables: ["id": id])
                        do {
                            let policy: Operation.Policy = number % 3 == 0 ? .networkOnly : .cacheFirst
                            let result =
                                isMutation
                                ? try await client.mutate(args, types: ["Post"])
                                : try await client.query(args, policy: policy, types: ["Post"])
                            if result.data == id { answered.withLock { $0 += 1 } }
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }
        }
        #expect(answered.withLock { $0 } == 8 * 50)
    }

    /// Defect D10: every active operation inspected each event.
    @Test func eventsReachOnlyTheirOperation() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let waiting = (0..<1_000).map { number in
            ResultCollector(client.query(ExecutionArgs(query: "{ a }", variables: ["n": .integer(Int64(number))])))
        }
        server.send(server.operations[500].result("one"))
        let count = waiting.reduce(0) { $0 + $1.results.count }
        #expect(count == 1)
        #expect(waiting[500].texts == ["one"])
    }

    // MARK: - Sharing, as in urql's client

    @Test func lateSubscriberMakesTheLastResultStaleForBothSubscribers() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let one = ResultCollector(client.query(args))
        server.send(server.operations[0].result(1))
        let other = ResultCollector(client.query(args))
        server.send(server.operations[0].result(2))
        #expect(one.texts == ["1", "1 stale", "2"])
        #expect(other.texts == ["1 stale", "2"])
    }

    @Test func synchronousResultIsNotPrecededByAStaleOne() {
        let client = client(counting())
        let one = ResultCollector(client.query(args, policy: .networkOnly))
        let other = ResultCollector(client.query(args, policy: .networkOnly))
        #expect(one.texts == ["1", "2"])
        #expect(other.texts == ["2"])
    }

    @Test func resubscriberReceivesNoOldResult() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let one = ResultCollector(client.query(args))
        server.send(server.operations[0].result(1))
        one.leave()
        let other = ResultCollector(client.query(args))
        #expect(other.texts == [])
        server.send(server.operations[0].result(2))
        #expect(other.texts == ["2"])
        #expect(one.texts == ["1"])
    }

    @Test func lateSubscriberReceivesTheStaleResult() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let one = ResultCollector(client.query(args))
        server.send(server.operations[0].result(1, stale: true))
        let other = ResultCollector(client.query(args))
        #expect(one.texts == ["1 stale"])
        #expect(other.texts == ["1 stale"])
    }

    @Test func lateSubscriberReceivesOnlyNewResults() {
        let server = ServerExchange()
        let client = client(server)
        let one = ResultCollector(client.subscribe(to: news))
        server.send(server.operations[0].result(1))
        let other = ResultCollector(client.subscribe(to: news))
        #expect(server.operations.count == 1)
        server.send(server.operations[0].result(2))
        #expect(one.texts == ["1", "2"])
        #expect(other.texts == ["2"])
    }

    @Test func teardownIsSentWhenTheLastSubscriberCancels() {
        let server = ServerExchange()
        let client = client(server)
        let (one, other) = (ResultCollector(client.subscribe(to: news)), ResultCollector(client.subscribe(to: news)))
        one.leave()
        #expect(server.kinds == [.subscription])
        other.leave()
        #expect(server.kinds == [.subscription, .teardown])
        #expect(server.operations[0].id == server.operations[1].id)
    }

    @Test func cancellingTheSubscriberCancelsAMutationUnlessItIsKept() {
        let server = ServerExchange()
        let cancelling = client(server)
        ResultCollector(cancelling.mutate(change)).leave()
        #expect(server.kinds == [.mutation, .teardown])
        let kept = ServerExchange()
        let keeping = Client(request: Self.request, exchanges: [kept], logger: OffLogger(), keepsMutations: true)
        ResultCollector(keeping.mutate(change)).leave()
        #expect(kept.kinds == [.mutation])
    }

    @Test func everySubscriberOfAMutationPerformsIt() {
        let server = counting()
        let client = client(DedupExchange(), server)
        let mutation = client.mutate(change)
        let (one, other) = (ResultCollector(mutation), ResultCollector(mutation))
        #expect(one.texts == ["1"])
        #expect(other.texts == ["2"])
    }

    // MARK: - Reexecution

    @Test func activeQueryIsReexecuted() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let listening = ResultCollector(client.query(args))
        server.send(server.operations[0].result(1))
        client.reexecute(operation: server.operations[0].with(policy: .networkOnly))
        #expect(listening.texts == ["1", "1 stale"])
        server.send(server.operations[1].result(2))
        #expect(listening.texts == ["1", "1 stale", "2"])
        #expect(server.operations.map(\.policy) == [.cacheFirst, .networkOnly])
    }

    /// A subscriber may start the same operation again when it receives the last result.
    @Test func subscribingAgainDuringTheLastResultWorks() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let again = Lock<ResultCollector?>(nil)
        let first = ResultCollector(client.subscribe(to: news)) { [news] _ in
            let listening = ResultCollector(client.subscribe(to: news))
            again.withLock { $0 = listening }
        }
        var last = server.operations[0].result("last")
        last.hasNext = false
        server.send(last)
        #expect(first.isOver)
        #expect(server.kinds == [.subscription, .teardown, .subscription])
        server.send(server.operations[0].result("news"))
        #expect(first.texts == ["last"])
        #expect(again.withLock { $0 }?.texts == ["news"])
        #expect(again.withLock { $0 }?.isOver == false)
    }

    /// A queued teardown ends its operation regardless of other queued work, and doesn't end a later one.
    @Test func queuedTeardownEndsOnlyItsOwnOperation() {
        let server = ServerExchange()
        let client = client(server)
        let again = Lock<ResultCollector?>(nil)
        let ended = Lock<ResultCollector?>(nil)
        let other = ResultCollector(client.query(args)) { [news] _ in
            // Inside a delivery, so that everything here is queued until it ends.
            let first = ResultCollector(client.subscribe(to: news))
            ended.withLock { $0 = first }
            guard let operation = server.operations.last else { return }
            client.reexecute(operation: operation.teardown())
            client.reexecute(operation: operation)
            first.leave()
            let second = ResultCollector(client.subscribe(to: news))
            again.withLock { $0 = second }
        }
        server.send(server.operations[0].result(1))
        #expect(again.withLock { $0 }?.isOver == false)
        #expect(server.kinds.filter { $0 == .teardown }.count == 1)
        other.leave()
        let kept = ResultCollector(client.subscribe(to: change))
        let operation = server.operations.last
        let doing = ResultCollector(client.query(args)) { _ in
            guard let operation else { return }
            client.reexecute(operation: operation.teardown())
            client.reexecute(operation: operation)
        }
        if let operation = server.requested.last { server.send(operation.result(2)) }
        #expect(kept.isOver)
        doing.leave()
    }

    /// A cache miss is not a result for a subscriber that waits for the network.
    @Test func cacheOnlyMissReachesOnlyItsSubscriber() {
        let server = ServerExchange()
        let client = client(DedupExchange(), CacheExchange(), server)
        let collector = ResultCollector(client.query(args))
        let reading = ResultCollector(client.query(args, policy: .cacheOnly))
        #expect(reading.texts == ["nil"])
        #expect(collector.texts.isEmpty)
        server.send(server.operations[0].result(1))
        #expect(collector.texts == ["1"])
        reading.leave()
        #expect(server.kinds == [.query])
        collector.leave()
        #expect(server.kinds == [.query, .teardown])
    }

    @Test func operationWithoutSubscribersIsNotReexecuted() {
        let server = ServerExchange()
        let client = client(server)
        client.reexecute(operation: .query())
        client.reexecute(operation: .query().teardown())
        #expect(server.operations.isEmpty)
    }

    /// urql pull request 3909: every second reexecution got through.
    @Test(arguments: 1...4) func reexecutingInFlightSendsNoSecondOperation(_ times: Int) {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let listening = ResultCollector(client.query(args))
        for _ in 0..<times { client.reexecute(operation: server.operations[0]) }
        #expect(server.operations.count == 1)
        listening.leave()
    }

    /// urql: an exchange that reexecutes an operation from its result sees op, result, op', result'.
    @Test func reexecutionByAnExchangeFollowsTheResult() {
        let server = counting()
        let client = client(ReexecutingExchange(), server)
        let listening = ResultCollector(client.query(args))
        #expect(server.operations.map(\.policy) == [.cacheFirst, .networkOnly])
        #expect(listening.texts == ["1", "2"])
    }

    @Test func resultsStayInOrderIfASubscriberCausesAnother() {
        let server = ServerExchange()
        let client = client(server)
        let one = ResultCollector(client.query(args)) { result in
            if result.data == 1 { server.send(result.operation.result(2)) }
        }
        let other = ResultCollector(client.query(args))
        server.send(server.operations[0].result(1))
        #expect(one.texts == ["1", "2"])
        #expect(other.texts == ["1", "2"])
    }

    @Test(arguments: [true, false])
    func mutationDoesNotSendCacheOnlyQueriesToTheNetwork(isLeftBefore: Bool) {
        let server = ServerExchange()
        let client = client(DedupExchange(), CacheExchange(), server)
        let collector = ResultCollector(client.query(args, types: ["Post"]))
        server.send(server.requested[0].result(1))
        if isLeftBefore { collector.leave() }
        let reading = ResultCollector(client.query(args, policy: .cacheOnly, types: ["Post"]))
        if !isLeftBefore { collector.leave() }
        let mutation = ResultCollector(client.mutate(change, types: ["Post"]))
        server.send(server.requested[1].result("done"))
        #expect(mutation.texts == ["done"])
        #expect(server.requested.map(\.kind) == [.query, .mutation])
        #expect(reading.texts == ["1", "nil"])
        reading.leave()
    }

    @Test func mutationReexecutesQueriesOfItsTypes() {
        let server = ServerExchange()
        let client = client(DedupExchange(), CacheExchange(), server)
        let query = ResultCollector(client.query(args, types: ["Post"]))
        server.send(server.operations[0].result(1))
        let mutation = ResultCollector(client.mutate(change, types: ["Post"]))
        server.send(server.operations[1].result("done"))
        #expect(mutation.texts == ["done"])
        #expect(server.kinds == [.query, .mutation, .query])
        server.send(server.operations[2].result(2))
        #expect(query.texts == ["1", "1 stale", "2"])
    }

    // MARK: - async

    @Test func firstResultThatIsNotStaleIsReturned() async throws {
        let server = ServerExchange { [$0.result("old", stale: true), $0.result("new")] }
        let result = try await client(server).query(args)
        #expect(result.data == "new")
        #expect(server.kinds == [.query, .teardown])
    }

    @Test func dataIsDecodedIntoAValue() async throws {
        struct Post: Decodable, Equatable { var title: String }
        let server = ServerExchange { [$0.result(["title": "First"])] }
        #expect(try await client(server).query(args, as: Post.self).data == Post(title: "First"))
        #expect(try await client(server).mutate(change, as: Post.self).data == Post(title: "First"))
        await #expect(throws: NetworkError.self) { try await client(server).query(args, as: [Post].self) }
        let failing = ServerExchange { [$0.result(nil, error: .graphql([GraphQLError("no")]))] }
        await #expect(throws: CombinedError.graphql([GraphQLError("no")])) {
            try await client(failing).query(args, as: Post.self)
        }
    }

    @Test func cancellingTheTaskTearsDownTheOperation() async throws {
        let server = ServerExchange()
        let client = client(server)
        let task = Task { try await client.query(args) }
        while server.operations.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.kinds == [.query, .teardown])
    }

    /// The task was not cancelled, so the error explains what happened.
    @Test func operationTornDownByAnExchangeThrowsANetworkError() async throws {
        let server = ServerExchange()
        let client = client(server)
        let task = Task { try await client.query(args) }
        while server.operations.isEmpty { await Task.yield() }
        client.reexecute(operation: server.operations[0].teardown())
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.message == "the operation was torn down before it had a result")
        #expect(error?.advice?.isEmpty == false)
        #expect(server.kinds == [.query, .teardown])
    }

    /// For a subscriber without demand, only a limited number of results is kept, the newest ones.
    @Test func subscriberWithoutDemandKeepsTheNewestResults() {
        let logger = MemoryLogger()
        let server = ServerExchange()
        let client = Client(request: Self.request, exchanges: [server], logger: logger)
        let received = LimitedSubscriber()
        client.subscribe(to: news).subscribe(received)
        received.want(1)
        let operation = server.operations[0]
        for number in 0..<(1 + 4_096 + 10) { server.send(operation.result(.integer(Int64(number)))) }
        #expect(received.numbers == [0])
        received.want(2)
        #expect(received.numbers == [0, 11, 12])
        #expect(logger.messages.count == 1)
        #expect(logger.messages.first?.contains("its oldest results beyond 4096 are dropped") == true)
        received.cancel()
        #expect(server.kinds == [.subscription, .teardown])
    }

    /// Requests as many results as the test demands.
    private final class LimitedSubscriber: Subscriber, Sendable {
        // Set once on subscribing, and used only by the test.
        nonisolated(unsafe) private var subscription: (any Subscription)?
        private let received = Lock<[Int64?]>([])

        var numbers: [Int64?] { received.withLock { $0 } }
        func want(_ count: Int) { subscription?.request(.max(count)) }
        func cancel() { subscription?.cancel() }
        func receive(subscription: any Subscription) { self.subscription = subscription }
        func receive(completion: Subscribers.Completion<Never>) {}

        func receive(_ input: OperationResult) -> Subscribers.Demand {
            received.withLock { $0.append(input.data.integer) }
            return .none
        }
    }

    @Test func unhandledOperationGetsAnError() async throws {
        let logger = MemoryLogger()
        let client = Client(request: Self.request, exchanges: [DedupExchange()], logger: logger)
        let result = try await client.query(args)
        #expect(result.error?.networkError?.kind == .unsupported)
        #expect(logger.messages == ["no exchange handles operations of kind query"])
    }

    /// Otherwise a second subscriber would wait forever.
    @Test func unhandledSubscriptionEnds() {
        let client = client(DedupExchange())
        for _ in 0..<2 {
            let listening = ResultCollector(client.subscribe(to: news))
            #expect(listening.results.map { $0.error?.networkError?.kind } == [.unsupported])
            #expect(listening.isOver)
        }
    }

    @Test func exchangesDoNotRetainTheClient() {
        weak var gone: Client?
        do {
            let client = Client(
                request: Self.request,
                exchanges: [DedupExchange(), CacheExchange(), ReexecutingExchange(), FetchExchange()],
                logger: OffLogger()
            )
            gone = client
        }
        #expect(gone == nil)
    }
}

/// Reexecutes a query from the network when its result arrives.
private struct ReexecutingExchange: Exchange {
    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        next(operations)
            .handleEvents(receiveOutput: { result in
                guard result.operation.policy == .cacheFirst else { return }
                client.reexecute(operation: result.operation.with(policy: .networkOnly))
            })
            .eraseToAnyPublisher()
    }
}

/// Sends the operation's variable as the result, on a queue.
private struct LaterExchange: Exchange {
    let queue: DispatchQueue

    init(_ queue: DispatchQueue) {
        self.queue = queue
    }

    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        // Any thread may send to a subject.
        nonisolated(unsafe) let answers = PassthroughSubject<OperationResult, Never>()
        return
            operations
            .handleEvents(receiveOutput: { operation in
                guard operation.kind != .teardown else { return }
                queue.async { answers.send(operation.result(operation.args.variables?["id"] ?? nil)) }
            })
            .compactMap { _ in OperationResult?.none }
            .merge(with: answers)
            .eraseToAnyPublisher()
    }
}
