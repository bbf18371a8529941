import BeagleNetExchanges
import BeagleNetHTTP
import Foundation
import Synchronization
import Testing

import struct BeagleNetExchanges.Operation

@Suite(.timeLimit(.minutes(2))) struct ClientTests {
    private static let request = URLRequest(url: URL(filePath: "/graphql"))
    private let args = ExecutionArgs(query: "query Q($id: ID) { post(id: $id) { title } }", variables: ["id": 1])
    private let change = ExecutionArgs(query: "mutation { change }")
    private let news = ExecutionArgs(query: "subscription { news }")

    private func client(_ exchanges: any Exchange...) -> Client {
        Client(request: Self.request, exchanges: exchanges, logger: OffLogger())
    }

    /// Answers with the number of the operation.
    private func counting() -> ServerExchange {
        let count = Atomic(0)
        return ServerExchange { [$0.result(.integer(Int64(count.add(1, ordering: .relaxed).newValue)))] }
    }

    // MARK: - The original's defects

    /// Defect D1: each call had an id of its own, so that nothing was shared or stored.
    @Test func sameQueriesShareOneRunAndTheStore() {
        let server = ServerExchange()
        let client = client(DedupExchange(), CacheExchange(), server)
        let (one, other) = (Listening(client.query(args)), Listening(client.query(args)))
        #expect(server.operations.count == 1)
        server.send(server.operations[0].result("hello"))
        #expect(one.texts == ["hello"])
        #expect(other.texts == ["hello"])
        one.leave()
        other.leave()
        let third = Listening(client.query(args))
        #expect(third.texts == ["hello"])
        #expect(server.kinds == [.query, .teardown])
        third.leave()
    }

    /// Defect D1: what asks something else, or for somebody else, is not the same.
    @Test func idsTellApartAllThatIsAsked() {
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
        .map { Listening($0) }
        #expect(Set(server.operations.map(\.id)).count == kept.count)
        #expect(server.operations.allSatisfy { $0.id.utf8.count >= 32 })
    }

    /// Defect D2: an answer that came at once was lost to whoever asked.
    @Test func answerThatComesAtOnceIsHeardByWhoAsked() {
        let client = client(DedupExchange(), CacheExchange(), counting())
        let first = Listening(client.query(args))
        #expect(first.texts == ["1"])
        let second = Listening(client.query(args))
        #expect(second.texts == ["1"])
        first.leave()
        second.leave()
        #expect(Listening(client.query(args)).texts == ["1"])
    }

    /// Defect D3: with a transport that answers at once, everything was lost.
    @Test func mutationThatIsAnsweredAtOnceIsHeard() {
        let server = counting()
        let client = client(DedupExchange(), server)
        let mutation = Listening(client.mutate(change))
        #expect(mutation.texts == ["1"])
        #expect(mutation.isOver)
        #expect(server.kinds == [.mutation])
    }

    /// Defect D5: nobody answered.
    @Test func cacheOnlyWithoutAStoredAnswerComesBack() async throws {
        let server = counting()
        let client = client(CacheExchange(), server)
        let result = try await client.query(args, policy: .cacheOnly)
        #expect(result.data == .null)
        #expect(result.error == nil)
        #expect(server.asked.isEmpty)
    }

    /// Defect D8: a subscription that the server had ended was over at once for who asked again.
    @Test func subscriptionStartsAgainAfterItsEnd() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        for _ in 0..<3 {
            let listening = Listening(client.subscribe(to: news))
            let operation = server.operations.last { $0.kind == .subscription }
            var last = operation?.result("last")
            last?.hasNext = false
            if let last { server.send(last) }
            #expect(listening.texts == ["last"])
            #expect(listening.isOver)
        }
        #expect(server.kinds == [.subscription, .teardown, .subscription, .teardown, .subscription, .teardown])
    }

    /// Defect D8, where an exchange says so with a teardown, as the original's do.
    @Test func teardownOfAnExchangeEndsTheSubscription() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        for _ in 0..<2 {
            let listening = Listening(client.subscribe(to: news))
            server.send(server.asked.last.map { $0.result("news") } ?? Operation.query().result(nil))
            #expect(!listening.isOver)
            if let operation = server.asked.last { client.reexecute(operation: operation.teardown()) }
            #expect(listening.texts == ["news"])
            #expect(listening.isOver)
        }
        #expect(server.kinds == [.subscription, .teardown, .subscription, .teardown])
    }

    /// Defect D9: eight threads were enough to end the process, or to lose a result.
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
                        // Ten queries are asked for by several threads at once.
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

    /// Defect D10: each event was looked at by every active operation.
    @Test func eventsReachOnlyThoseWhoWait() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let waiting = (0..<1_000).map { number in
            Listening(client.query(ExecutionArgs(query: "{ a }", variables: ["n": .integer(Int64(number))])))
        }
        server.send(server.operations[500].result("one"))
        let count = waiting.reduce(0) { $0 + $1.results.count }
        #expect(count == 1)
        #expect(waiting[500].texts == ["one"])
    }

    // MARK: - Sharing, as urql's client has it

    @Test func lateSubscriberMakesTheLastResultStaleForBoth() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let one = Listening(client.query(args))
        server.send(server.operations[0].result(1))
        let other = Listening(client.query(args))
        server.send(server.operations[0].result(2))
        #expect(one.texts == ["1", "1 stale", "2"])
        #expect(other.texts == ["1 stale", "2"])
    }

    @Test func resultThatComesAtOnceIsNotMadeStaleFirst() {
        let client = client(counting())
        let one = Listening(client.query(args, policy: .networkOnly))
        let other = Listening(client.query(args, policy: .networkOnly))
        #expect(one.texts == ["1", "2"])
        #expect(other.texts == ["2"])
    }

    @Test func whoComesBackHearsNothingOld() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let one = Listening(client.query(args))
        server.send(server.operations[0].result(1))
        one.leave()
        let other = Listening(client.query(args))
        #expect(other.texts == [])
        server.send(server.operations[0].result(2))
        #expect(other.texts == ["2"])
        #expect(one.texts == ["1"])
    }

    @Test func staleResultIsGivenToTheLateSubscriber() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let one = Listening(client.query(args))
        server.send(server.operations[0].result(1, stale: true))
        let other = Listening(client.query(args))
        #expect(one.texts == ["1 stale"])
        #expect(other.texts == ["1 stale"])
    }

    @Test func lateSubscriberOfASubscriptionHearsOnlyWhatIsNew() {
        let server = ServerExchange()
        let client = client(server)
        let one = Listening(client.subscribe(to: news))
        server.send(server.operations[0].result(1))
        let other = Listening(client.subscribe(to: news))
        #expect(server.operations.count == 1)
        server.send(server.operations[0].result(2))
        #expect(one.texts == ["1", "2"])
        #expect(other.texts == ["2"])
    }

    @Test func teardownIsSentWhenTheLastLeaves() {
        let server = ServerExchange()
        let client = client(server)
        let (one, other) = (Listening(client.subscribe(to: news)), Listening(client.subscribe(to: news)))
        one.leave()
        #expect(server.kinds == [.subscription])
        other.leave()
        #expect(server.kinds == [.subscription, .teardown])
        #expect(server.operations[0].id == server.operations[1].id)
    }

    @Test func leavingAMutationCancelsItUnlessItIsKept() {
        let server = ServerExchange()
        let cancelling = client(server)
        Listening(cancelling.mutate(change)).leave()
        #expect(server.kinds == [.mutation, .teardown])
        let kept = ServerExchange()
        let keeping = Client(request: Self.request, exchanges: [kept], logger: OffLogger(), keepsMutations: true)
        Listening(keeping.mutate(change)).leave()
        #expect(kept.kinds == [.mutation])
    }

    @Test func everySubscriberOfAMutationPerformsIt() {
        let server = counting()
        let client = client(DedupExchange(), server)
        let mutation = client.mutate(change)
        let (one, other) = (Listening(mutation), Listening(mutation))
        #expect(one.texts == ["1"])
        #expect(other.texts == ["2"])
    }

    // MARK: - Running again

    @Test func activeQueryRunsAgain() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let listening = Listening(client.query(args))
        server.send(server.operations[0].result(1))
        client.reexecute(operation: server.operations[0].with(policy: .networkOnly))
        #expect(listening.texts == ["1", "1 stale"])
        server.send(server.operations[1].result(2))
        #expect(listening.texts == ["1", "1 stale", "2"])
        #expect(server.operations.map(\.policy) == [.cacheFirst, .networkOnly])
    }

    /// Who hears the last result may ask the same again, and is heard.
    @Test func whoAsksAgainFromTheLastResultIsHeard() {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let again = Lock<Listening?>(nil)
        let first = Listening(client.subscribe(to: news)) { [news] _ in
            let listening = Listening(client.subscribe(to: news))
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

    /// What is due to end is ended, whatever else is due, and nothing that is asked for later is.
    @Test func dueTeardownEndsWhatItMeantAlone() {
        let server = ServerExchange()
        let client = client(server)
        let again = Lock<Listening?>(nil)
        let ended = Lock<Listening?>(nil)
        let other = Listening(client.query(args)) { [news] _ in
            // In a turn, so that all of it is due after this.
            let first = Listening(client.subscribe(to: news))
            ended.withLock { $0 = first }
            guard let operation = server.operations.last else { return }
            client.reexecute(operation: operation.teardown())
            client.reexecute(operation: operation)
            first.leave()
            let second = Listening(client.subscribe(to: news))
            again.withLock { $0 = second }
        }
        server.send(server.operations[0].result(1))
        #expect(again.withLock { $0 }?.isOver == false)
        #expect(server.kinds.filter { $0 == .teardown }.count == 1)
        other.leave()
        let kept = Listening(client.subscribe(to: change))
        let operation = server.operations.last
        let doing = Listening(client.query(args)) { _ in
            guard let operation else { return }
            client.reexecute(operation: operation.teardown())
            client.reexecute(operation: operation)
        }
        if let asked = server.asked.last { server.send(asked.result(2)) }
        #expect(kept.isOver)
        doing.leave()
    }

    /// A miss of the store is no answer to who asks the network.
    @Test func cacheOnlyIsAnsweredAlone() {
        let server = ServerExchange()
        let client = client(DedupExchange(), CacheExchange(), server)
        let asking = Listening(client.query(args))
        let reading = Listening(client.query(args, policy: .cacheOnly))
        #expect(reading.texts == ["nil"])
        #expect(asking.texts.isEmpty)
        server.send(server.operations[0].result(1))
        #expect(asking.texts == ["1"])
        reading.leave()
        #expect(server.kinds == [.query])
        asking.leave()
        #expect(server.kinds == [.query, .teardown])
    }

    @Test func whatNobodyWaitsForIsNotRunAgain() {
        let server = ServerExchange()
        let client = client(server)
        client.reexecute(operation: .query())
        client.reexecute(operation: .query().teardown())
        #expect(server.operations.isEmpty)
    }

    /// urql's pull request 3909: every second one got through.
    @Test(arguments: 1...4) func runningAgainDuringAFlightAddsNone(_ times: Int) {
        let server = ServerExchange()
        let client = client(DedupExchange(), server)
        let listening = Listening(client.query(args))
        for _ in 0..<times { client.reexecute(operation: server.operations[0]) }
        #expect(server.operations.count == 1)
        listening.leave()
    }

    /// urql: an exchange that runs an operation again from its result gets op, result, op', result'.
    @Test func whatAnExchangeRunsAgainComesAfterTheResult() {
        let server = counting()
        let client = client(AgainExchange(), server)
        let listening = Listening(client.query(args))
        #expect(server.operations.map(\.policy) == [.cacheFirst, .networkOnly])
        #expect(listening.texts == ["1", "2"])
    }

    @Test func resultsStayInOrderWhenAListenerCausesAnother() {
        let server = ServerExchange()
        let client = client(server)
        let one = Listening(client.query(args)) { result in
            if result.data == 1 { server.send(result.operation.result(2)) }
        }
        let other = Listening(client.query(args))
        server.send(server.operations[0].result(1))
        #expect(one.texts == ["1", "2"])
        #expect(other.texts == ["1", "2"])
    }

    @Test("a mutation has nobody ask the network who reads the store alone", arguments: [true, false])
    func mutationHasNoReaderAskTheNetwork(isLeftBefore: Bool) {
        let server = ServerExchange()
        let client = client(DedupExchange(), CacheExchange(), server)
        let asking = Listening(client.query(args, types: ["Post"]))
        server.send(server.asked[0].result(1))
        if isLeftBefore { asking.leave() }
        let reading = Listening(client.query(args, policy: .cacheOnly, types: ["Post"]))
        if !isLeftBefore { asking.leave() }
        let mutation = Listening(client.mutate(change, types: ["Post"]))
        server.send(server.asked[1].result("done"))
        #expect(mutation.texts == ["done"])
        #expect(server.asked.map(\.kind) == [.query, .mutation])
        #expect(reading.texts == ["1", "nil"])
        reading.leave()
    }

    @Test func mutationRunsQueriesOfItsTypesAgain() {
        let server = ServerExchange()
        let client = client(DedupExchange(), CacheExchange(), server)
        let query = Listening(client.query(args, types: ["Post"]))
        server.send(server.operations[0].result(1))
        let mutation = Listening(client.mutate(change, types: ["Post"]))
        server.send(server.operations[1].result("done"))
        #expect(mutation.texts == ["done"])
        #expect(server.kinds == [.query, .mutation, .query])
        server.send(server.operations[2].result(2))
        #expect(query.texts == ["1", "1 stale", "2"])
    }

    // MARK: - async

    @Test func firstSettledResultIsTheAnswer() async throws {
        let server = ServerExchange { [$0.result("old", stale: true), $0.result("new")] }
        let result = try await client(server).query(args)
        #expect(result.data == "new")
        #expect(server.kinds == [.query, .teardown])
    }

    @Test func valueIsMadeOfTheData() async throws {
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

    @Test func cancelledTaskLeaves() async throws {
        let server = ServerExchange()
        let client = client(server)
        let task = Task { try await client.query(args) }
        while server.operations.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.kinds == [.query, .teardown])
    }

    /// Its task was not cancelled, so it is told what happened.
    @Test func operationThatAnExchangeTearsDownThrowsWhatHappened() async throws {
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

    /// A subscriber that wants nothing costs no more than so many results, the newest.
    @Test func subscriberThatWantsNothingKeepsTheNewest() {
        let logger = MemoryLogger()
        let server = ServerExchange()
        let client = Client(request: Self.request, exchanges: [server], logger: logger)
        let heard = Few()
        client.subscribe(to: news).subscribe(heard)
        heard.want(1)
        let operation = server.operations[0]
        for number in 0..<(1 + 4_096 + 10) { server.send(operation.result(.integer(Int64(number)))) }
        #expect(heard.numbers == [0])
        heard.want(2)
        #expect(heard.numbers == [0, 11, 12])
        #expect(logger.messages.count == 1)
        #expect(logger.messages.first?.contains("its oldest results beyond 4096 are dropped") == true)
        heard.cancel()
        #expect(server.kinds == [.subscription, .teardown])
    }

    /// Wants as many results as it is told to.
    private final class Few: Subscriber, Sendable {
        // Set once, when it is subscribed, and used by the test alone.
        nonisolated(unsafe) private var subscription: (any Subscription)?
        private let heard = Lock<[Int64?]>([])

        var numbers: [Int64?] { heard.withLock { $0 } }
        func want(_ count: Int) { subscription?.request(.max(count)) }
        func cancel() { subscription?.cancel() }
        func receive(subscription: any Subscription) { self.subscription = subscription }
        func receive(completion: Subscribers.Completion<Never>) {}

        func receive(_ input: OperationResult) -> Subscribers.Demand {
            heard.withLock { $0.append(input.data.integer) }
            return .none
        }
    }

    @Test func operationThatNothingHandlesIsAnsweredWithAnError() async throws {
        let logger = MemoryLogger()
        let client = Client(request: Self.request, exchanges: [DedupExchange()], logger: logger)
        let result = try await client.query(args)
        #expect(result.error?.networkError?.kind == .unsupported)
        #expect(logger.messages == ["no exchange handles operations of kind query"])
    }

    /// Or whoever subscribes beside another would wait for ever.
    @Test func subscriptionThatNothingHandlesIsOver() {
        let client = client(DedupExchange())
        for _ in 0..<2 {
            let listening = Listening(client.subscribe(to: news))
            #expect(listening.results.map { $0.error?.networkError?.kind } == [.unsupported])
            #expect(listening.isOver)
        }
    }

    @Test func clientIsNotKeptAliveByItsExchanges() {
        weak var gone: Client?
        do {
            let client = Client(
                request: Self.request,
                exchanges: [DedupExchange(), CacheExchange(), AgainExchange(), FetchExchange()],
                logger: OffLogger()
            )
            gone = client
        }
        #expect(gone == nil)
    }
}

/// Runs a query again, past the store, when its result comes up.
private struct AgainExchange: Exchange {
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

/// Answers on a queue, with the operation's variable.
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
        // A subject may be sent to by any thread.
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
