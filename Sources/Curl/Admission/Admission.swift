import BeagleNetHTTP

/// Who may go out, and who of those that wait is next: a value without clock and I/O.
///
/// Whoever goes out takes a place at an origin. Where the origin has no more of them, or all together have none, it
/// waits. A higher priority goes first, and the origins of one priority take turns, so that none is starved by another
/// that is asked more. A priority that was passed over eight times has its turn, too. Entering and leaving cost the
/// same however many wait.
struct Admission<Element> {
    /// How many may be out; nil: any number.
    struct Limits {
        var connections: Int?
        var connectionsPerOrigin: Int?
        var streamsPerOrigin: Int?
    }

    /// What somebody who is out or waits has of an origin.
    struct Place {
        fileprivate let origin: Origin
        /// Where it stands in line; nil once it is out.
        fileprivate var ticket: Int?
        fileprivate(set) var priority: Priority

        var isWaiting: Bool { ticket != nil }

        /// Whether the origin is this one.
        func isAt(scheme: String?, authority: String?) -> Bool {
            origin.authority == authority && origin.scheme == scheme
        }

        /// `next` has given whose place this is.
        mutating func takeTurn() {
            ticket = nil
        }
    }

    /// An origin, as its URLs write it. Reached only through the admission that made it.
    final class Origin {
        let scheme: String
        let authority: String
        /// Those who are out.
        var taken = 0
        /// Whether it was seen to answer many on one connection.
        var isMultiplexed = false
        /// Those who wait, by priority.
        var lines = Priority.allCases.map { _ in Line<Element>() }
        /// Whether it has its turn coming, by priority.
        var isReady = Priority.allCases.map { _ in false }

        init(scheme: String, authority: String) {
            self.scheme = scheme
            self.authority = authority
        }

        /// The connections that those who are out take, at least.
        var connections: Int { connections(for: taken) }

        func connections(for count: Int) -> Int {
            isMultiplexed ? (count + streamsPerConnection - 1) / streamsPerConnection : count
        }

        var isIdle: Bool { taken == 0 && lines.allSatisfy(\.isEmpty) }
    }

    struct Key: Hashable {
        let scheme: String
        let authority: String
    }

    /// How often a priority is passed over before it has its turn.
    private static var patience: Int { 8 }

    private let limits: Limits
    private(set) var origins: [Key: Origin] = [:]
    /// Known origins at which the idle ones are forgotten.
    private var mostOrigins = 1_024
    /// The origin entered last: mostly the next one, too.
    private var latest: Origin?
    private var connections = 0
    private(set) var waiting = 0
    private var nextTicket = 0
    /// Origins that have somebody waiting and, when they were put there, a free place; by priority.
    private var ready = Priority.allCases.map { _ in Queue<Origin>() }
    private var passedOver = Priority.allCases.map { _ in 0 }

    init(_ limits: Limits) {
        self.limits = limits
    }

    // MARK: coming and going

    /// Takes a place at an origin, or one in its line: `isWaiting` tells.
    mutating func enter(_ element: Element, scheme: String, authority: String, priority: Priority) -> Place {
        let origin = origin(scheme, authority)
        var place = Place(origin: origin, priority: priority)
        if waiting == 0, hasRoom(at: origin), hasRoom(for: origin) {
            take(origin)
        } else {
            wait(element, in: &place)
        }
        return place
    }

    /// Whose turn it is; nil while nobody has one.
    mutating func next() -> Element? {
        guard waiting > 0, connections < limits.connections ?? .max else { return nil }
        let starved = Priority.allCases.first { priority in
            let level = Int(priority.rawValue)
            return passedOver[level] >= Self.patience && !ready[level].isEmpty
        }
        if let starved, let element = next(of: starved) { return element }
        for priority in Priority.allCases.reversed() {
            if let element = next(of: priority) { return element }
        }
        return nil
    }

    /// Gives a place back, be it out or in line.
    mutating func leave(_ place: Place) {
        if let ticket = place.ticket {
            place.origin.lines[Int(place.priority.rawValue)].remove(ticket)
            waiting -= 1
        } else {
            change(place.origin) { $0.taken -= 1 }
        }
    }

    /// Moves who waits to the end of a line that goes first.
    mutating func raise(_ place: inout Place, to priority: Priority) {
        guard priority > place.priority else { return }
        let old = place.priority
        place.priority = priority
        guard let ticket = place.ticket, let element = place.origin.lines[Int(old.rawValue)].remove(ticket) else {
            return
        }
        waiting -= 1
        wait(element, in: &place)
    }

    /// An origin was seen to answer many on one connection, or one only.
    mutating func learn(_ place: Place, isMultiplexed: Bool) {
        guard place.origin.isMultiplexed != isMultiplexed else { return }
        change(place.origin) { $0.isMultiplexed = isMultiplexed }
    }

    // MARK: places

    private func hasRoom(at origin: Origin) -> Bool {
        let limit = origin.isMultiplexed ? limits.streamsPerOrigin : limits.connectionsPerOrigin
        return origin.taken < limit ?? .max
    }

    /// Whether all together have room for one more at this origin, perhaps on a connection that is there.
    private func hasRoom(for origin: Origin) -> Bool {
        guard let limit = limits.connections else { return true }
        return connections - origin.connections + origin.connections(for: origin.taken + 1) <= limit
    }

    private mutating func take(_ origin: Origin) {
        connections -= origin.connections
        origin.taken += 1
        connections += origin.connections
    }

    /// A change that may make room at an origin.
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

    // MARK: lines

    private mutating func wait(_ element: Element, in place: inout Place) {
        nextTicket += 1
        place.ticket = nextTicket
        place.origin.lines[Int(place.priority.rawValue)].append(element, nextTicket)
        waiting += 1
        makeReady(place.origin)
    }

    private mutating func makeReady(_ origin: Origin) {
        guard hasRoom(at: origin) else { return }
        for level in origin.lines.indices where !origin.isReady[level] && !origin.lines[level].isEmpty {
            origin.isReady[level] = true
            ready[level].append(origin)
        }
    }

    private mutating func next(of priority: Priority) -> Element? {
        let level = Int(priority.rawValue)
        while let origin = ready[level].popFirst() {
            origin.isReady[level] = false
            guard hasRoom(at: origin), let element = origin.lines[level].popFirst() else { continue }
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

/// What libcurl puts on one connection of HTTP/2 (CURLMOPT_MAX_CONCURRENT_STREAMS).
private let streamsPerConnection = 100
