public import BeagleNet
import BeagleNetHTTP
public import CoreMetrics

/// An interceptor that measures each attempt with OpenTelemetry's metrics: durations, active requests and body sizes.
///
/// ```swift
/// MetricsSystem.bootstrap(factory)
/// dependencies.interceptors.add(MetricsInterceptor())
/// ```
///
/// An attempt lasts until its response is complete, or for a streamed response, until the body has been read or
/// released. Each redirect counts as a request of its own. Releasing a streamed body early isn't a failure. Cancelling
/// before the response is one, with `error.type` `cancelled`. The factory's instruments must not block, because they
/// are also called on the transport's thread.
///
/// Source: https://opentelemetry.io/docs/specs/semconv/http/http-metrics/
public struct MetricsInterceptor: RequestObserver {
    /// `.metrics`.
    public var place: Pipeline.Place? { .metrics }
    private let meters: Meters

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - factory: The factory of the instruments, by default the current one of `withMetricsFactory` or
    ///     `MetricsSystem`.
    ///   - servers: The maximum number of distinct servers in addition to the origins that the app declares, 100 by
    ///     default. Further servers are `_OTHER`, because redirects may lead anywhere.
    ///   - templates: The maximum number of distinct values of `NetworkOperation.urlTemplate`, 100 by default.
    public init(factory: any MetricsFactory = MetricsSystem.factory, servers: Int = 100, templates: Int = 100) {
        meters = Meters(factory, servers: servers, templates: templates)
    }

    /// Counts the attempt as active, and measures it when it ends.
    ///
    /// An operation that was cancelled before, or that nothing can perform, isn't an attempt.
    public func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? { meters.begin(&operation) }
}

extension AttemptMeasurement: RequestObservation {
    func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
        outcome = outcome.onEnd { self.end($0) }
    }
}
