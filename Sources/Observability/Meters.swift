import BeagleNet
import BeagleNetHTTP
import CoreMetrics

/// The metric instruments, each created once for its dimensions.
final class Meters: Sendable {
    /// The dimensions of requests, with empty values for those that don't apply.
    ///
    /// All measurements with the same name have the same dimensions, because some backends reject others and some even
    /// end the process.
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

        /// The target of all requests beyond the limit.
        static let other = Target(
            method: AttributeName.other,
            address: AttributeName.other,
            port: AttributeName.other,
            template: AttributeName.other
        )
    }

    /// The dimensions of responses.
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

        /// The outcome of all responses beyond the limit.
        static let other = Outcome(
            target: .other,
            status: AttributeName.other,
            errorType: AttributeName.other,
            protocolVersion: AttributeName.other
        )
    }

    /// The instruments for requests, whatever their outcome.
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

    /// The instruments for responses.
    struct Responses {
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
    private let servers: DistinctValueLimit<Origin>
    private let templates: DistinctValueLimit<String>
    private let statuses = DistinctValueLimit<Int>(20)
    private let errorTypes = DistinctValueLimit<String>(100)
    private let versions = DistinctValueLimit<String>(10)
    private let limit: Int
    private let requests = Lock<[Target: Requests]>([:])
    private let responses = Lock<[Outcome: Responses]>([:])

    /// Creates the instruments.
    ///
    /// - Parameter limit: The maximum number of distinct dimensions of requests, and of responses, by default
    ///   OpenTelemetry's own limit. https://opentelemetry.io/docs/specs/otel/metrics/sdk/#cardinality-limits
    init(_ factory: any MetricsFactory, servers: Int, templates: Int, limit: Int = 2000) {
        self.factory = factory
        self.limit = limit
        self.servers = DistinctValueLimit(servers)
        self.templates = DistinctValueLimit(templates)
    }

    /// Counts an attempt as active and measures each of its redirects.
    func begin(_ operation: inout NetworkOperation) -> AttemptMeasurement {
        let measurement = AttemptMeasurement(operation, self)
        operation.onRedirect { response, _, next in measurement.redirect(response, to: next.head) }
        return measurement
    }

    func target(_ head: HTTPRequest, of operation: NetworkOperation) -> Target {
        let origin = Origin(of: head)
        let isNamed = operation.declaredOrigins.contains(origin) || servers.admits(origin)
        return Target(
            method: head.method.attribute,
            address: isNamed ? origin.address : AttributeName.other,
            port: isNamed ? String(origin.port) : AttributeName.other,
            template: operation.urlTemplate.map { templates.limited($0) } ?? ""
        )
    }

    func requests(to target: Target) -> Requests {
        instruments(of: target, or: .other, in: requests) { Requests($0, factory) }
    }

    /// Returns the instruments for a response.
    ///
    /// - Parameter errorType: The kind of the error, unless the status is the error.
    func responses(
        to target: Target,
        status: Int?,
        errorType: String? = nil,
        protocolVersion: String? = nil
    ) -> Responses {
        let shown = status.map { Self.isKnown($0) || statuses.admits($0) ? String($0) : AttributeName.other } ?? ""
        let isError = status.map { $0 >= 400 } ?? false
        let outcome = Outcome(
            target: target,
            status: shown,
            errorType: errorType.map { errorTypes.limited($0) } ?? (isError ? shown : ""),
            protocolVersion: protocolVersion.map { versions.limited($0) } ?? ""
        )
        return instruments(of: outcome, or: .other, in: responses) { Responses($0, factory) }
    }

    /// Returns whether a status is in HTTP's registry or one of its ranges:
    /// https://www.iana.org/assignments/http-status-codes
    private static func isKnown(_ status: Int) -> Bool {
        switch status {
        case 100...104, 200...208, 226, 300...308, 400...418, 421...429, 431, 451, 500...511: true
        default: false
        }
    }

    /// Returns the existing instruments or creates them, or returns those of `other` beyond the limit.
    ///
    /// They are created outside of the lock, because the app's factory creates them.
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

/// A filter that admits a limited number of distinct values, the first ones.
struct DistinctValueLimit<Value: Hashable & Sendable>: Sendable {
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

extension DistinctValueLimit<String> {
    /// Returns the value if it is admitted, otherwise `_OTHER`.
    func limited(_ value: String) -> String { admits(value) ? value : AttributeName.other }
}
