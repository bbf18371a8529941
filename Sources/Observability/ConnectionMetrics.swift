import BeagleNet
public import BeagleNetHTTP
public import CoreMetrics

/// Measures how many connections a transport has open, for as long as it is held; cancelling it, or letting it go, ends that.
///
/// ```swift
/// let transport = CurlTransport()
/// let connections = ConnectionMetrics(of: transport)
/// ```
///
/// The measurement is `http.client.open_connections`, told apart by `http.connection.state`: `active` or `idle`. Requests cost
/// nothing more for it, as the transport is asked from time to time. It is held meanwhile.
/// Source: https://opentelemetry.io/docs/specs/semconv/http/http-metrics/#metric-httpclientopen_connections
public final class ConnectionMetrics: RequestToken {
    private let sampling: Task<Void, Never>

    /// Measures at once, and again and again.
    ///
    /// - Parameters:
    ///   - transport: a `CurlTransport`; of one that cannot tell, nothing is measured.
    ///   - interval: the time in between, by the clock of `Beagle.dependencies`; at least a second, 10 s by default.
    ///   - factory: what keeps the measurements; that of `withMetricsFactory` or `MetricsSystem` by default, as it is now.
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
                // Thrown only where it has ended.
                do { try await clock.sleep(for: interval) } catch { return }
            }
        }
    }

    deinit {
        sampling.cancel()
    }

    /// Measures nothing more.
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
