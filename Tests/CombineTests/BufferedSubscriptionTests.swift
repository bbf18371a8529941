@testable import BeagleNetCombine
import BeagleNetHTTP
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct BufferedSubscriptionTests {
    /// Records values and requests the demand that the test specifies.
    final class Listener: Subscriber, Sendable {
        typealias Input = Int
        typealias Failure = NetworkError

        struct State {
            var subscription: BufferedSubscription<Int, NetworkError>?
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
            let subscription = subscription as? BufferedSubscription<Int, NetworkError>
            state.withLock { $0.subscription = subscription }
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

        private var subscription: BufferedSubscription<Int, NetworkError>? { state.withLock { $0.subscription } }
    }

    final class Token: RequestToken {
        let cancels = Atomic(0)

        func cancel() { cancels.add(1, ordering: .relaxed) }
    }

    struct Fixture {
        let listener: Listener
        let subscription: BufferedSubscription<Int, NetworkError>
        let token = Token()
        let begun: Lock<Int>

        init(
            _ listener: Listener = Listener(),
            bufferLimit limit: Int? = 64,
            bytes: ByteLimit<Int>? = nil,
            onDrop: @escaping @Sendable () -> Void,
            onSubscribe: @escaping @Sendable (BufferedSubscription<Int, NetworkError>) -> Void = { _ in }
        ) {
            self.listener = listener
            let (begun, token) = (Lock(0), token)
            self.begun = begun
            subscription = BufferedSubscription(to: listener, bufferLimit: limit, bytes: bytes, onDrop: onDrop) {
                subscription in
                begun.withLock { $0 += 1 }
                onSubscribe(subscription)
                return token
            }
            listener.receive(subscription: subscription)
        }

        init(
            _ listener: Listener = Listener(),
            bufferLimit limit: Int? = 64,
            bytes: ByteLimit<Int>? = nil,
            onSubscribe: @escaping @Sendable (BufferedSubscription<Int, NetworkError>) -> Void = { _ in }
        ) {
            self.init(listener, bufferLimit: limit, bytes: bytes, onDrop: {}, onSubscribe: onSubscribe)
        }
    }

    @Test func workStartsWithTheFirstDemand() {
        let fixture = Fixture()
        fixture.listener.want(.none)
        #expect(fixture.begun.withLock { $0 } == 0)
        fixture.listener.want(.max(1))
        fixture.listener.want(.max(1))
        #expect(fixture.begun.withLock { $0 } == 1)
    }

    @Test func demandLimitsTheValues() {
        let fixture = Fixture()
        fixture.listener.want(.max(2))
        for value in 1...6 { fixture.subscription.send(value) }
        #expect(fixture.listener.values == [1, 2])
        fixture.subscription.finish(.finished)
        fixture.listener.want(.max(3))
        #expect(fixture.listener.values == [1, 2, 3, 4, 5])
        #expect(fixture.listener.ends == 0)
        fixture.listener.want(.max(1))
        #expect(fixture.listener.values == [1, 2, 3, 4, 5, 6])
        #expect(fixture.listener.ends == 1)
    }

    @Test func completionNeedsNoDemand() {
        let fixture = Fixture()
        fixture.listener.want(.max(1))
        fixture.subscription.send(1)
        fixture.subscription.finish(.finished)
        fixture.subscription.finish(.finished)
        fixture.subscription.send(2)
        #expect(fixture.listener.values == [1])
        #expect(fixture.listener.ends == 1)
    }

    @Test func oldestValuesAreDroppedAtTheLimit() {
        let fixture = Fixture(bufferLimit: 3)
        fixture.listener.want(.max(1))
        for value in 0...9 { fixture.subscription.send(value) }
        fixture.listener.want(.unlimited)
        #expect(fixture.listener.values == [0, 7, 8, 9])
    }

    @Test func oldestValuesAreDroppedAtTheByteLimitButOneIsKept() {
        let fixture = Fixture(bytes: ByteLimit(limit: 10) { $0 })
        fixture.listener.want(.max(1))
        for value in [1, 4, 5, 2, 3, 100] { fixture.subscription.send(value) }
        fixture.listener.want(.max(1))
        for value in [7, 3] { fixture.subscription.send(value) }
        fixture.listener.want(.unlimited)
        #expect(fixture.listener.values == [1, 100, 7, 3])
    }

    @Test func droppingIsReportedOnce() {
        let drops = Lock(0)
        let fixture = Fixture(bufferLimit: 1, onDrop: { drops.withLock { $0 += 1 } })
        fixture.listener.want(.max(1))
        for value in 0...1 { fixture.subscription.send(value) }
        #expect(drops.withLock { $0 } == 0)
        for value in 2...9 { fixture.subscription.send(value) }
        #expect(drops.withLock { $0 } == 1)
    }

    @Test func allValuesAreKeptWithoutALimit() {
        let fixture = Fixture(bufferLimit: nil)
        fixture.listener.want(.max(1))
        for value in 0..<300 { fixture.subscription.send(value) }
        fixture.listener.want(.max(100))
        for value in 300..<400 { fixture.subscription.send(value) }
        fixture.listener.want(.unlimited)
        #expect(fixture.listener.values == Array(0..<400))
    }

    @Test func demandDuringAValueIsServedWithoutNesting() {
        let fixture = Fixture(
            Listener { listener, value in
                if value == 1 { listener.want(.max(1)) }
                return value == 2 ? .max(2) : .none
            }
        )
        fixture.listener.want(.max(1))
        for value in 1...9 { fixture.subscription.send(value) }
        #expect(fixture.listener.values == [1, 2, 3, 4])
        #expect(fixture.listener.deepest == 1)
    }

    @Test func cancellingTwiceCancelsTheTokenOnce() {
        let fixture = Fixture()
        fixture.listener.want(.max(1))
        fixture.listener.cancel()
        fixture.listener.cancel()
        fixture.subscription.send(1)
        fixture.subscription.finish(.finished)
        fixture.listener.want(.unlimited)
        #expect(fixture.token.cancels.load(ordering: .relaxed) == 1)
        #expect(fixture.listener.values.isEmpty)
        #expect(fixture.listener.ends == 0)
        #expect(fixture.begun.withLock { $0 } == 1)
    }

    @Test func cancellingBeforeTheFirstDemandStartsNothing() {
        let fixture = Fixture()
        fixture.listener.cancel()
        fixture.listener.want(.max(1))
        #expect(fixture.begun.withLock { $0 } == 0)
        #expect(fixture.token.cancels.load(ordering: .relaxed) == 0)
    }

    @Test func cancellingDuringAValueStopsTheRest() {
        let fixture = Fixture(
            Listener { listener, value in
                if value == 2 { listener.cancel() }
                return .none
            }
        ) { subscription in
            for value in 1...4 { subscription.send(value) }
        }
        fixture.listener.want(.unlimited)
        #expect(fixture.listener.values == [1, 2])
        #expect(fixture.token.cancels.load(ordering: .relaxed) == 1)
    }

    @Test func cancellingAfterCompletionDoesNothing() {
        let fixture = Fixture { subscription in
            subscription.send(1)
            subscription.finish(.finished)
        }
        fixture.listener.want(.unlimited)
        fixture.listener.cancel()
        #expect(fixture.listener.values == [1])
        #expect(fixture.listener.ends == 1)
        #expect(fixture.token.cancels.load(ordering: .relaxed) == 0)
    }

    @Test func valuesFromManyThreadsArriveOneAtATime() async {
        let fixtures = (0..<200).map { _ in Fixture(Listener { _, _ in .max(1) }) }
        await withTaskGroup(of: Void.self) { group in
            for fixture in fixtures {
                fixture.listener.want(.max(2))
                for value in 0..<20 { group.addTask { fixture.subscription.send(value) } }
                group.addTask { fixture.listener.want(.max(1)) }
            }
        }
        for fixture in fixtures {
            fixture.subscription.finish(.finished)
            #expect(Set(fixture.listener.values) == Set(0..<20))
            #expect(fixture.listener.values.count == 20)
            #expect(fixture.listener.deepest == 1)
            #expect(fixture.listener.ends == 1)
        }
    }
}
