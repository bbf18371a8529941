import BeagleNetExchanges
import BeagleNetHTTP
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct MergeTests {
    private typealias Limited = TakeUntilTests.Limited
    private let one = PassthroughSubject<Int, Never>()
    private let other = PassthroughSubject<Int, Never>()
    private let received = TakeUntilTests.ReceivedValues()

    private func watch() -> AnyCancellable {
        one.merge(with: other).sink(
            receiveCompletion: { [received] _ in received.note("finished") },
            receiveValue: { [received] in received.note("\($0)") }
        )
    }

    @Test func valuesKeepTheirOrderOfArrival() {
        let subscription = watch()
        one.send(1)
        other.send(2)
        one.send(3)
        #expect(received.all == ["1", "2", "3"])
        subscription.cancel()
        one.send(4)
        #expect(received.all.count == 3)
    }

    @Test func mergeFinishesWhenBothPublishersFinish() {
        let subscription = watch()
        one.send(completion: .finished)
        other.send(1)
        #expect(received.all == ["1"])
        other.send(completion: .finished)
        #expect(received.all == ["1", "finished"])
        subscription.cancel()
    }

    @Test func failureOfOnePublisherFailsTheMerge() {
        let (good, bad) = (PassthroughSubject<Int, NetworkError>(), PassthroughSubject<Int, NetworkError>())
        let subscription = good.merge(with: bad).sink(
            receiveCompletion: { [received] in received.note("\($0)".contains("failure") ? "failed" : "finished") },
            receiveValue: { [received] in received.note("\($0)") }
        )
        good.send(1)
        bad.send(completion: .failure(NetworkError(.other, during: .response, "no")))
        good.send(2)
        #expect(received.all == ["1", "failed"])
        subscription.cancel()
    }

    @Test func demandLimitsTheValues() {
        let limited = Limited()
        (1...3).publisher.merge(with: (11...13).publisher).subscribe(limited)
        #expect(limited.values.isEmpty)
        limited.want(1)
        #expect(limited.values == [1])
        limited.want(2)
        #expect(limited.values.count == 3)
        limited.want(3)
        #expect(limited.values.sorted() == [1, 2, 3, 11, 12, 13])
        #expect(limited.ends.load(ordering: .relaxed) == 1)
    }

    @Test func threePublishersAreMerged() {
        let third = PassthroughSubject<Int, Never>()
        let subscription = one.merge(with: other, third).sink { [received] in received.note("\($0)") }
        third.send(3)
        one.send(1)
        other.send(2)
        #expect(received.all == ["3", "1", "2"])
        subscription.cancel()
    }

    @Test func valuesFromSeveralThreadsAreNotLost() async {
        let count = Atomic(0)
        let inside = Atomic(0)
        let overlaps = Atomic(0)
        let subscription = one.merge(with: other).sink { _ in
            if inside.add(1, ordering: .relaxed).newValue > 1 { overlaps.add(1, ordering: .relaxed) }
            count.add(1, ordering: .relaxed)
            inside.subtract(1, ordering: .relaxed)
        }
        // Any thread may send to a subject.
        nonisolated(unsafe) let (one, other) = (one, other)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for number in 0..<2_000 { one.send(number) } }
            group.addTask { for number in 0..<2_000 { other.send(number) } }
        }
        #expect(count.load(ordering: .relaxed) == 4_000)
        #expect(overlaps.load(ordering: .relaxed) == 0)
        subscription.cancel()
    }
}
