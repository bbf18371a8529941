import BeagleNetHTTP

/// A scheduler that limits concurrent transfers and chooses the next waiting one. It is a value without clock or I/O.
///
/// A running transfer has a place at its origin. A transfer waits if its origin, or all origins together, have no free
/// place. Higher priorities go first. Origins of the same priority take turns, so that a busy origin doesn't starve the
/// others. A priority that was passed over eight times gets a turn, too. Entering and leaving take constant time.
struct TransferScheduler<Element> {
    /// The maximum numbers of connections and streams; `nil` means no limit.
    struct Limits {
        var connections: Int?
        var connectionsPerOrigin: Int?
        var streamsPerOrigin: Int?
    }

    /// The place of a running or waiting transfer at its origin.
    struct Slot {
        fileprivate let origin: Origin
        /// The position in the queue; `nil` once the transfer runs.
        fileprivate var ticket: Int?
        fileprivate(set) var priority: Priority

        var isWaiting: Bool { ticket != nil }

        /// Returns whether the place is at this origin.
        func isAt(scheme: String?, authority: String?) -> Bool {
            origin.authority == authority && origin.scheme == scheme
        }

        /// Notes that `next` has returned the element of this place.
        mutating func takeTurn() {
            ticket = nil
        }
    }

    /// An origin as written in URLs. Used only through the admission that created it.
    final class Origin {
        let scheme: String
        let authority: String
        /// The number of running transfers.
        var running = 0
        /// Whether its connections are known to carry several requests at a time.
        var isMultiplexed = false
        /// The waiting transfers, by priority.
        var queues = Priority.allCases.map { _ in CancellableQueue<Element>() }
        /// Whether it is in the queue of ready origins, by priority.
        var isReady = Priority.allCases.map { _ in false }

        init(scheme: String, authority: String) {
            self.scheme = scheme
            self.authority = authority
        }

        /// The minimum number of connections that the running transfers need.
        var connections: Int { connections(for: running) }

        func connections(for count: Int) -> Int {
            isMultiplexed ? (count + streamsPerConnection - 1) / streamsPerConnection : count
        }

        var isIdle: Bool { running == 0 && queues.allSatisfy(\.isEmpty) }
    }

    struct Key: Hashable {
        let scheme: String
        let authority: String
    }

    /// The number of times that a priority is passed over before it gets a turn.
    private static var maxPassedOver: Int { 8 }

    private let limits: Limits
    private(set) var origins: [Key: Origin] = [:]
    /// The number of known origins at which idle ones are removed.
    private var mostOrigins = 1_024
    /// The most recent origin, which is often also the next.
    private var latest: Origin?
    private var connections = 0
    private(set) var waiting = 0
    private var nextTicket = 0
    /// The origins that had waiting transfers and a free place when they were added, by priority.
    private var ready = Priority.allCases.map { _ in Queue<Origin>() }
    private var passedOver = Priority.allCases.map { _ in 0 }

    init(_ limits: Limits) {
        self.limits = limits
    }

    // MARK: entering and leaving

    /// Takes a place at an origin, or a position in its queue; see `isWaiting`.
    mutating func enter(_ element: Element, scheme: String, authority: String, priority: Priority) -> Slot {
        let origin = origin(scheme, authority)
        var slot = Slot(origin: origin, priority: priority)
        if waiting == 0, hasRoom(at: origin), hasRoom(for: origin) {
            take(origin)
        } else {
            wait(element, in: &slot)
        }
        return slot
    }

    /// Removes and returns the next element to run, or `nil` if no element may run now.
    mutating func next() -> Element? {
        guard waiting > 0, connections < limits.connections ?? .max else { return nil }
        let starved = Priority.allCases.first { priority in
            let level = Int(priority.rawValue)
            return passedOver[level] >= Self.maxPassedOver && !ready[level].isEmpty
        }
        if let starved, let element = next(of: starved) { return element }
        for priority in Priority.allCases.reversed() {
            if let element = next(of: priority) { return element }
        }
        return nil
    }

    /// Releases the place of a running or waiting transfer.
    mutating func leave(_ slot: Slot) {
        if let ticket = slot.ticket {
            slot.origin.queues[Int(slot.priority.rawValue)].remove(ticket)
            waiting -= 1
        } else {
            change(slot.origin) { $0.running -= 1 }
        }
    }

    /// Moves a waiting transfer to the end of the queue of a higher priority.
    mutating func raise(_ slot: inout Slot, to priority: Priority) {
        guard priority > slot.priority else { return }
        let old = slot.priority
        slot.priority = priority
        guard let ticket = slot.ticket, let element = slot.origin.queues[Int(old.rawValue)].remove(ticket) else {
            return
        }
        waiting -= 1
        wait(element, in: &slot)
    }

    /// Records whether an origin multiplexes requests on one connection.
    mutating func recordProtocol(_ slot: Slot, isMultiplexed: Bool) {
        guard slot.origin.isMultiplexed != isMultiplexed else { return }
        change(slot.origin) { $0.isMultiplexed = isMultiplexed }
    }

    // MARK: places

    private func hasRoom(at origin: Origin) -> Bool {
        let limit = origin.isMultiplexed ? limits.streamsPerOrigin : limits.connectionsPerOrigin
        return origin.running < limit ?? .max
    }

    /// Returns whether the total limit allows one more transfer at this origin, perhaps on an existing connection.
    private func hasRoom(for origin: Origin) -> Bool {
        guard let limit = limits.connections else { return true }
        return connections - origin.connections + origin.connections(for: origin.running + 1) <= limit
    }

    private mutating func take(_ origin: Origin) {
        connections -= origin.connections
        origin.running += 1
        connections += origin.connections
    }

    /// Applies a change that may free places at an origin.
    private mutating func change(_ origin: Origin, _ body: (Origin) -> Void) {
        connections -= origin.connections
        body(origin)
        connections += origin.connections
        if waiting > 0 { makeReady(origin) }
    }

    private mutating func origin(_ scheme: String, _ authority: String) -> Origin {
        if let latest, latest.authority == authority, latest.scheme == scheme { return latest }
        let key = Key(scheme: scheme, authority: authority)
        if let known = origins[key] {
            latest = known
            return known
        }
        if origins.count >= mostOrigins { forgetIdle() }
        let new = Origin(scheme: scheme, authority: authority)
        origins[key] = new
        latest = new
        return new
    }

    private mutating func forgetIdle() {
        origins = origins.filter { !$0.value.isIdle }
        mostOrigins = max(1_024, 2 * origins.count)
    }

    // MARK: queues

    private mutating func wait(_ element: Element, in slot: inout Slot) {
        nextTicket += 1
        slot.ticket = nextTicket
        slot.origin.queues[Int(slot.priority.rawValue)].append(element, nextTicket)
        waiting += 1
        makeReady(slot.origin)
    }

    private mutating func makeReady(_ origin: Origin) {
        guard hasRoom(at: origin) else { return }
        for level in origin.queues.indices where !origin.isReady[level] && !origin.queues[level].isEmpty {
            origin.isReady[level] = true
            ready[level].append(origin)
        }
    }

    private mutating func next(of priority: Priority) -> Element? {
        let level = Int(priority.rawValue)
        while let origin = ready[level].popFirst() {
            origin.isReady[level] = false
            guard hasRoom(at: origin), let element = origin.queues[level].popFirst() else { continue }
            take(origin)
            waiting -= 1
            makeReady(origin)
            passedOver[level] = 0
            for lower in 0..<level where !ready[lower].isEmpty { passedOver[lower] += 1 }
            return element
        }
        return nil
    }
}

/// The number of streams that libcurl runs on one HTTP/2 connection (CURLMOPT_MAX_CONCURRENT_STREAMS).
private let streamsPerConnection = 100
