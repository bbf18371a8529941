import BeagleNet
import BeagleNetHTTP
import CoreMetrics

/// The measuring instruments, each made once for what it tells apart.
final class Meters: Sendable {
    /// What tells requests apart.
    struct Target: Hashable {
        let method: String
        let address: String
        let port: String
        let template: String?

        var dimensions: [(String, String)] {
            var dimensions = [
                (AttributeName.method, method), (AttributeName.address, address), (AttributeName.port, port),
            ]
            if let template { dimensions.append((AttributeName.template, template)) }
            return dimensions
        }
    }

    /// What tells answers apart.
    struct Outcome: Hashable {
        let target: Target
        let status: Int?
        var errorType: String?
        var protocolVersion: String?

        var dimensions: [(String, String)] {
            var dimensions = target.dimensions
            if let status { dimensions.append((AttributeName.status, String(status))) }
            if let errorType { dimensions.append((AttributeName.errorType, errorType)) }
            if let protocolVersion { dimensions.append((AttributeName.protocolVersion, protocolVersion)) }
            return dimensions
        }
    }

    /// What measures requests, whatever comes of them.
    struct Requests {
        let active: Meter
        let retries: Counter
        let queued: Timer
        let opened: Counter
        let reused: Counter

        init(_ target: Target, _ factory: any MetricsFactory) {
            let dimensions = target.dimensions
            active = Meter(label: "http.client.active_requests", dimensions: dimensions, factory: factory)
            retries = Counter(label: "beagle.request.retries", dimensions: dimensions, factory: factory)
            queued = Timer(
                label: "beagle.request.queue.duration",
                dimensions: dimensions,
                preferredDisplayUnit: .seconds,
                factory: factory
            )
            func connections(reused: Bool) -> Counter {
                Counter(
                    label: "beagle.request.connections",
                    dimensions: dimensions + [("beagle.connection.reused", "\(reused)")],
                    factory: factory
                )
            }
            opened = connections(reused: false)
            reused = connections(reused: true)
        }
    }

    /// What measures answers.
    struct Answers {
        let duration: Timer
        let sent: Recorder
        let received: Recorder

        init(_ outcome: Outcome, _ factory: any MetricsFactory) {
            let dimensions = outcome.dimensions
            duration = Timer(
                label: "http.client.request.duration",
                dimensions: dimensions,
                preferredDisplayUnit: .seconds,
                factory: factory
            )
            sent = Recorder(label: "http.client.request.body.size", dimensions: dimensions, factory: factory)
            received = Recorder(label: "http.client.response.body.size", dimensions: dimensions, factory: factory)
        }
    }

    private let factory: any MetricsFactory
    private let servers: Cap<Origin>
    private let templates: Cap<String>
    private let requests = Lock<[Target: Requests]>([:])
    private let answers = Lock<[Outcome: Answers]>([:])

    init(_ factory: any MetricsFactory, servers: Int, templates: Int) {
        self.factory = factory
        self.servers = Cap(servers)
        self.templates = Cap(templates)
    }

    /// Counts an attempt as under way, and has each of its redirects measured.
    func begin(_ operation: inout NetworkOperation) -> AttemptMeasurement {
        let measurement = AttemptMeasurement(operation, self)
        operation.onRedirect { proposal, next in
            measurement.redirect(proposal, to: next)
            return nil
        }
        return measurement
    }

    func target(_ head: HTTPRequest, of operation: NetworkOperation) -> Target {
        let origin = Origin(of: head)
        let isNamed = operation.declaredOrigins.contains(origin) || servers.admits(origin)
        let template = operation.urlTemplate.map { templates.admits($0) ? $0 : AttributeName.other }
        return Target(
            method: head.method.attribute,
            address: isNamed ? origin.address : AttributeName.other,
            port: isNamed ? String(origin.port) : AttributeName.other,
            template: template
        )
    }

    func requests(to target: Target) -> Requests {
        Self.instruments(of: target, in: requests) { Requests(target, factory) }
    }

    func answers(_ outcome: Outcome) -> Answers {
        Self.instruments(of: outcome, in: answers) { Answers(outcome, factory) }
    }

    /// Those that there are, else new ones: made outside of the lock, as the app makes them.
    private static func instruments<Key: Hashable & Sendable, Value: Sendable>(
        of key: Key,
        in made: Lock<[Key: Value]>,
        _ make: () -> Value
    ) -> Value {
        if let value = made.withLock({ $0[key] }) { return value }
        let value = make()
        return made.withLock { made in
            if let first = made[key] { return first }
            made[key] = value
            return value
        }
    }
}

/// Lets the first values through, and no others.
struct Cap<Value: Hashable & Sendable>: Sendable {
    private let limit: Int
    private let values = Lock<Set<Value>>([])

    init(_ limit: Int) {
        self.limit = limit
    }

    func admits(_ value: Value) -> Bool {
        values.withLock { values in
            if values.contains(value) { return true }
            guard values.count < limit else { return false }
            values.insert(value)
            return true
        }
    }
}
