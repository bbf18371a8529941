import BeagleNetExchanges
import Testing

import struct BeagleNetExchanges.Operation

/// The original's eight tests, urql's, and defects D4 to D7 of the original.
///
/// Those of what is stored after who asked has gone, and of many, hold wherever the exchange stands: they drive it directly.
@Suite(.timeLimit(.minutes(1))) struct CacheExchangeTests {
    private func run(_ world: ExchangeWorld, _ operation: Operation, _ answer: AnyCodable? = nil) {
        world.operations.send(operation)
        if let answer { world.below.send(operation.result(answer)) }
    }

    @Test(arguments: LadderWay.allCases) func queriesWithoutAResultGoDown(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask([.query(), .query()])
        #expect(world.events == ["q>>", "q>>"])
    }

    @Test(arguments: LadderWay.allCases) func cacheFirstIsAnsweredFromTheStore(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query(), "hello")
        await world.ask(.query())
        #expect(world.events == ["q>>", "=>hello", "=>hello"])
        #expect(world.results.map(\.stale) == [false, false])
    }

    @Test(arguments: LadderWay.allCases) func cacheAndNetworkGivesBoth(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query("q", .cacheAndNetwork), "hello")
        await world.ask(.query("q", .cacheAndNetwork), "world")
        #expect(world.events == ["q>>", "=>hello", "=>hello stale", "q>>", "=>world"])
        #expect(world.results.map(\.stale) == [false, true, false])
    }

    @Test(arguments: LadderWay.allCases) func cacheOnlyAsksNobody(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query(), "hello")
        await world.ask(.query("q", .cacheOnly))
        #expect(world.events == ["q>>", "=>hello", "=>hello"])
    }

    /// The original's: a result that nobody asked for. A pipeline has none.
    @Test func resultOfNobodysPassesAndIsStored() {
        let world = ExchangeWorld(CacheExchange())
        world.below.send(Operation.query().result("hello"))
        run(world, .query("q", .cacheOnly))
        #expect(world.events == ["=>hello", "=>hello"])
    }

    /// Defect D5 of the original: who asked waited for ever.
    @Test(arguments: LadderWay.allCases) func cacheOnlyWithoutAResultAnswersWithNone(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query("q", .cacheOnly))
        #expect(world.events == ["=>nil"])
        #expect(world.results.first?.error == nil)
        #expect(world.results.first?.stale == false)
    }

    @Test(arguments: LadderWay.allCases) func networkOnlyAlwaysGoesDown(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query("q", .networkOnly), "hello")
        await world.ask(.query("q", .networkOnly), "world")
        #expect(world.events == ["q>>", "=>hello", "q>>", "=>world"])
    }

    @Test(arguments: LadderWay.allCases) func mutationsAndSubscriptionsGoDown(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        for operation in [Operation.mutation(), .subscription()] {
            await world.ask(operation, "first")
            await world.ask(operation)
        }
        #expect(world.events == ["m>>", "=>first", "m>>", "s>>", "=>first", "s>>"])
    }

    @Test(arguments: LadderWay.allCases) func mutationHasQueriesRunAgainBeforeItsOwnResult(_ way: LadderWay)
        async throws
    {
        let cache = CacheExchange()
        let world = try way.world(cache)
        await world.ask(.query(), "hello")
        await world.ask(.mutation(), "much data")
        #expect(world.events == ["q>>", "=>hello", "m>>", "again q network-only", "=>much data"])
        #expect(cache.count == 0)
    }

    /// Defect D4 of the original: they were dropped without a word.
    @Test(arguments: LadderWay.allCases) func cacheOnlyMutationAndItsTeardownGoDown(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.mutation("m", .cacheOnly))
        await world.leave(.mutation("m", .cacheOnly))
        #expect(world.events == ["m>>", "m|"])
        #expect(world.log.forwarded.map(\.kind) == [.mutation, .teardown])
    }

    /// Defect D6 of the original: one query without a result kept the rest from being run again.
    @Test func everyQueryOfTheTypesIsRunAgain() {
        let client = NotingClient()
        let world = ExchangeWorld(CacheExchange(limit: 2), client)
        // The first has to make room, and is waited for.
        for id in ["q1", "q2", "q3"] { run(world, .query(id), "hello") }
        run(world, .query("other", types: ["D"]))
        run(world, .mutation(), "done")
        #expect(client.reexecuted.map(\.id) == ["q1", "q2", "q3"])
        #expect(client.reexecuted.allSatisfy { $0.policy == .networkOnly })
    }

    /// urql's: each result of a subscription makes queries of its types stale, as that of a mutation does.
    @Test(arguments: LadderWay.allCases) func resultsOfASubscriptionHaveQueriesRunAgain(_ way: LadderWay) async throws {
        let cache = CacheExchange()
        let world = try way.world(cache)
        await world.ask(.query("q1"), "old")
        await world.ask(.query("other", types: ["D"]), "old")
        await world.ask(.subscription())
        await world.answer(Operation.subscription().result(["post": ["__typename": "A"]]))
        #expect(world.events.filter { $0.hasPrefix("again") } == ["again q1 network-only"])
        #expect(cache.count == 1)
    }

    /// Defect D6 where it can come about in a pipeline: one is under way, and is run again when it has come.
    @Test(arguments: LadderWay.allCases) func oneWithoutAResultKeepsNoOthersFromBeingRunAgain(_ way: LadderWay)
        async throws
    {
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

    /// Defect D7 of the original: everything was kept for ever.
    @Test func storeIsBounded() {
        let cache = CacheExchange(limit: 10)
        let client = NotingClient()
        let world = ExchangeWorld(cache, client)
        for number in 0..<1_000 {
            run(world, .query("q\(number)"), "hello")
            run(world, Operation.query("q\(number)").teardown())
        }
        #expect(cache.count == 10)
        // Those that made room are not known any more.
        run(world, .mutation(), "done")
        #expect(client.reexecuted.count == 10)
        #expect(cache.count == 0)
    }

    @Test(arguments: LadderWay.allCases) func longestUnusedMakesRoom(_ way: LadderWay) async throws {
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

    /// urql's: what has no data is not stored.
    @Test(arguments: LadderWay.allCases) func resultsWithoutDataAreNotStored(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query(), nil)
        await world.ask(.query())
        #expect(world.events == ["q>>", "=>nil", "q>>"])
    }

    @Test(arguments: LadderWay.allCases) func typesThatAnswersNameCount(_ way: LadderWay) async throws {
        let world = try way.world(CacheExchange())
        await world.ask(.query("q", types: []), ["posts": [["__typename": "Post", "id": 1]]])
        await world.ask(.query("r", types: []), ["author": ["__typename": "Author"]])
        await world.ask(.mutation("m", types: []), ["addPost": ["__typename": "Post"]])
        #expect(world.events.filter { $0.hasPrefix("again") } == ["again q network-only"])
    }

    /// It may have read what was before the change.
    @Test(arguments: LadderWay.allCases) func resultThatAMutationOvertookIsRunAgainOnce(_ way: LadderWay) async throws {
        let cache = CacheExchange()
        let world = try way.world(cache)
        await world.ask(.query())
        await world.ask(.mutation(), "done")
        await world.answer(Operation.query().result("old"))
        #expect(cache.count == 0)
        let events = ["q>>", "m>>", "=>done", "again q network-only", "=>old stale"]
        #expect(world.events.prefix(5) == events[...])
        // In a ladder that is all of one it is run again by now.
        if way == .alone { await world.ask(.query("q", .networkOnly)) }
        await world.answer(Operation.query("q", .networkOnly).result("new"))
        #expect(cache.count == 1)
        #expect(world.events == events + ["q>>", "=>new"])
    }

    @Test func resultIsNotRunAgainForEver() {
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

    @Test(arguments: LadderWay.allCases) func clearForgetsResults(_ way: LadderWay) async throws {
        let cache = CacheExchange()
        let world = try way.world(cache)
        await world.ask(.query(), "hello")
        cache.clear()
        await world.ask(.query())
        #expect(world.events == ["q>>", "=>hello", "q>>"])
    }

    @Test func answerIsOfTheOperationThatAsked() {
        let world = ExchangeWorld(CacheExchange())
        run(world, .query("q", .networkOnly), "hello")
        run(world, .query("q", .cacheFirst))
        #expect(world.results.map(\.operation.policy) == [.networkOnly, .cacheFirst])
    }
}
