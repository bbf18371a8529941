import BeagleNetExchanges
import BeagleNetHTTP
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct TakeUntilTests {
    final class ReceivedValues: Sendable {
        private let events = Lock<[String]>([])

        func note(_ event: String) { events.withLock { $0.append(event) } }
        var all: [String] { events.withLock { $0 } }
    }

    private let upstream = PassthroughSubject<Int, Never>()
    private let terminator = PassthroughSubject<Void, Never>()
    private let received = ReceivedValues()

    private func watch() -> AnyCancellable {
        upstream
            .handleEvents(receiveCancel: { [received] in received.note("upstream cancelled") })
            .takeUntil(terminator.handleEvents(receiveCancel: { [received] in received.note("terminator cancelled") }))
            .sink(
                receiveCompletion: { [received] _ in received.note("finished") },
                receiveValue: { [received] in received.note("\($0)") }
            )
    }

    @Test func valuesPassUntilTheTerminatorEmits() {
        let subscription = watch()
        upstream.send(1)
        upstream.send(2)
        terminator.send(())
        upstream.send(3)
        #expect(received.all == ["1", "2", "upstream cancelled", "terminator cancelled", "finished"])
        subscription.cancel()
        #expect(received.all.count == 5)
    }

    @Test func completionOfTheUpstreamPassesThrough() {
        let subscription = watch()
        upstream.send(1)
        upstream.send(completion: .finished)
        terminator.send(())
        #expect(received.all.filter { $0 != "upstream cancelled" } == ["1", "terminator cancelled", "finished"])
        subscription.cancel()
    }

    @Test func completionOfTheTerminatorIsIgnored() {
        let subscription = watch()
        terminator.send(completion: .finished)
        upstream.send(1)
        #expect(received.all == ["1"])
        subscription.cancel()
    }

    @Test func cancellingCancelsBothPublishers() {
        watch().cancel()
        upstream.send(1)
        #expect(received.all == ["upstream cancelled", "terminator cancelled"])
    }

    @Test func synchronousTerminatorFinishesBeforeTheUpstreamStarts() {
        let subscription = upstream.takeUntil(Just(1)).sink(
            receiveCompletion: { [received] _ in received.note("finished") },
            receiveValue: { [received] in received.note("\($0)") }
        )
        #expect(received.all == ["finished"])
        subscription.cancel()
    }

    @Test func upstreamDemandEqualsTheDownstreamDemand() {
        let demanded = Atomic(0)
        let limited = Limited()
        (1...9).publisher
            .handleEvents(receiveRequest: { demand in demanded.add(demand.max ?? 1_000, ordering: .relaxed) })
            .takeUntil(terminator)
            .subscribe(limited)
        limited.want(2)
        #expect(limited.values == [1, 2])
        limited.want(1)
        #expect(limited.values == [1, 2, 3])
        #expect(demanded.load(ordering: .relaxed) == 3)
        limited.cancel()
    }

    /// One thread sends values and another one ends them. The subscriber receives one event at a time and nothing after the end.
    @Test func noValueFollowsTheEnd() async {
        for _ in 0..<50 {
            let (values, end) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Void, Never>())
            let received = ReceivedValues()
            let subscription = values.takeUntil(end).sink(
                receiveCompletion: { _ in received.note("finished") },
                receiveValue: { _ in received.note("value") }
            )
            // Any thread may send to a subject.
            nonisolated(unsafe) let (sending, ending) = (values, end)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for number in 0..<200 { sending.send(number) } }
                group.addTask { ending.send(()) }
            }
            #expect(received.all.last == "finished")
            #expect(received.all.filter { $0 == "finished" }.count == 1)
            subscription.cancel()
        }
    }

    /// Requests as many values as the test demands.
    final class Limited: Subscriber, Sendable {
        // Set once on subscribing, and used only by the test.
        nonisolated(unsafe) private var subscription: (any Subscription)?
        private let received = Lock<[Int]>([])
        let ends = Atomic(0)

        var values: [Int] { received.withLock { $0 } }
        func want(_ count: Int) { subscription?.request(.max(count)) }
        func cancel() { subscription?.cancel() }
        func receive(subscription: any Subscription) { self.subscription = subscription }

        func receive(_ input: Int) -> Subscribers.Demand {
            received.withLock { $0.append(input) }
            return .none
        }

        func receive(completion: Subscribers.Completion<Never>) { ends.add(1, ordering: .relaxed) }
    }
}
