import BeagleNet
import BeagleNetTesting
import Testing

@Suite(.beagle(), .timeLimit(.minutes(1))) struct RequestPolicyInterceptorTests {
    private let clock = ManualClock()

    private func world(_ interceptor: RequestPolicyInterceptor) -> StoreWorld {
        Beagle.dependencies.clock = clock
        return StoreWorld(interceptor)
    }

    @Test func expiredResponseIsReturnedAsStaleAndRefetched() async {
        let world = world(.init(ttl: .seconds(10)))
        #expect(await world.heard(.asking()) == ["1"])
        clock.advance(by: .seconds(9))
        #expect(await world.heard(.asking()) == ["stored 1"])
        clock.advance(by: .seconds(1))
        world.answers(.text("2"))
        #expect(await world.heard(.asking()) == ["stored 1 stale", "2"])
        #expect(await world.heard(.asking()) == ["stored 2"])
        clock.advance(by: .seconds(10))
        #expect(await world.heard(.asking()) == ["stored 2 stale", "2"])
        #expect(world.requests == 3)
    }

    @Test func defaultLimitIsFiveMinutes() async {
        let world = world(.init())
        _ = await world.heard(.asking())
        clock.advance(by: .seconds(299))
        #expect(await world.heard(.asking()) == ["stored 1"])
        clock.advance(by: .seconds(1))
        #expect(await world.heard(.asking()) == ["stored 1 stale", "1"])
    }

    @Test func operationsOutsideTheFilterAreUnchanged() async {
        let world = world(.init(ttl: .zero) { $0.kind != .image })
        for kind in [NetworkOperation.Kind.component, .image] { _ = await world.heard(.asking(kind)) }
        #expect(await world.heard(.asking(.component)) == ["stored 1 stale", "1"])
        #expect(await world.heard(.asking(.image)) == ["stored 1"])
    }

    @Test func operationLimitTakesPrecedence() async {
        let world = world(.init(ttl: .zero))
        _ = await world.heard(.asking())
        var operation = NetworkOperation.asking()
        operation.maxAge = .seconds(10)
        clock.advance(by: .seconds(9))
        #expect(await world.heard(operation) == ["stored 1"])
    }

    @Test(arguments: [RequestPolicy.cacheOnly, .networkFirst]) func otherPoliciesAreKept(policy: RequestPolicy) async {
        let world = world(.init(ttl: .zero))
        _ = await world.heard(.asking())
        #expect(await world.heard(.asking(.component, policy)) == [policy == .cacheOnly ? "stored 1" : "1"])
    }

    @Test func networkIsUsedIfThereIsNoStore() async throws {
        let runs = ScriptedRuns { _, _ in .init("1") }
        let client = client(RequestPolicyInterceptor(ttl: .zero), runs)
        for _ in 1...2 { #expect(try await client.run(.asking()).told == "1") }
        #expect(runs.count == 2)
    }
}
