import BeagleNetExchanges
import Testing

import struct BeagleNetExchanges.Operation

/// The eight tests of the original, those of urql, and defects D4 to D7 of the original.
///
/// Tests of results after their subscriber has gone, or of many results, don't depend on the position of the exchange.
/// They drive it directly.
@Suite(.timeLimit(.minutes(1))) struct CacheExchangeTests {
    private func run(_ world: ExchangeWorld, _ operation: Operation, _ answer: AnyCodable? = nil) {
        world.operations.send(operation)
        if let answer { world.below.send(operation.result(answer)) }
    }

    @Test(arguments: LadderWay.allCases) func queriesWithoutAStoredResultAreForwarded(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask([.query(), .query()])
        #expect(world.events == ["q>>", "q>>"])
    }

    @Test(arguments: LadderWay.allCases) func cacheFirstUsesTheStoredResult(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query(), "hello")
        await world.ask(.query())
        #expect(world.events == ["q>>", "=>hello", "=>hello"])
        #expect(world.results.map(\.stale) == [false, false])
    }

    @Test(arguments: LadderWay.allCases) func cacheAndNetworkDeliversBothResults(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query("q", .cacheAndNetwork), "hello")
        await world.ask(.query("q", .cacheAndNetwork), "world")
        #expect(world.events == ["q>>", "=>hello", "=>hello stale", "q>>", "=>world"])
        #expect(world.results.map(\.stale) == [false, true, false])
    }

    @Test(arguments: LadderWay.allCases) func cacheOnlyForwardsNothing(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query(), "hello")
        await world.ask(.query("q", .cacheOnly))
        #expect(world.events == ["q>>", "=>hello", "=>hello"])
    }

    /// From the original: an unsolicited result. A pipeline has none.
    @Test func unsolicitedResultIsForwardedAndStored() {
        let world = ExchangeWorld(CacheExchange())
        world.below.send(Operation.query().result("hello"))
        run(world, .query("q", .cacheOnly))
        #expect(world.events == ["=>hello", "=>hello"])
    }

    /// Defect D5 of the original: the subscriber waited forever.
    @Test(arguments: LadderWay.allCases) func cacheOnlyMissGivesAnEmptyResult(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query("q", .cacheOnly))
        #expect(world.events == ["=>nil"])
        #expect(world.results.first?.error == nil)
        #expect(world.results.first?.stale == false)
    }

    @Test(arguments: LadderWay.allCases) func networkOnlyIsAlwaysForwarded(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query("q", .networkOnly), "hello")
        await world.ask(.query("q", .networkOnly), "world")
        #expect(world.events == ["q>>", "=>hello", "q>>", "=>world"])
    }

    @Test(arguments: LadderWay.allCases) func mutationsAndSubscriptionsAreForwarded(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        for operation in [Operation.mutation(), .subscription()] {
            await world.ask(operation, "first")
            await world.ask(operation)
        }
        #expect(world.events == ["m>>", "=>first", "m>>", "s>>", "=>first", "s>>"])
    }

    @Test(arguments: LadderWay.allCases)
    func mutationReexecutesQueriesBeforeItsResult(_ way: LadderWay) async throws {
        let cache = CacheExchange()
        let world = try way.world(cache)
        await world.ask(.query(), "hello")
        await world.ask(.mutation(), "much data")
        #expect(world.events == ["q>>", "=>hello", "m>>", "again q network-only", "=>much data"])
        #expect(cache.count == 0)
    }

    /// Defect D4 of the original: both were silently dropped.
    @Test(arguments: LadderWay.allCases) func cacheOnlyMutationAndTeardownAreForwarded(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.mutation("m", .cacheOnly))
        await world.leave(.mutation("m", .cacheOnly))
        #expect(world.events == ["m>>", "m|"])
        #expect(world.log.forwarded.map(\.kind) == [.mutation, .teardown])
    }

    /// Defect D6 of the original: one query without a result prevented the others from being reexecuted.
    @Test func everyQueryOfTheTypesIsReexecuted() {
        let client = NotingClient()
        let world = ExchangeWorld(CacheExchange(limit: 2), client)
        // The first result is evicted while its query is still active.
        for id in ["q1", "q2", "q3"] { run(world, .query(id), "hello") }
        run(world, .query("other", types: ["D"]))
        run(world, .mutation(), "done")
        #expect(client.reexecuted.map(\.id) == ["q1", "q2", "q3"])
        #expect(client.reexecuted.allSatisfy { $0.policy == .networkOnly })
    }

    /// From urql: each result of a subscription invalidates the queries of its types, as the result of a mutation does.
    @Test(arguments: LadderWay.allCases) func resultsOfASubscriptionReexecuteQueries(_ way: LadderWay) async throws {
        let cache = CacheExchange()
        let world = try way.world(cache)
        await world.ask(.query("q1"), "old")
        await world.ask(.query("other", types: ["D"]), "old")
        await world.ask(.subscription())
        await world.answer(Operation.subscription().result(["post": ["__typename": "A"]]))
        #expect(world.events.filter { $0.hasPrefix("again") } == ["again q1 network-only"])
        #expect(cache.count == 1)
    }

    /// Defect D6 as it can occur in a pipeline: a query in flight is reexecuted after its result.
    @Test(arguments: LadderWay.allCases)
    func queryInFlightDoesNotPreventOthersFromReexecuting(_ way: LadderWay) async throws {
        let cache = CacheExchange()
        let world = try way.world(cache)
        for id in ["q1", "q2", "q3"] { await world.ask(.query(id), "old") }
        await world.ask(.query("q2", .networkOnly))
        await world.ask(.mutation(), "done")
        let again = world.events.filter { $0.hasPrefix("again") }
        #expect(again.sorted() == ["again q1 network-only", "again q3 network-only"])
        #expect(cache.count == 0)
        await world.answer(Operation.query("q2", .networkOnly).result("old"))
        #expect(world.events.filter { $0 == "again q2 network-only" }.count == 1)
    }

    /// Defect D7 of the original: everything was kept forever.
    @Test func storeIsBounded() {
        let cache = CacheExchange(limit: 10)
        let client = NotingClient()
        let world = ExchangeWorld(cache, client)
        for number in 0..<1_000 {
            run(world, .query("q\(number)"), "hello")
            run(world, Operation.query("q\(number)").teardown())
        }
        #expect(cache.count == 10)
        // Evicted results are forgotten.
        run(world, .mutation(), "done")
        #expect(client.reexecuted.count == 10)
        #expect(cache.count == 0)
    }

    @Test(arguments: LadderWay.allCases) func leastRecentlyUsedResultIsEvicted(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange(limit: 2))
        await world.ask(.query("q1"), "1")
        await world.ask(.query("q2"), "2")
        await world.ask(.query("q1"))
        await world.ask(.query("q3"), "3")
        await world.ask(.query("q1"))
        await world.ask(.query("q2"))
        #expect(world.events == ["q1>>", "=>1", "q2>>", "=>2", "=>1", "q3>>", "=>3", "=>1", "q2>>"])
    }

    @Test(arguments: LadderWay.allCases) func resultsWithErrorsAreNotStored(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query())
        await world.answer(Operation.query().result("half", error: .graphql([GraphQLError("no")])))
        await world.ask(.query())
        #expect(world.events == ["q>>", "=>half", "q>>"])
    }

    /// From urql: results without data are not stored.
    @Test(arguments: LadderWay.allCases) func resultsWithoutDataAreNotStored(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query(), nil)
        await world.ask(.query())
        #expect(world.events == ["q>>", "=>nil", "q>>"])
    }

    @Test(arguments: LadderWay.allCases) func typenamesInResultsInvalidateQueries(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query("q", types: []), ["posts": [["__typename": "Post", "id": 1]]])
        await world.ask(.query("r", types: []), ["author": ["__typename": "Author"]])
        await world.ask(.mutation("m", types: []), ["addPost": ["__typename": "Post"]])
        #expect(world.events.filter { $0.hasPrefix("again") } == ["again q network-only"])
    }

    /// The result may have been read before the change.
    @Test(arguments: LadderWay.allCases) func queryOvertakenByAMutationIsReexecutedOnce(_ way: LadderWay) async throws {
        let cache = CacheExchange()
        let world = try way.world(cache)
        await world.ask(.query())
        await world.ask(.mutation(), "done")
        await world.answer(Operation.query().result("old"))
        #expect(cache.count == 0)
        let events = ["q>>", "m>>", "=>done", "again q network-only", "=>old stale"]
        #expect(world.events.prefix(5) == events[...])
        // In a pipeline of its own, the query has been reexecuted by now.
        if way == .alone { await world.ask(.query("q", .networkOnly)) }
        await world.answer(Operation.query("q", .networkOnly).result("new"))
        #expect(cache.count == 1)
        #expect(world.events == events + ["q>>", "=>new"])
    }

    @Test func overtakenQueryIsNotReexecutedForever() {
        let cache = CacheExchange()
        let client = NotingClient()
        let world = ExchangeWorld(cache, client)
        for number in 0..<2 {
            run(world, .query("q", .networkOnly))
            run(world, .mutation("m\(number)"), "done")
            world.below.send(Operation.query().result("old"))
        }
        #expect(cache.count == 0)
        #expect(client.reexecuted.count == 1)
        #expect(world.results.last?.stale == false)
    }

    @Test(arguments: LadderWay.allCases) func clearRemovesStoredResults(_ way: LadderWay) async throws {
        let cache = CacheExchange()
        let world = try way.world(cache)
        await world.ask(.query(), "hello")
        cache.clear()
        await world.ask(.query())
        #expect(world.events == ["q>>", "=>hello", "q>>"])
    }

    @Test func resultHasTheOperationThatRequestedIt() {
        let world = ExchangeWorld(CacheExchange())
        run(world, .query("q", .networkOnly), "hello")
        run(world, .query("q", .cacheFirst))
        #expect(world.results.map(\.operation.policy) == [.networkOnly, .cacheFirst])
    }
}
