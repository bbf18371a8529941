import BeagleNetExchanges
import Testing

import struct BeagleNetExchanges.Operation

/// The eight tests of the original, those of urql, and defects D4 to D7 of the original.
///
/// Tests of results after their subscriber has gone, or of many results, don't depend on the position of the exchange.
/// They drive it directly.
@Suite(.timeLimit(.minutes(5))) struct CacheExchangeTests {
    private func run(_ fixture: ExchangeFixture, _ operation: Operation, _ answer: AnyCodable? = nil) {
        fixture.operations.send(operation)
        if let answer { fixture.below.send(operation.result(answer)) }
    }

    @Test(arguments: ExchangePlacement.allCases) func queriesWithoutAStoredResultAreForwarded(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(CacheExchange())
        await fixture.ask([.query(), .query()])
        #expect(fixture.events == ["q>>", "q>>"])
    }

    @Test(arguments: ExchangePlacement.allCases) func cacheFirstUsesTheStoredResult(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(CacheExchange())
        await fixture.ask(.query(), "hello")
        await fixture.ask(.query())
        #expect(fixture.events == ["q>>", "=>hello", "=>hello"])
        #expect(fixture.results.map(\.stale) == [false, false])
    }

    @Test(arguments: ExchangePlacement.allCases) func cacheAndNetworkDeliversBothResults(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(CacheExchange())
        await fixture.ask(.query("q", .cacheAndNetwork), "hello")
        await fixture.ask(.query("q", .cacheAndNetwork), "world")
        #expect(fixture.events == ["q>>", "=>hello", "=>hello stale", "q>>", "=>world"])
        #expect(fixture.results.map(\.stale) == [false, true, false])
    }

    @Test(arguments: ExchangePlacement.allCases) func cacheOnlyForwardsNothing(_ way: ExchangePlacement) async throws {
        let fixture = try way.fixture(CacheExchange())
        await fixture.ask(.query(), "hello")
        await fixture.ask(.query("q", .cacheOnly))
        #expect(fixture.events == ["q>>", "=>hello", "=>hello"])
    }

    /// From the original: an unsolicited result, which pipelines don't have.
    @Test func unsolicitedResultIsForwardedAndStored() {
        let fixture = ExchangeFixture(CacheExchange())
        fixture.below.send(Operation.query().result("hello"))
        run(fixture, .query("q", .cacheOnly))
        #expect(fixture.events == ["=>hello", "=>hello"])
    }

    /// Defect D5 of the original: the subscriber waited forever.
    @Test(arguments: ExchangePlacement.allCases) func cacheOnlyMissGivesAnEmptyResult(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(CacheExchange())
        await fixture.ask(.query("q", .cacheOnly))
        #expect(fixture.events == ["=>nil"])
        #expect(fixture.results.first?.error == nil)
        #expect(fixture.results.first?.stale == false)
    }

    @Test(arguments: ExchangePlacement.allCases) func networkOnlyIsAlwaysForwarded(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(CacheExchange())
        await fixture.ask(.query("q", .networkOnly), "hello")
        await fixture.ask(.query("q", .networkOnly), "world")
        #expect(fixture.events == ["q>>", "=>hello", "q>>", "=>world"])
    }

    @Test(arguments: ExchangePlacement.allCases) func mutationsAndSubscriptionsAreForwarded(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(CacheExchange())
        for operation in [Operation.mutation(), .subscription()] {
            await fixture.ask(operation, "first")
            await fixture.ask(operation)
        }
        #expect(fixture.events == ["m>>", "=>first", "m>>", "s>>", "=>first", "s>>"])
    }

    @Test(arguments: ExchangePlacement.allCases)
    func mutationReexecutesQueriesBeforeItsResult(_ way: ExchangePlacement) async throws {
        let cache = CacheExchange()
        let fixture = try way.fixture(cache)
        await fixture.ask(.query(), "hello")
        await fixture.ask(.mutation(), "much data")
        #expect(fixture.events == ["q>>", "=>hello", "m>>", "again q network-only", "=>much data"])
        #expect(cache.count == 0)
    }

    /// Defect D4 of the original: both were silently dropped.
    @Test(arguments: ExchangePlacement.allCases) func cacheOnlyMutationAndTeardownAreForwarded(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(CacheExchange())
        await fixture.ask(.mutation("m", .cacheOnly))
        await fixture.leave(.mutation("m", .cacheOnly))
        #expect(fixture.events == ["m>>", "m|"])
        #expect(fixture.log.forwarded.map(\.kind) == [.mutation, .teardown])
    }

    /// Defect D6 of the original: one query without a result prevented the others from being reexecuted.
    @Test func everyQueryOfTheTypesIsReexecuted() {
        let client = CallRecordingClient()
        let fixture = ExchangeFixture(CacheExchange(limit: 2), client)
        // The first result is evicted while its query is still active.
        for id in ["q1", "q2", "q3"] { run(fixture, .query(id), "hello") }
        run(fixture, .query("other", types: ["D"]))
        run(fixture, .mutation(), "done")
        #expect(client.reexecuted.map(\.id) == ["q1", "q2", "q3"])
        #expect(client.reexecuted.allSatisfy { $0.policy == .networkOnly })
    }

    /// From urql: each result of a subscription invalidates the queries of its types, as the result of a mutation does.
    @Test(arguments: ExchangePlacement.allCases) func resultsOfASubscriptionReexecuteQueries(_ way: ExchangePlacement)
        async throws
    {
        let cache = CacheExchange()
        let fixture = try way.fixture(cache)
        await fixture.ask(.query("q1"), "old")
        await fixture.ask(.query("other", types: ["D"]), "old")
        await fixture.ask(.subscription())
        await fixture.answer(Operation.subscription().result(["post": ["__typename": "A"]]))
        #expect(fixture.events.filter { $0.hasPrefix("again") } == ["again q1 network-only"])
        #expect(cache.count == 1)
    }

    /// Defect D6 as it can occur in a pipeline: a query in flight is reexecuted after its result.
    @Test(arguments: ExchangePlacement.allCases)
    func queryInFlightDoesNotPreventOthersFromReexecuting(_ way: ExchangePlacement) async throws {
        let cache = CacheExchange()
        let fixture = try way.fixture(cache)
        for id in ["q1", "q2", "q3"] { await fixture.ask(.query(id), "old") }
        await fixture.ask(.query("q2", .networkOnly))
        await fixture.ask(.mutation(), "done")
        let again = fixture.events.filter { $0.hasPrefix("again") }
        #expect(again.sorted() == ["again q1 network-only", "again q3 network-only"])
        #expect(cache.count == 0)
        await fixture.answer(Operation.query("q2", .networkOnly).result("old"))
        #expect(fixture.events.filter { $0 == "again q2 network-only" }.count == 1)
    }

    /// Defect D7 of the original: everything was kept forever.
    @Test func storeIsBounded() {
        let cache = CacheExchange(limit: 10)
        let client = CallRecordingClient()
        let fixture = ExchangeFixture(cache, client)
        for number in 0..<1_000 {
            run(fixture, .query("q\(number)"), "hello")
            run(fixture, Operation.query("q\(number)").teardown())
        }
        #expect(cache.count == 10)
        // Evicted results are forgotten.
        run(fixture, .mutation(), "done")
        #expect(client.reexecuted.count == 10)
        #expect(cache.count == 0)
    }

    @Test(arguments: ExchangePlacement.allCases) func leastRecentlyUsedResultIsEvicted(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(CacheExchange(limit: 2))
        await fixture.ask(.query("q1"), "1")
        await fixture.ask(.query("q2"), "2")
        await fixture.ask(.query("q1"))
        await fixture.ask(.query("q3"), "3")
        await fixture.ask(.query("q1"))
        await fixture.ask(.query("q2"))
        #expect(fixture.events == ["q1>>", "=>1", "q2>>", "=>2", "=>1", "q3>>", "=>3", "=>1", "q2>>"])
    }

    @Test(arguments: ExchangePlacement.allCases) func resultsWithErrorsAreNotStored(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(CacheExchange())
        await fixture.ask(.query())
        await fixture.answer(Operation.query().result("half", error: .graphql([GraphQLError("no")])))
        await fixture.ask(.query())
        #expect(fixture.events == ["q>>", "=>half", "q>>"])
    }

    /// From urql: results without data are not stored.
    @Test(arguments: ExchangePlacement.allCases) func resultsWithoutDataAreNotStored(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(CacheExchange())
        await fixture.ask(.query(), nil)
        await fixture.ask(.query())
        #expect(fixture.events == ["q>>", "=>nil", "q>>"])
    }

    @Test(arguments: ExchangePlacement.allCases) func typenamesInResultsInvalidateQueries(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(CacheExchange())
        await fixture.ask(.query("q", types: []), ["posts": [["__typename": "Post", "id": 1]]])
        await fixture.ask(.query("r", types: []), ["author": ["__typename": "Author"]])
        await fixture.ask(.mutation("m", types: []), ["addPost": ["__typename": "Post"]])
        #expect(fixture.events.filter { $0.hasPrefix("again") } == ["again q network-only"])
    }

    /// The result may have been read before the change.
    @Test(arguments: ExchangePlacement.allCases) func queryOvertakenByAMutationIsReexecutedOnce(
        _ way: ExchangePlacement
    ) async throws {
        let cache = CacheExchange()
        let fixture = try way.fixture(cache)
        await fixture.ask(.query())
        await fixture.ask(.mutation(), "done")
        await fixture.answer(Operation.query().result("old"))
        #expect(cache.count == 0)
        let events = ["q>>", "m>>", "=>done", "again q network-only", "=>old stale"]
        #expect(fixture.events.prefix(5) == events[...])
        // In a pipeline of its own, the query has been reexecuted by now.
        if way == .alone { await fixture.ask(.query("q", .networkOnly)) }
        await fixture.answer(Operation.query("q", .networkOnly).result("new"))
        #expect(cache.count == 1)
        #expect(fixture.events == events + ["q>>", "=>new"])
    }

    @Test func overtakenQueryIsNotReexecutedForever() {
        let cache = CacheExchange()
        let client = CallRecordingClient()
        let fixture = ExchangeFixture(cache, client)
        for number in 0..<2 {
            run(fixture, .query("q", .networkOnly))
            run(fixture, .mutation("m\(number)"), "done")
            fixture.below.send(Operation.query().result("old"))
        }
        #expect(cache.count == 0)
        #expect(client.reexecuted.count == 1)
        #expect(fixture.results.last?.stale == false)
    }

    @Test(arguments: ExchangePlacement.allCases) func clearRemovesStoredResults(_ way: ExchangePlacement) async throws {
        let cache = CacheExchange()
        let fixture = try way.fixture(cache)
        await fixture.ask(.query(), "hello")
        cache.clear()
        await fixture.ask(.query())
        #expect(fixture.events == ["q>>", "=>hello", "q>>"])
    }

    @Test func resultHasTheOperationThatRequestedIt() {
        let fixture = ExchangeFixture(CacheExchange())
        run(fixture, .query("q", .networkOnly), "hello")
        run(fixture, .query("q", .cacheFirst))
        #expect(fixture.results.map(\.operation.policy) == [.networkOnly, .cacheFirst])
    }
}
