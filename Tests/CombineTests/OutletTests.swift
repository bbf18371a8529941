@testable import BeagleNetCombine
import BeagleNetHTTP
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct OutletTests {
    /// Records values and requests the demand that the test specifies.
    final class Listener: Subscriber, Sendable {
        typealias Input = Int
        typealias Failure = NetworkError

        struct State {
            var subscription: Outlet<Int, NetworkError>?
            var values: [Int] = []
            var ends = 0
            var depth = 0
            var deepest = 0
        }

        private let state = Lock(State())
        private let onValue: @Sendable (Listener, Int) -> Subscribers.Demand

        init(_ onValue: @escaping @Sendable (Listener, Int) -> Subscribers.Demand = { _, _ in .none }) {
            self.onValue = onValue
        }

        var values: [Int] { state.withLock { $0.values } }
        var ends: Int { state.withLock { $0.ends } }
        var deepest: Int { state.withLock { $0.deepest } }

        func receive(subscription: any Subscription) {
            let outlet = subscription as? Outlet<Int, NetworkError>
            state.withLock { $0.subscription = outlet }
        }

        func receive(_ input: Int) -> Subscribers.Demand {
            state.withLock { state in
                state.values.append(input)
                state.depth += 1
                state.deepest = max(state.deepest, state.depth)
            }
            defer { state.withLock { $0.depth -= 1 } }
            return onValue(self, input)
        }

        func receive(completion: Subscribers.Completion<NetworkError>) {
            state.withLock { $0.ends += 1 }
        }

        func want(_ demand: Subscribers.Demand) { subscription?.request(demand) }
        func cancel() { subscription?.cancel() }

        private var subscription: Outlet<Int, NetworkError>? { state.withLock { $0.subscription } }
    }

    final class Token: RequestToken {
        let cancels = Atomic(0)

        func cancel() { cancels.add(1, ordering: .relaxed) }
    }

    struct World {
        let listener: Listener
        let outlet: Outlet<Int, NetworkError>
        let token = Token()
        let begun: Lock<Int>

        init(
            _ listener: Listener = Listener(),
            keeping limit: Int? = 64,
            bytes: ByteLimit<Int>? = nil,
            onDrop: @escaping @Sendable () -> Void,
            atOnce: @escaping @Sendable (Outlet<Int, NetworkError>) -> Void = { _ in }
        ) {
            self.listener = listener
            let (begun, token) = (Lock(0), token)
            self.begun = begun
            outlet = Outlet(to: listener, keeping: limit, bytes: bytes, onDrop: onDrop) { outlet in
                begun.withLock { $0 += 1 }
                atOnce(outlet)
                return token
            }
            listener.receive(subscription: outlet)
        }

        init(
            _ listener: Listener = Listener(),
            keeping limit: Int? = 64,
            bytes: ByteLimit<Int>? = nil,
            atOnce: @escaping @Sendable (Outlet<Int, NetworkError>) -> Void = { _ in }
        ) {
            self.init(listener, keeping: limit, bytes: bytes, onDrop: {}, atOnce: atOnce)
        }
    }

    @Test func workStartsWithTheFirstDemand() {
        let world = World()
        world.listener.want(.none)
        #expect(world.begun.withLock { $0 } == 0)
        world.listener.want(.max(1))
        world.listener.want(.max(1))
        #expect(world.begun.withLock { $0 } == 1)
    }

    @Test func demandLimitsTheValues() {
        let world = World()
        world.listener.want(.max(2))
        for value in 1...6 { world.outlet.send(value) }
        #expect(world.listener.values == [1, 2])
        world.outlet.finish(.finished)
        world.listener.want(.max(3))
        #expect(world.listener.values == [1, 2, 3, 4, 5])
        #expect(world.listener.ends == 0)
        world.listener.want(.max(1))
        #expect(world.listener.values == [1, 2, 3, 4, 5, 6])
        #expect(world.listener.ends == 1)
    }

    @Test func completionNeedsNoDemand() {
        let world = World()
        world.listener.want(.max(1))
        world.outlet.send(1)
        world.outlet.finish(.finished)
        world.outlet.finish(.finished)
        world.outlet.send(2)
        #expect(world.listener.values == [1])
        #expect(world.listener.ends == 1)
    }

    @Test func oldestValuesAreDroppedAtTheLimit() {
        let world = World(keeping: 3)
        world.listener.want(.max(1))
        for value in 0...9 { world.outlet.send(value) }
        world.listener.want(.unlimited)
        #expect(world.listener.values == [0, 7, 8, 9])
    }

    @Test func oldestValuesAreDroppedAtTheByteLimitButOneIsKept() {
        let world = World(bytes: ByteLimit(limit: 10) { $0 })
        world.listener.want(.max(1))
        for value in [1, 4, 5, 2, 3, 100] { world.outlet.send(value) }
        world.listener.want(.max(1))
        for value in [7, 3] { world.outlet.send(value) }
        world.listener.want(.unlimited)
        #expect(world.listener.values == [1, 100, 7, 3])
    }

    @Test func droppingIsReportedOnce() {
        let drops = Lock(0)
        let world = World(keeping: 1, onDrop: { drops.withLock { $0 += 1 } })
        world.listener.want(.max(1))
        for value in 0...1 { world.outlet.send(value) }
        #expect(drops.withLock { $0 } == 0)
        for value in 2...9 { world.outlet.send(value) }
        #expect(drops.withLock { $0 } == 1)
    }

    @Test func allValuesAreKeptWithoutALimit() {
        let world = World(keeping: nil)
        world.listener.want(.max(1))
        for value in 0..<300 { world.outlet.send(value) }
        world.listener.want(.max(100))
        for value in 300..<400 { world.outlet.send(value) }
        world.listener.want(.unlimited)
        #expect(world.listener.values == Array(0..<400))
    }

    @Test func demandDuringAValueIsServedWithoutNesting() {
        let world = World(
            Listener { listener, value in
                if value == 1 { listener.want(.max(1)) }
                return value == 2 ? .max(2) : .none
            }
        )
        world.listener.want(.max(1))
        for value in 1...9 { world.outlet.send(value) }
        #expect(world.listener.values == [1, 2, 3, 4])
        #expect(world.listener.deepest == 1)
    }

    @Test func cancellingTwiceCancelsTheTokenOnce() {
        let world = World()
        world.listener.want(.max(1))
        world.listener.cancel()
        world.listener.cancel()
        world.outlet.send(1)
        world.outlet.finish(.finished)
        world.listener.want(.unlimited)
        #expect(world.token.cancels.load(ordering: .relaxed) == 1)
        #expect(world.listener.values.isEmpty)
        #expect(world.listener.ends == 0)
        #expect(world.begun.withLock { $0 } == 1)
    }

    @Test func cancellingBeforeTheFirstDemandStartsNothing() {
        let world = World()
        world.listener.cancel()
        world.listener.want(.max(1))
        #expect(world.begun.withLock { $0 } == 0)
        #expect(world.token.cancels.load(ordering: .relaxed) == 0)
    }

    @Test func cancellingDuringAValueStopsTheRest() {
        let world = World(
            Listener { listener, value in
                if value == 2 { listener.cancel() }
                return .none
            }
        ) { outlet in
            for value in 1...4 { outlet.send(value) }
        }
        world.listener.want(.unlimited)
        #expect(world.listener.values == [1, 2])
        #expect(world.token.cancels.load(ordering: .relaxed) == 1)
    }

    @Test func cancellingAfterCompletionDoesNothing() {
        let world = World { outlet in
            outlet.send(1)
            outlet.finish(.finished)
        }
        world.listener.want(.unlimited)
        world.listener.cancel()
        #expect(world.listener.values == [1])
        #expect(world.listener.ends == 1)
        #expect(world.token.cancels.load(ordering: .relaxed) == 0)
    }

    @Test func valuesFromManyThreadsArriveOneAtATime() async {
        let worlds = (0..<200).map { _ in World(Listener { _, _ in .max(1) }) }
        await withTaskGroup(of: Void.self) { group in
            for world in worlds {
                world.listener.want(.max(2))
                for value in 0..<20 { group.addTask { world.outlet.send(value) } }
                group.addTask { world.listener.want(.max(1)) }
            }
        }
        for world in worlds {
            world.outlet.finish(.finished)
            #expect(Set(world.listener.values) == Set(0..<20))
            #expect(world.listener.values.count == 20)
            #expect(world.listener.deepest == 1)
            #expect(world.listener.ends == 1)
        }
    }
}
