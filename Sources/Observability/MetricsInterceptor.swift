public import BeagleNet
import BeagleNetHTTP
public import CoreMetrics

/// Measures each attempt by OpenTelemetry's names: how long it took, what is under way, how large bodies are.
///
/// ```swift
/// MetricsSystem.bootstrap(factory)
/// dependencies.interceptors.add(MetricsInterceptor())
/// ```
///
/// An attempt lasts until its answer is there, a streamed one until its body has been read or let go; each redirect on
/// its way counts as a request of its own. Who lets a streamed body go has not failed; who is cancelled before the
/// answer has, with `error.type` `cancelled`. The factory's instruments are called on the transport's thread as well:
/// they must not block.
/// Source: https://opentelemetry.io/docs/specs/semconv/http/http-metrics/
public struct MetricsInterceptor: RequestObserver {
    /// `.metrics`.
    public var place: Pipeline.Place? { .metrics }
    private let meters: Meters

    /// Measures attempts.
    ///
    /// - Parameters:
    ///   - factory: what keeps the measurements; that of `withMetricsFactory` or `MetricsSystem` by default, as it is
    ///     now.
    ///   - servers: how many servers are told apart besides the origins that the app declares, 100 by default. All
    ///     further ones are `_OTHER`, as redirects may lead anywhere.
    ///   - templates: how many values of `NetworkOperation.urlTemplate` are told apart, 100 by default.
    public init(factory: any MetricsFactory = MetricsSystem.factory, servers: Int = 100, templates: Int = 100) {
        meters = Meters(factory, servers: servers, templates: templates)
    }

    /// Counts the attempt as under way, and measures it when it ends. What was cancelled before, and what nothing answers, is
    /// no attempt.
    public func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? { meters.begin(&operation) }
}

extension AttemptMeasurement: RequestObservation {
    func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
        outcome = outcome.tellingItsEnd { self.end($0) }
    }
}
