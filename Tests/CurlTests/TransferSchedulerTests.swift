import BeagleNetHTTP
import Testing

@testable import BeagleNetCurl

/// The limits and the order of the queue, without a network.
struct TransferSchedulerTests {
    /// An admission queue of names. The first letter of a name is its origin.
    private final class Queue {
        var scheduler: TransferScheduler<String>
        var places: [String: TransferScheduler<String>.Slot] = [:]

        init(total: Int? = nil, perOrigin: Int? = nil, streams: Int? = nil) {
            scheduler = TransferScheduler(
                .init(connections: total, connectionsPerOrigin: perOrigin, streamsPerOrigin: streams)
            )
        }

        /// Returns whether the name was admitted immediately.
        @discardableResult
        func enter(_ name: String, _ priority: Priority = .normal) -> Bool {
            let place = scheduler.enter(name, scheme: "http", authority: String(name.prefix(1)), priority: priority)
            places[name] = place
            return !place.isWaiting
        }

        func leave(_ name: String) {
            places.removeValue(forKey: name).map { scheduler.leave($0) }
        }

        /// Returns all names that are admitted now.
        func next() -> [String] {
            var names: [String] = []
            while let name = scheduler.next() {
                places[name]?.takeTurn()
                names.append(name)
            }
            return names
        }

        func raise(_ name: String, to priority: Priority) {
            guard var place = places[name] else { return }
            scheduler.raise(&place, to: priority)
            places[name] = place
        }

        func recordProtocol(_ name: String, isMultiplexed: Bool) {
            places[name].map { scheduler.recordProtocol($0, isMultiplexed: isMultiplexed) }
        }
    }

    @Test func requestsDoNotWaitWithoutLimits() {
        let queue = Queue()
        #expect((1...1_000).allSatisfy { queue.enter("a\($0)") })
    }

    @Test func originAtItsLimitQueuesItsOwnRequests() {
        let queue = Queue(perOrigin: 2)
        #expect(queue.enter("a1") && queue.enter("a2"))
        #expect(!queue.enter("a3"))
        #expect(queue.next() == [])
        queue.enter("b1")
        #expect(queue.next() == ["b1"])
        queue.leave("a1")
        #expect(queue.next() == ["a3"])
    }

    @Test func totalLimitAppliesAcrossOrigins() {
        let queue = Queue(total: 2, perOrigin: 2)
        #expect(queue.enter("a1") && queue.enter("b1"))
        #expect(!queue.enter("c1"))
        queue.leave("a1")
        #expect(!queue.enter("d1"), "the free place belongs to the waiting request")
        #expect(queue.next() == ["c1"])
        queue.leave("b1")
        #expect(queue.next() == ["d1"])
    }

    @Test func higherPriorityGoesFirst() {
        let queue = Queue(perOrigin: 1)
        queue.enter("a")
        for (name, priority) in [("a1", Priority.prefetch), ("a2", .normal), ("a3", .interactive), ("a4", .normal)] {
            queue.enter(name, priority)
        }
        var order: [String] = []
        for name in ["a", "a3", "a2", "a4"] {
            queue.leave(name)
            order += queue.next()
        }
        #expect(order == ["a3", "a2", "a4", "a1"])
    }

    @Test func originsTakeTurns() {
        let queue = Queue(total: 1)
        queue.enter("z")
        for name in ["a1", "a2", "a3", "b1", "b2", "c1"] { queue.enter(name) }
        var order: [String] = []
        var last = "z"
        while order.count < 6 {
            queue.leave(last)
            last = queue.next()[0]
            order.append(last)
        }
        #expect(order == ["a1", "b1", "c1", "a2", "b2", "a3"])
    }

    @Test(arguments: [Priority.prefetch, .normal])
    func requestIsAdmittedAfterBeingPassedOverEightTimes(_ low: Priority) {
        let queue = Queue(perOrigin: 1)
        queue.enter("a")
        queue.enter("a-low", low)
        for number in 1...20 { queue.enter("a\(number)", .interactive) }
        var order: [String] = []
        var last = "a"
        while last != "a-low" {
            queue.leave(last)
            last = queue.next()[0]
            order.append(last)
        }
        #expect(order.count == 9)
    }

    @Test func raisedPriorityMovesARequestUp() {
        let queue = Queue(perOrigin: 1)
        queue.enter("a")
        queue.enter("a1", .prefetch)
        queue.enter("a2", .prefetch)
        queue.enter("a3", .normal)
        queue.raise("a2", to: .interactive)
        queue.raise("a3", to: .prefetch)
        var order: [String] = []
        for name in ["a", "a2", "a3"] {
            queue.leave(name)
            order += queue.next()
        }
        #expect(order == ["a2", "a3", "a1"])
        queue.leave("a1")
        #expect(queue.scheduler.waiting == 0)
    }

    @Test func requestThatLeftTheQueueIsNotAdmitted() {
        let queue = Queue(perOrigin: 1)
        queue.enter("a")
        for number in 1...1_000 { queue.enter("a\(number)") }
        for number in 1...999 { queue.leave("a\(number)") }
        #expect(queue.scheduler.waiting == 1)
        queue.leave("a")
        #expect(queue.next() == ["a1000"])
    }

    @Test func streamsOfAMultiplexedOriginShareConnections() {
        let queue = Queue(total: 3, perOrigin: 2, streams: 250)
        #expect(queue.enter("a1") && queue.enter("a2"))
        #expect(!queue.enter("a3"))
        queue.recordProtocol("a1", isMultiplexed: true)
        #expect(queue.next() == ["a3"])
        for number in 4...250 { #expect(queue.enter("a\(number)"), "\(number)") }
        #expect(!queue.enter("a251"))
        // 250 streams count as three connections.
        #expect(!queue.enter("b1"))
        for number in 1...160 { queue.leave("a\(number)") }
        #expect(Set(queue.next()) == ["a251", "b1"])
    }

    @Test func idleOriginsAreRemovedWhenThereAreMany() {
        var scheduler = TransferScheduler<Int>(.init(connectionsPerOrigin: 1))
        let kept = scheduler.enter(0, scheme: "http", authority: "kept", priority: .normal)
        for number in 1...10_000 {
            scheduler.leave(scheduler.enter(number, scheme: "http", authority: "\(number)", priority: .normal))
        }
        #expect(scheduler.origins.count <= 1_024)
        let waiting = scheduler.enter(1, scheme: "http", authority: "kept", priority: .normal)
        #expect(waiting.isWaiting)
        scheduler.leave(kept)
        let next = scheduler.next()
        #expect(next == 1)
    }

    /// The limits hold with random requests, and every request is admitted eventually.
    @Test func limitsHoldAndEveryRequestIsAdmitted() {
        var random = SystemRandomNumberGenerator()
        let queue = Queue(total: 5, perOrigin: 3)
        var out: Set<String> = []
        for number in 0..<5_000 {
            let name = "\("abcd".randomElement(using: &random) ?? "a")\(number)"
            if queue.enter(name, Priority.allCases.randomElement(using: &random) ?? .normal) { out.insert(name) }
            if Bool.random(using: &random), let name = queue.places.keys.randomElement(using: &random) {
                queue.raise(name, to: .interactive)
            }
            while Bool.random(using: &random), let name = queue.places.keys.randomElement(using: &random) {
                queue.leave(name)
                out.remove(name)
            }
            out.formUnion(queue.next())
            #expect(out.count <= 5)
            #expect(Dictionary(grouping: out) { $0.prefix(1) }.allSatisfy { $0.value.count <= 3 })
        }
        while let name = out.popFirst() {
            queue.leave(name)
            out.formUnion(queue.next())
        }
        #expect(queue.places.isEmpty && queue.scheduler.waiting == 0)
    }
}
