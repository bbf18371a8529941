import BeagleNet
import BeagleNetHTTP
import CoreMetrics

/// The measuring instruments, each made once for what it tells apart.
final class Meters: Sendable {
    /// What tells requests apart; empty where there is nothing to tell. All measurements of one name have dimensions of
    /// the same names: a backend may refuse others, and some end the process.
    struct Target: Hashable {
        let method: String
        let address: String
        let port: String
        let template: String

        var dimensions: [(String, String)] {
            [
                (AttributeName.method, method), (AttributeName.address, address), (AttributeName.port, port),
                (AttributeName.template, template),
            ]
        }

        /// Those that there would be too much of.
        static let other = Target(
            method: AttributeName.other,
            address: AttributeName.other,
            port: AttributeName.other,
            template: AttributeName.other
        )
    }

    /// What tells answers apart.
    struct Outcome: Hashable {
        let target: Target
        let status: String
        let errorType: String
        let protocolVersion: String

        var dimensions: [(String, String)] {
            target.dimensions + [
                (AttributeName.status, status), (AttributeName.errorType, errorType),
                (AttributeName.protocolVersion, protocolVersion),
            ]
        }

        /// Those that there would be too much of.
        static let other = Outcome(
            target: .other,
            status: AttributeName.other,
            errorType: AttributeName.other,
            protocolVersion: AttributeName.other
        )
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
    private let statuses = Cap<Int>(20)
    private let errorTypes = Cap<String>(100)
    private let versions = Cap<String>(10)
    private let limit: Int
    private let requests = Lock<[Target: Requests]>([:])
    private let answers = Lock<[Outcome: Answers]>([:])

    /// - Parameter limit: how many requests, and how many answers, are told apart; OpenTelemetry's own limit by default.
    ///   https://opentelemetry.io/docs/specs/otel/metrics/sdk/#cardinality-limits
    init(_ factory: any MetricsFactory, servers: Int, templates: Int, limit: Int = 2000) {
        self.factory = factory
        self.limit = limit
        self.servers = Cap(servers)
        self.templates = Cap(templates)
    }

    /// Counts an attempt as under way, and has each of its redirects measured.
    func begin(_ operation: inout NetworkOperation) -> AttemptMeasurement {
        let measurement = AttemptMeasurement(operation, self)
        operation.onRedirect { answer, _, next in measurement.redirect(answer, to: next.head) }
        return measurement
    }

    func target(_ head: HTTPRequest, of operation: NetworkOperation) -> Target {
        let origin = Origin(of: head)
        let isNamed = operation.declaredOrigins.contains(origin) || servers.admits(origin)
        return Target(
            method: head.method.attribute,
            address: isNamed ? origin.address : AttributeName.other,
            port: isNamed ? String(origin.port) : AttributeName.other,
            template: operation.urlTemplate.map { templates.shown($0) } ?? ""
        )
    }

    func requests(to target: Target) -> Requests {
        instruments(of: target, or: .other, in: requests) { Requests($0, factory) }
    }

    /// - Parameter errorType: what went wrong where it was not the status.
    func answers(
        to target: Target,
        status: Int?,
        errorType: String? = nil,
        protocolVersion: String? = nil
    ) -> Answers {
        let shown = status.map { Self.isKnown($0) || statuses.admits($0) ? String($0) : AttributeName.other } ?? ""
        let isError = status.map { $0 >= 400 } ?? false
        let outcome = Outcome(
            target: target,
            status: shown,
            errorType: errorType.map { errorTypes.shown($0) } ?? (isError ? shown : ""),
            protocolVersion: protocolVersion.map { versions.shown($0) } ?? ""
        )
        return instruments(of: outcome, or: .other, in: answers) { Answers($0, factory) }
    }

    /// Whether HTTP's registry lists it, or may yet: https://www.iana.org/assignments/http-status-codes
    private static func isKnown(_ status: Int) -> Bool {
        switch status {
        case 100...104, 200...208, 226, 300...308, 400...418, 421...429, 431, 451, 500...511: true
        default: false
        }
    }

    /// Those that there are, else new ones, made outside of the lock, as the app makes them; those of `other` where
    /// there are too many.
    private func instruments<Key: Hashable & Sendable, Value: Sendable>(
        of key: Key,
        or other: Key,
        in made: Lock<[Key: Value]>,
        _ make: (Key) -> Value
    ) -> Value {
        let (key, value) = made.withLock { made in
            let key = made.count < limit || made[key] != nil ? key : other
            return (key, made[key])
        }
        if let value { return value }
        let new = make(key)
        return made.withLock { made in
            if let first = made[key] { return first }
            made[key] = new
            return new
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

extension Cap<String> {
    /// The value where it is let through, else `_OTHER`.
    func shown(_ value: String) -> String { admits(value) ? value : AttributeName.other }
}
