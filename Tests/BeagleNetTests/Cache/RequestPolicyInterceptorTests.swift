import BeagleNet
import BeagleNetTesting
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct RequestPolicyInterceptorTests {
    private let clock = ManualClock()

    private func fixture(_ interceptor: RequestPolicyInterceptor) -> CacheFixture {
        Beagle.dependencies.clock = clock
        return CacheFixture(interceptor)
    }

    @Test func expiredResponseIsReturnedAsStaleAndRefetched() async {
        let fixture = fixture(.init(ttl: .seconds(10)))
        #expect(await fixture.results(of: .storable()) == ["1"])
        clock.advance(by: .seconds(9))
        #expect(await fixture.results(of: .storable()) == ["stored 1"])
        clock.advance(by: .seconds(1))
        fixture.respond(with: .text("2"))
        #expect(await fixture.results(of: .storable()) == ["stored 1 stale", "2"])
        #expect(await fixture.results(of: .storable()) == ["stored 2"])
        clock.advance(by: .seconds(10))
        #expect(await fixture.results(of: .storable()) == ["stored 2 stale", "2"])
        #expect(fixture.requests == 3)
    }

    @Test func defaultLimitIsFiveMinutes() async {
        let fixture = fixture(.init())
        _ = await fixture.results(of: .storable())
        clock.advance(by: .seconds(299))
        #expect(await fixture.results(of: .storable()) == ["stored 1"])
        clock.advance(by: .seconds(1))
        #expect(await fixture.results(of: .storable()) == ["stored 1 stale", "1"])
    }

    @Test func operationsOutsideTheFilterAreUnchanged() async {
        let fixture = fixture(.init(ttl: .zero) { $0.kind != .image })
        for kind in [NetworkOperation.Kind.component, .image] { _ = await fixture.results(of: .storable(kind)) }
        #expect(await fixture.results(of: .storable(.component)) == ["stored 1 stale", "1"])
        #expect(await fixture.results(of: .storable(.image)) == ["stored 1"])
    }

    @Test func operationLimitTakesPrecedence() async {
        let fixture = fixture(.init(ttl: .zero))
        _ = await fixture.results(of: .storable())
        var operation = NetworkOperation.storable()
        operation.maxAge = .seconds(10)
        clock.advance(by: .seconds(9))
        #expect(await fixture.results(of: operation) == ["stored 1"])
    }

    @Test(arguments: [RequestPolicy.cacheOnly, .networkFirst]) func otherPoliciesAreKept(policy: RequestPolicy) async {
        let fixture = fixture(.init(ttl: .zero))
        _ = await fixture.results(of: .storable())
        #expect(await fixture.results(of: .storable(.component, policy)) == [policy == .cacheOnly ? "stored 1" : "1"])
    }

    @Test func networkIsUsedIfThereIsNoStore() async throws {
        let runs = ScriptedRuns { _, _ in .init("1") }
        let client = client(RequestPolicyInterceptor(ttl: .zero), runs)
        for _ in 1...2 { #expect(try await client.run(.storable()).summary == "1") }
        #expect(runs.count == 2)
    }
}
