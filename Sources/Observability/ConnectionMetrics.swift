import BeagleNet
public import BeagleNetHTTP
public import CoreMetrics

/// A measurement of a transport's open connections, which ends when it is cancelled or released.
///
/// ```swift
/// let transport = CurlTransport()
/// let connections = ConnectionMetrics(of: transport)
/// ```
///
/// The metric is `http.client.open_connections`, with the dimension `http.connection.state`: `active` or `idle`. It
/// doesn't slow down requests, because the transport is polled at an interval. The transport is retained meanwhile.
///
/// Source: https://opentelemetry.io/docs/specs/semconv/http/http-metrics/#metric-httpclientopen_connections
public final class ConnectionMetrics: RequestToken {
    private let sampling: Task<Void, Never>

    /// Starts to measure, immediately and then at an interval.
    ///
    /// - Parameters:
    ///   - transport: A `CurlTransport`. A transport that doesn't report its connections isn't measured.
    ///   - interval: The interval, by the clock of `Beagle.dependencies`: at least a second, 10 s by default.
    ///   - factory: The factory of the instruments, by default the current one of `withMetricsFactory` or
    ///     `MetricsSystem`.
    public init(
        of transport: any HTTPTransport,
        every interval: Duration = .seconds(10),
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        let (interval, clock) = (max(interval, .seconds(1)), Beagle.dependencies.clock)
        sampling = Task.detached {
            guard let transport = transport as? any ConnectionTransport else { return }
            let (active, idle) = (Meter(connections: "active", factory), Meter(connections: "idle", factory))
            while !Task.isCancelled {
                let count = await transport.openConnections()
                active.set(count.active)
                idle.set(count.idle)
                // The sleep throws only after the measurement has ended.
                do { try await clock.sleep(for: interval) } catch { return }
            }
        }
    }

    deinit {
        sampling.cancel()
    }

    /// Ends the measurement.
    public func cancel() {
        sampling.cancel()
    }
}

extension Meter {
    fileprivate convenience init(connections state: String, _ factory: any MetricsFactory) {
        let dimensions = [("http.connection.state", state)]
        self.init(label: "http.client.open_connections", dimensions: dimensions, factory: factory)
    }
}
