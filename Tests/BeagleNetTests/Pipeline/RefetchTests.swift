import BeagleNet
import BeagleNetTesting
import Testing
import TestClients

@Suite("refetching on events", .beagle(), .timeLimit(.minutes(5))) struct RefetchTests {
    private let clock = ManualClock()
    private let events = AsyncStream.makeStream(of: Void.self)

    private func fixture() -> CacheFixture {
        Beagle.dependencies.clock = clock
        return CacheFixture()
    }

    @Test func eventRefetchesWatchedOperations() async {
        let fixture = fixture()
        let received = EventRecorder()
        fixture.client.watch(.storable(), received.receive)
        await received.waitForEvents(1)
        fixture.client.refetch(on: events.stream)
        fixture.respond(with: .text("2"))
        events.continuation.yield()
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .milliseconds(250))
        clock.advance(by: .milliseconds(250))
        await received.waitForEvents(3)
        #expect(received.all == ["1", "1 stale", "2"])
        #expect(fixture.requests == 2)
    }

    @Test func networkOnlyFollowerReceivesNoStoredResponse() async {
        let runs = ScriptedRuns()
        let client = client(runs)
        let received = EventRecorder()
        client.watch(.storable(), received.receive)
        let first = await runs.next()
        let task = Task { try await client.run(.storable(.component, .networkOnly)) }
        while client.activeSubscribers < 2 { await Task.yield() }
        client.refetch(.cacheFirst, afterRun: true)
        first.finish("stored", from: .cache)
        await runs.next().finish("2")
        _ = await task.result
        #expect(runs.policies == [.cacheFirst, .networkOnly])
    }

    @Test func eachOfTwoEventStreamsRefetches() async {
        let fixture = fixture()
        let others = AsyncStream.makeStream(of: Void.self)
        let received = EventRecorder()
        fixture.client.watch(.storable(), received.receive)
        await received.waitForEvents(1)
        fixture.client.refetch(on: events.stream)
        fixture.client.refetch(on: others.stream, .networkOnly, gathering: .seconds(1))
        for (number, (continuation, wait)) in [
            (events.continuation, Duration.milliseconds(250)), (others.continuation, .seconds(1)),
        ].enumerated() {
            continuation.yield()
            await clock.waitForSleepers(1)
            clock.advance(by: wait)
            await received.waitForEvents(3 + 2 * number)
        }
        #expect(received.all == ["1", "1 stale", "1", "1 stale", "1"])
        #expect(fixture.requests == 3)
    }

    @Test func burstOfEventsCausesOneRefetch() async {
        // A request for the next event shows that the previous one was handled.
        let notifications = AsyncStream.makeStream(of: Void.self)
        var questions = notifications.stream.makeAsyncIterator()
        let given = events
        let stream = AsyncStream<Void> {
            notifications.continuation.yield()
            for await _ in given.stream { return }
            return nil
        }
        let runs = ScriptedRuns()
        Beagle.dependencies.clock = clock
        let client = client(runs)
        let received = EventRecorder()
        client.watch(.storable(), received.receive)
        await runs.next().finish("1")
        await received.waitForEvents(1)
        client.refetch(on: stream, gathering: .seconds(1))
        await questions.next()
        for round in 1...3 {
            for _ in 1...5 {
                events.continuation.yield()
                await questions.next()
                await clock.waitForSleepers(1)
                clock.advance(by: .milliseconds(150))
            }
            clock.advance(by: .milliseconds(250))
            await runs.next().finish("\(round)")
            await received.waitForEvents(1 + 2 * round)
            #expect(clock.nextWait == nil)
            #expect(runs.count == 1 + round)
        }
        #expect(runs.policies.dropFirst().allSatisfy { $0 == .cacheAndNetwork })
        events.continuation.finish()
    }

    @Test func anEventDuringARunIsNotLost() async {
        Beagle.dependencies.clock = clock
        let runs = ScriptedRuns()
        let client = client(runs)
        let received = EventRecorder()
        client.watch(.storable(), received.receive)
        let run = await runs.next()
        client.refetch(on: events.stream)
        events.continuation.yield()
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(250))
        events.continuation.finish()
        while client.listeners > 0 { await Task.yield() }
        run.finish("1")
        await runs.next().finish("2")
        await received.waitForEvents(3)
        #expect(received.all == ["1", "1 stale", "2"])
    }

    private enum Caller {
        @TaskLocal static var name = "anonymous"
    }

    @Test func refetchHasTheCallersScopeButNotItsTaskLocals() async {
        Beagle.dependencies.clock = clock
        let seen = Lock<[String]>([])
        let runs = ScriptedRuns { [clock] _, _ in
            let isHere = (Beagle.dependencies.clock as? ManualClock) === clock
            seen.withLock { $0.append("\(Caller.name) \(isHere)") }
            return .init("1")
        }
        let client = client(runs)
        let received = EventRecorder()
        client.watch(.storable(), received.receive)
        _ = Caller.$name.withValue("A") { client.refetch(on: events.stream) }
        events.continuation.yield()
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(250))
        await received.waitForEvents(2)
        #expect(seen.withLock { $0 } == ["anonymous true", "anonymous true"])
        withExtendedLifetime(client) {}
    }

    @Test func endedEventStreamsAreReleased() async {
        let fixture = fixture()
        for _ in 1...3 { fixture.client.refetch(on: AsyncStream { $0.finish() }) }
        let token = fixture.client.refetch(on: events.stream)
        while fixture.client.listeners > 1 { await Task.yield() }
        token.cancel()
        while fixture.client.listeners > 0 { await Task.yield() }
    }

    @Test func cacheOnlyOperationIsNotRefetched() async {
        let fixture = fixture()
        _ = await fixture.results(of: .storable())
        let (stored, other) = (EventRecorder(), EventRecorder())
        fixture.client.watch(.storable(.component, .cacheOnly), stored.receive)
        fixture.client.watch(.storable(.image), other.receive)
        await other.waitForEvents(1)
        fixture.client.refetch(on: events.stream)
        events.continuation.yield()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        await other.waitForEvents(3)
        #expect(stored.all == ["1"])
        withExtendedLifetime(fixture) {}
    }

    @Test func tokenEndsListening() async {
        let fixture = fixture()
        let received = EventRecorder()
        fixture.client.watch(.storable(), received.receive)
        await received.waitForEvents(1)
        let ended = AsyncStream.makeStream(of: Void.self)
        events.continuation.onTermination = { _ in ended.continuation.finish() }
        let token = fixture.client.refetch(on: events.stream)
        events.continuation.yield()
        await clock.waitForSleepers(1)
        token.cancel()
        for await _ in ended.stream {}
        clock.advance(by: .seconds(1))
        #expect(clock.nextWait == nil)
        #expect(received.all == ["1"])
    }

    @Test func releasingTheClientEndsListening() async {
        let ended = AsyncStream.makeStream(of: Void.self)
        events.continuation.onTermination = { _ in ended.continuation.finish() }
        weak var client: NetworkClientDefault?
        do {
            let fixture = fixture()
            client = fixture.client
            fixture.client.refetch(on: events.stream)
            events.continuation.yield()
            await clock.waitForSleepers(1)
        }
        for await _ in ended.stream {}
        #expect(client == nil)
    }
}
