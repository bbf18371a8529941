import BeagleNetExchanges
import Testing

import struct BeagleNetExchanges.Operation

@Suite struct DedupExchangeTests {
    private let world = ExchangeWorld(DedupExchange())
    private let q = Operation.query()
    private let m = Operation.mutation()
    private let s = Operation.subscription()

    private func send(_ operations: Operation...) {
        for operation in operations { world.operations.send(operation) }
    }

    private var kinds: [Operation.Kind] { world.forwarded.map(\.kind) }

    @Test func queryGoesDown() {
        send(q)
        #expect(world.forwarded == [q])
    }

    @Test func sameQueryIsKeptBackWhileItIsAnswered() {
        send(q, q)
        #expect(world.forwarded == [q])
    }

    @Test func resultClearsTheWay() {
        send(q)
        world.below.send(q.result("hello"))
        send(q)
        #expect(world.events == ["q>>", "=>hello", "q>>"])
    }

    @Test func teardownClearsTheWay() {
        send(q, q.teardown(), q)
        #expect(kinds == [.query, .teardown, .query])
    }

    @Test func mutationsAlwaysPass() {
        send(m, m)
        #expect(world.forwarded == [m, m])
    }

    @Test func cacheOnlyPassesAndClearsNoWay() {
        let reading = Operation.query("q", .cacheOnly)
        send(q, reading)
        #expect(world.forwarded == [q, reading])
        world.below.send(reading.result(nil))
        send(q)
        #expect(world.forwarded == [q, reading])
    }

    @Test func subscriptionIsKeptBackToo() {
        send(s, s)
        #expect(world.forwarded == [s])
    }

    @Test func staleResultClearsTheWay() {
        send(q)
        world.below.send(q.result("old", stale: true))
        send(q)
        #expect(world.forwarded.count == 2)
    }

    @Test func partOfAResultKeepsOthersBack() {
        send(q)
        var part = q.result("part")
        part.hasNext = true
        world.below.send(part)
        send(q)
        #expect(world.forwarded.count == 1)
        part.hasNext = false
        world.below.send(part)
        send(q)
        #expect(world.forwarded.count == 2)
    }
}
