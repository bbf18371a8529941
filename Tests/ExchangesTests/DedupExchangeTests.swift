import BeagleNetExchanges
import Testing

import struct BeagleNetExchanges.Operation

/// The first five tests are those of the original, the others come from urql.
@Suite(.timeLimit(.minutes(5))) struct DedupExchangeTests {
    private let q = Operation.query()
    private let m = Operation.mutation()
    private let s = Operation.subscription()

    @Test(arguments: ExchangePlacement.allCases) func queryIsForwarded(_ way: ExchangePlacement) async throws {
        let fixture = try way.fixture(DedupExchange())
        await fixture.ask(q)
        #expect(fixture.events == ["q>>"])
    }

    @Test(arguments: ExchangePlacement.allCases) func duplicateQueryInFlightIsNotForwarded(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(DedupExchange())
        await fixture.ask([q, q])
        #expect(fixture.events == ["q>>"])
    }

    @Test(arguments: ExchangePlacement.allCases) func queryIsForwardedAgainAfterItsResult(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(DedupExchange())
        await fixture.ask(q, "hello")
        await fixture.ask(q, "again")
        #expect(fixture.events == ["q>>", "=>hello", "q>>", "=>again"])
    }

    @Test(arguments: ExchangePlacement.allCases) func queryIsForwardedAgainAfterATeardown(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(DedupExchange())
        await fixture.ask(q)
        await fixture.leave(q)
        await fixture.ask(q)
        #expect(fixture.events == ["q>>", "q|", "q>>"])
    }

    @Test(arguments: ExchangePlacement.allCases) func mutationsAreAlwaysForwarded(_ way: ExchangePlacement) async throws
    {
        let fixture = try way.fixture(DedupExchange())
        await fixture.ask([m, m])
        #expect(fixture.events == ["m>>", "m>>"])
    }

    @Test(arguments: ExchangePlacement.allCases) func cacheOnlyDoesNotEndTheQueryInFlight(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(DedupExchange())
        let reading = Operation.query("q", .cacheOnly)
        await fixture.ask([q, reading])
        await fixture.answer(reading.result(nil))
        await fixture.ask(q)
        #expect(fixture.events == ["q>>", "q>>", "=>nil"])
    }

    @Test(arguments: ExchangePlacement.allCases) func duplicateSubscriptionIsNotForwarded(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(DedupExchange())
        await fixture.ask([s, s])
        #expect(fixture.events == ["s>>"])
    }

    @Test(arguments: ExchangePlacement.allCases) func queryIsForwardedAgainAfterAStaleResult(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(DedupExchange())
        await fixture.ask(q)
        await fixture.answer(q.result("old", stale: true))
        await fixture.ask(q)
        #expect(fixture.events == ["q>>", "=>old stale", "q>>"])
    }

    @Test(arguments: ExchangePlacement.allCases) func partialResultKeepsTheQueryInFlight(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(DedupExchange())
        await fixture.ask(q)
        var part = q.result("part")
        part.hasNext = true
        await fixture.answer(part)
        await fixture.ask(q)
        part.hasNext = false
        await fixture.answer(part)
        await fixture.ask(q)
        #expect(fixture.events == ["q>>", "=>part", "=>part", "q>>"])
    }
}
