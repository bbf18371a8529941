import BeagleNetExchanges
import Testing

import struct BeagleNetExchanges.Operation

/// The first five tests are those of the original, the others come from urql.
@Suite(.timeLimit(.minutes(1))) struct DedupExchangeTests {
    private let q = Operation.query()
    private let m = Operation.mutation()
    private let s = Operation.subscription()

    @Test(arguments: LadderWay.allCases) func queryIsForwarded(_ way: LadderWay) async throws {
        let world = try way.world(DedupExchange())
        await world.ask(q)
        #expect(world.events == ["q>>"])
    }

    @Test(arguments: LadderWay.allCases) func duplicateQueryInFlightIsNotForwarded(_ way: LadderWay) async throws {
        let world = try way.world(DedupExchange())
        await world.ask([q, q])
        #expect(world.events == ["q>>"])
    }

    @Test(arguments: LadderWay.allCases) func queryIsForwardedAgainAfterItsResult(_ way: LadderWay) async throws {
        let world = try way.world(DedupExchange())
        await world.ask(q, "hello")
        await world.ask(q, "again")
        #expect(world.events == ["q>>", "=>hello", "q>>", "=>again"])
    }

    @Test(arguments: LadderWay.allCases) func queryIsForwardedAgainAfterATeardown(_ way: LadderWay) async throws {
        let world = try way.world(DedupExchange())
        await world.ask(q)
        await world.leave(q)
        await world.ask(q)
        #expect(world.events == ["q>>", "q|", "q>>"])
    }

    @Test(arguments: LadderWay.allCases) func mutationsAreAlwaysForwarded(_ way: LadderWay) async throws {
        let world = try way.world(DedupExchange())
        await world.ask([m, m])
        #expect(world.events == ["m>>", "m>>"])
    }

    @Test(arguments: LadderWay.allCases) func cacheOnlyDoesNotEndTheQueryInFlight(_ way: LadderWay) async throws {
        let world = try way.world(DedupExchange())
        let reading = Operation.query("q", .cacheOnly)
        await world.ask([q, reading])
        await world.answer(reading.result(nil))
        await world.ask(q)
        #expect(world.events == ["q>>", "q>>", "=>nil"])
    }

    @Test(arguments: LadderWay.allCases) func duplicateSubscriptionIsNotForwarded(_ way: LadderWay) async throws {
        let world = try way.world(DedupExchange())
        await world.ask([s, s])
        #expect(world.events == ["s>>"])
    }

    @Test(arguments: LadderWay.allCases) func queryIsForwardedAgainAfterAStaleResult(_ way: LadderWay) async throws {
        let world = try way.world(DedupExchange())
        await world.ask(q)
        await world.answer(q.result("old", stale: true))
        await world.ask(q)
        #expect(world.events == ["q>>", "=>old stale", "q>>"])
    }

    @Test(arguments: LadderWay.allCases) func partialResultKeepsTheQueryInFlight(_ way: LadderWay) async throws {
        let world = try way.world(DedupExchange())
        await world.ask(q)
        var part = q.result("part")
        part.hasNext = true
        await world.answer(part)
        await world.ask(q)
        part.hasNext = false
        await world.answer(part)
        await world.ask(q)
        #expect(world.events == ["q>>", "=>part", "=>part", "q>>"])
    }
}
