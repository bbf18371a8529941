import BeagleNetExchanges
import Testing

import struct BeagleNetExchanges.Operation

@Suite struct CacheExchangeTests {
    private func run(_ world: ExchangeWorld, _ operation: Operation, _ answer: AnyCodable? = nil) {
        world.operations.send(operation)
        if let answer { world.below.send(operation.result(answer)) }
    }

    @Test func queriesWithoutAResultGoDown() {
        let world = ExchangeWorld(CacheExchange())
        run(world, .query())
        run(world, .query())
        #expect(world.events == ["q>>", "q>>"])
    }

    @Test func cacheFirstIsAnsweredFromTheStore() {
        let world = ExchangeWorld(CacheExchange())
        run(world, .query(), "hello")
        run(world, .query())
        #expect(world.events == ["q>>", "=>hello", "=>hello"])
        #expect(world.results.map(\.stale) == [false, false])
    }

    @Test func cacheAndNetworkGivesBoth() {
        let world = ExchangeWorld(CacheExchange())
        run(world, .query("q", .cacheAndNetwork), "hello")
        run(world, .query("q", .cacheAndNetwork), "world")
        #expect(world.events == ["q>>", "=>hello", "=>hello stale", "q>>", "=>world"])
        #expect(world.results.map(\.stale) == [false, true, false])
    }

    @Test func cacheOnlyAsksNobody() {
        let world = ExchangeWorld(CacheExchange())
        world.below.send(Operation.query().result("hello"))
        run(world, .query("q", .cacheOnly))
        #expect(world.events == ["=>hello", "=>hello"])
    }

    /// Defect D5 of the original: who asked waited for ever.
    @Test func cacheOnlyWithoutAResultAnswersWithNone() {
        let world = ExchangeWorld(CacheExchange())
        run(world, .query("q", .cacheOnly))
        #expect(world.forwarded.isEmpty)
        #expect(world.results.map(\.data) == [nil])
        #expect(world.results.first?.error == nil)
        #expect(world.results.first?.stale == false)
    }

    @Test func networkOnlyAlwaysGoesDown() {
        let world = ExchangeWorld(CacheExchange())
        run(world, .query("q", .networkOnly), "hello")
        run(world, .query("q", .networkOnly), "world")
        #expect(world.events == ["q>>", "=>hello", "q>>", "=>world"])
    }

    @Test func mutationsGoDown() {
        let world = ExchangeWorld(CacheExchange())
        run(world, .mutation())
        run(world, .mutation())
        #expect(world.events == ["m>>", "m>>"])
    }

    @Test func subscriptionsGoDown() {
        let world = ExchangeWorld(CacheExchange())
        run(world, .subscription())
        run(world, .subscription())
        #expect(world.events == ["s>>", "s>>"])
    }

    @Test func mutationHasQueriesRunAgainBeforeItsOwnResult() {
        let cache = CacheExchange()
        let noted = Noted()
        let client = NotingClient { noted.world?.note("again \($0.id) \($0.policy.rawValue)") }
        let world = ExchangeWorld(cache, client)
        noted.world = world
        run(world, .query(), "hello")
        run(world, .mutation(), "much data")
        #expect(world.events == ["q>>", "=>hello", "m>>", "again q network-only", "=>much data"])
        #expect(cache.count == 0)
    }

    /// Defect D4 of the original: they were dropped without a word.
    @Test func cacheOnlyMutationAndItsTeardownGoDown() {
        let world = ExchangeWorld(CacheExchange())
        run(world, .mutation("m", .cacheOnly))
        run(world, .mutation("m", .cacheOnly).teardown())
        run(world, .query("q", .cacheOnly).teardown())
        #expect(world.forwarded.map(\.kind) == [.mutation, .teardown, .teardown])
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

    @Test func longestUnusedMakesRoom() {
        let world = ExchangeWorld(CacheExchange(limit: 2))
        run(world, .query("q1"), "1")
        run(world, .query("q2"), "2")
        run(world, .query("q1"))
        run(world, .query("q3"), "3")
        run(world, .query("q1"))
        run(world, .query("q2"))
        #expect(world.events == ["q1>>", "=>1", "q2>>", "=>2", "=>1", "q3>>", "=>3", "=>1", "q2>>"])
    }

    @Test func resultsWithErrorsAreNotStored() {
        let world = ExchangeWorld(CacheExchange())
        run(world, .query())
        world.below.send(Operation.query().result("half", error: .graphql([GraphQLError("no")])))
        run(world, .query())
        #expect(world.events == ["q>>", "=>half", "q>>"])
    }

    @Test func typesThatAnswersNameCount() {
        let client = NotingClient()
        let world = ExchangeWorld(CacheExchange(), client)
        run(world, .query("q", types: []), ["posts": [["__typename": "Post", "id": 1]]])
        run(world, .query("r", types: []), ["author": ["__typename": "Author"]])
        run(world, .mutation("m", types: []), ["addPost": ["__typename": "Post"]])
        #expect(client.reexecuted.map(\.id) == ["q"])
    }

    /// It may have read what was before the change.
    @Test func resultThatAMutationOvertookIsNotStoredAndRunAgainOnce() {
        let cache = CacheExchange()
        let client = NotingClient()
        let world = ExchangeWorld(cache, client)
        run(world, .query())
        run(world, .mutation(), "done")
        #expect(client.reexecuted.isEmpty)
        world.below.send(Operation.query().result("old"))
        #expect(cache.count == 0)
        #expect(client.reexecuted.map(\.policy) == [.networkOnly])
        run(world, .query("q", .networkOnly), "new")
        #expect(cache.count == 1)
        #expect(client.reexecuted.count == 1)
        #expect(world.events == ["q>>", "m>>", "=>done", "=>old stale", "q>>", "=>new"])
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

    @Test func clearForgetsResults() {
        let cache = CacheExchange()
        let world = ExchangeWorld(cache)
        run(world, .query(), "hello")
        cache.clear()
        run(world, .query())
        #expect(world.events == ["q>>", "=>hello", "q>>"])
    }

    @Test func answerIsOfTheOperationThatAsked() {
        let world = ExchangeWorld(CacheExchange())
        run(world, .query("q", .networkOnly), "hello")
        run(world, .query("q", .cacheFirst))
        #expect(world.results.map(\.operation.policy) == [.networkOnly, .cacheFirst])
    }

    private final class Noted: Sendable {
        // Set once, and read by the same thread.
        nonisolated(unsafe) weak var world: ExchangeWorld?
    }
}
