import BeagleNetExchanges
import BeagleNetHTTP
import Testing

import struct BeagleNetExchanges.Operation

/// The test vectors of urql's client, run with a `Client` above the exchanges and with the coalescer of a pipeline there.
///
/// Two vectors differ in a pipeline, where a result that is not stale ends the execution of its operation. An exchange that
/// reexecutes an operation must therefore mark the result as stale. And if the app reexecutes an operation after a stale
/// result, it gets the result that is still pending, because the execution continues.
@Suite(.timeLimit(.minutes(5))) struct ClientVectorTests {
    // MARK: - Queue

    @Test(arguments: ExchangeDriver.allCases) func reexecutionByAnExchangeFollowsTheResult(_ way: ExchangeDriver) async
    {
        let fixture = way.fixture([ReexecutingExchange(), DedupExchange()], isCounting: true)
        let ear = fixture.listen()
        #expect(await fixture.has(ear, received: ["1 stale", "2"]))
        #expect(fixture.requestedKinds == ["query", "query"])
        ear.leave()
    }

    @Test(arguments: ExchangeDriver.allCases) func activeQueryIsReexecuted(_ way: ExchangeDriver) async {
        let fixture = way.fixture([DedupExchange()])
        let ear = fixture.listen()
        await fixture.answer(1)
        #expect(await fixture.has(ear, received: ["1"]))
        fixture.runAgain()
        #expect(await fixture.has(ear, received: ["1", "1 stale"]))
        await fixture.answer(2)
        #expect(await fixture.has(ear, received: ["1", "1 stale", "2"]))
        ear.leave()
    }

    // MARK: - Deduplication

    @Test(arguments: ExchangeDriver.allCases, [Operation.Policy.cacheFirst, .networkOnly])
    func identicalQueriesShareOneExecution(_ way: ExchangeDriver, _ policy: Operation.Policy) async {
        let fixture = way.fixture([DedupExchange()])
        let ears = (0..<3).map { _ in fixture.listen(.query, policy) }
        await fixture.answer(1)
        for ear in ears { #expect(await fixture.has(ear, received: ["1"])) }
        #expect(fixture.requestedKinds == ["query"])
        for ear in ears { ear.leave() }
    }

    @Test(arguments: ExchangeDriver.allCases) func partialResultKeepsTheQueryInFlight(_ way: ExchangeDriver) async {
        let fixture = way.fixture([DedupExchange()])
        let first = fixture.listen()
        await fixture.answer("part", stale: false, hasNext: true)
        #expect(await fixture.has(first, received: ["part"]))
        let second = fixture.listen()
        await fixture.answer("whole")
        #expect(await fixture.has(first, received: ["part", "whole"]))
        while second.texts.last != "whole" { await Task.yield() }
        #expect(fixture.requestedKinds == ["query"])
        first.leave()
        second.leave()
    }

    @Test(arguments: ExchangeDriver.allCases) func cacheAndNetworkIsNotBlockedByItsOwnStaleResult(_ way: ExchangeDriver)
        async
    {
        let fixture = way.fixture([CacheExchange(), DedupExchange()])
        let first = fixture.listen()
        await fixture.answer(1)
        #expect(await fixture.has(first, received: ["1"]))
        let second = fixture.listen(.query, .cacheAndNetwork)
        #expect(await fixture.hasRequested(2))
        await fixture.answer(2)
        #expect(await fixture.has(first, received: ["1", "1 stale", "2"]))
        #expect(await fixture.has(second, received: ["1 stale", "2"]))
        first.leave()
        second.leave()
    }

    @Test(arguments: ExchangeDriver.allCases) func reexecutedMutationIsSent(_ way: ExchangeDriver) async {
        let fixture = way.fixture([ReexecutingExchange(onTheWayDown: true), DedupExchange()])
        let ear = fixture.listen(.mutation)
        #expect(await fixture.hasRequested(2))
        ear.leave()
    }

    /// urql issue 3254.
    @Test(arguments: ExchangeDriver.allCases) func reexecutionAfterAStaleResultIsSent(_ way: ExchangeDriver) async {
        let fixture = way.fixture([ReexecutingExchange(), DedupExchange()])
        let ear = fixture.listen()
        await fixture.answer("old", stale: true, hasNext: false)
        #expect(await fixture.hasRequested(2))
        await fixture.answer("new")
        #expect(await fixture.has(ear, received: ["old stale", "new"]))
        ear.leave()
    }

    /// urql pull request 3909: every second reexecution got through.
    @Test(arguments: ExchangeDriver.allCases, 1...4)
    func reexecutingInFlightSendsNoSecondOperation(_ way: ExchangeDriver, _ times: Int) async {
        let fixture = way.fixture([DedupExchange()])
        let ear = fixture.listen()
        for _ in 0..<times { fixture.runAgain() }
        await fixture.answer(1)
        #expect(await fixture.has(ear, received: ["1"]))
        #expect(fixture.requestedKinds == ["query"])
        ear.leave()
    }

    /// If an exchange makes a network query read from a store, its subscriber receives the result, even beside a cache-only
    /// subscriber, and the next query is not blocked.
    @Test(arguments: ExchangeDriver.allCases) func resultArrivesEvenIfAnExchangeChangesThePolicy(_ way: ExchangeDriver)
        async
    {
        let fixture = way.fixture([DedupExchange(), ReadingExchange()], isCounting: true)
        let reading = fixture.listen(.query, .cacheOnly)
        #expect(await fixture.has(reading, received: ["1"]))
        for number in 2...4 {
            let listener = fixture.listen(.query, .networkOnly)
            #expect(await fixture.has(listener, received: ["\(number)"]))
            listener.leave()
        }
        reading.leave()
    }

    // MARK: - Synchronous results

    /// Defect D2 of the original: the result never reached its subscriber.
    @Test(arguments: ExchangeDriver.allCases) func storedResultReachesTheNextSubscriber(_ way: ExchangeDriver) async {
        let fixture = way.fixture([DedupExchange(), CacheExchange()], isCounting: true)
        for _ in 0..<3 {
            let ear = fixture.listen()
            #expect(await fixture.has(ear, received: ["1"]))
            ear.leave()
            await fixture.settle()
        }
        #expect(fixture.requestedKinds == ["query"])
    }

    /// Defect D3 of the original: the same for mutations.
    @Test(arguments: ExchangeDriver.allCases) func synchronousMutationResultReachesTheSubscriber(_ way: ExchangeDriver)
        async
    {
        let fixture = way.fixture([DedupExchange()], isCounting: true)
        for number in 1...2 {
            let ear = fixture.listen(.mutation)
            #expect(await fixture.has(ear, received: ["\(number)"]))
            while !ear.isOver { await Task.yield() }
        }
        #expect(fixture.requestedKinds == ["mutation", "mutation"])
    }

    // MARK: - Sharing

    @Test(arguments: ExchangeDriver.allCases, [Operation.Policy.cacheFirst, .networkOnly])
    func lateSubscriberMakesTheLastResultStaleForBothSubscribers(_ way: ExchangeDriver, _ policy: Operation.Policy)
        async
    {
        let fixture = way.fixture([DedupExchange()])
        let one = fixture.listen(.query, policy)
        await fixture.answer(1)
        #expect(await fixture.has(one, received: ["1"]))
        let other = fixture.listen(.query, policy)
        #expect(await fixture.has(other, received: ["1 stale"]))
        await fixture.answer(2)
        #expect(await fixture.has(one, received: ["1", "1 stale", "2"]))
        #expect(await fixture.has(other, received: ["1 stale", "2"]))
        one.leave()
        other.leave()
    }

    @Test(arguments: ExchangeDriver.allCases) func resubscriberReceivesNoOldResult(_ way: ExchangeDriver) async {
        let fixture = way.fixture([DedupExchange()])
        let one = fixture.listen()
        await fixture.answer(1)
        #expect(await fixture.has(one, received: ["1"]))
        one.leave()
        let other = fixture.listen()
        await fixture.settle()
        #expect(other.texts == [])
        await fixture.answer(2)
        #expect(await fixture.has(other, received: ["2"]))
        #expect(one.texts == ["1"])
        other.leave()
    }

    @Test(arguments: ExchangeDriver.allCases) func synchronousResultIsNotPrecededByAStaleOne(_ way: ExchangeDriver)
        async
    {
        let fixture = way.fixture([DedupExchange()], isCounting: true)
        let one = fixture.listen(.query, .networkOnly)
        #expect(one.texts == ["1"])
        let other = fixture.listen(.query, .networkOnly)
        #expect(await fixture.has(one, received: ["1", "2"]))
        #expect(await fixture.has(other, received: ["2"]))
        one.leave()
        other.leave()
    }

    @Test(arguments: ExchangeDriver.allCases) func lateSubscriberReceivesTheStaleResult(_ way: ExchangeDriver) async {
        let fixture = way.fixture([])
        let one = fixture.listen()
        await fixture.answer(1, stale: true, hasNext: false)
        #expect(await fixture.has(one, received: ["1 stale"]))
        let other = fixture.listen()
        #expect(await fixture.has(other, received: ["1 stale"]))
        #expect(one.texts == ["1 stale"])
        one.leave()
        other.leave()
    }

    @Test(arguments: ExchangeDriver.allCases) func lateSubscriberReceivesOnlyNewResults(_ way: ExchangeDriver) async {
        let fixture = way.fixture([DedupExchange()])
        let one = fixture.listen(.subscription)
        await fixture.answer(1, stale: false, hasNext: true)
        #expect(await fixture.has(one, received: ["1"]))
        let other = fixture.listen(.subscription)
        await fixture.answer(2, stale: false, hasNext: true)
        #expect(await fixture.has(one, received: ["1", "2"]))
        #expect(await fixture.has(other, received: ["2"]))
        #expect(fixture.requestedKinds == ["subscription"])
        one.leave()
        other.leave()
    }

    // MARK: - End

    @Test(arguments: ExchangeDriver.allCases) func lastCancelledSubscriberEndsTheOperation(_ way: ExchangeDriver) async
    {
        let fixture = way.fixture([DedupExchange()])
        let (one, other) = (fixture.listen(.subscription), fixture.listen(.subscription))
        #expect(await fixture.hasRequested(1))
        one.leave()
        await fixture.settle()
        #expect(fixture.ended == 0)
        other.leave()
        while fixture.ended == 0 { await Task.yield() }
        #expect(fixture.ended == 1)
        // The same operation can start again.
        let again = fixture.listen(.subscription)
        #expect(await fixture.hasRequested(2))
        again.leave()
    }

    @Test(arguments: ExchangeDriver.allCases) func endedSubscriptionCanStartAgain(_ way: ExchangeDriver) async {
        let fixture = way.fixture([DedupExchange()])
        for number in 1...3 {
            let ear = fixture.listen(.subscription)
            #expect(await fixture.hasRequested(number))
            await fixture.answer("last")
            while !ear.isOver { await Task.yield() }
            #expect(ear.texts == ["last"])
        }
    }

    @Test(arguments: ExchangeDriver.allCases) func resultEndsTheMutation(_ way: ExchangeDriver) async {
        let fixture = way.fixture([DedupExchange()])
        let (one, other) = (fixture.listen(.mutation), fixture.listen(.mutation))
        #expect(await fixture.hasRequested(2))
        await fixture.answer("other")
        while !one.isOver, !other.isOver { await Task.yield() }
        #expect(other.texts == ["other"])
        #expect(one.texts.isEmpty)
        one.leave()
    }
}

/// Makes all queries read from a store.
private struct ReadingExchange: Exchange {
    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        next(operations.map { $0.kind == .query ? $0.with(policy: .cacheOnly) : $0 }.eraseToAnyPublisher())
    }
}

/// Reexecutes an operation once: a query when its first result arrives, which it marks as stale, or any operation on its way
/// down.
private struct ReexecutingExchange: Exchange {
    var onTheWayDown = false

    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        let onTheWayDown = onTheWayDown
        let isDone = Lock(false)
        func isFirst() -> Bool {
            isDone.withLock { isDone in
                defer { isDone = true }
                return !isDone
            }
        }
        let downstream = operations.handleEvents(receiveOutput: { operation in
            if onTheWayDown, operation.kind != .teardown, isFirst() { client.reexecute(operation: operation) }
        })
        return next(downstream.eraseToAnyPublisher())
            .map { result in
                guard !onTheWayDown, isFirst() else { return result }
                var result = result
                result.stale = true
                client.reexecute(operation: result.operation.with(policy: .networkOnly))
                return result
            }
            .eraseToAnyPublisher()
    }
}
