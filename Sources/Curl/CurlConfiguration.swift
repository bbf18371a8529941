public import BeagleNetHTTP

/// What all transfers of a `CurlTransport` share. Each value has a default.
///
/// A value out of its range is no crash and no other value: `validate()` throws, and so does each transfer.
public struct CurlConfiguration: Sendable {
    /// Probes that find out whether an idle TCP connection still stands (RFC 9293, 3.8.4).
    public struct KeepAlive: Sendable, Hashable {
        /// Silence before the first probe, in 1 s...1 h.
        public var idle: Duration
        /// Between two probes, in 1 s...1 h.
        public var interval: Duration

        /// Probes after a minute of silence, a minute apart, unless told otherwise.
        public init(idle: Duration = .seconds(60), interval: Duration = .seconds(60)) {
            self.idle = idle
            self.interval = interval
        }
    }

    /// Connections kept open while nothing uses them, in 1...100,000. 256: well below the usual limit of open files.
    /// https://curl.se/libcurl/c/CURLMOPT_MAXCONNECTS.html
    public var maxIdleConnections = 256
    /// When a transfer that waits for its answer, or whose answer has no length, counts as one that lasts: see
    /// `TransferOptions.isLongLived`. 10 s; above 0.
    public var longLivedAfter = Duration.seconds(10)
    /// How long a connection may have been idle to be used again, in 1 s...1 day. 118 s, libcurl's own: servers and the
    /// boxes between drop most before long. https://curl.se/libcurl/c/CURLOPT_MAXAGE_CONN.html
    public var idleConnectionLifetime = Duration.seconds(118)
    /// How old a connection may be to be used again, in 1 s...1 day: with a limit, a server's new addresses are used in
    /// time. nil, the default: any age. https://curl.se/libcurl/c/CURLOPT_MAXLIFETIME_CONN.html
    public var connectionLifetime: Duration?
    /// Probes of idle connections. nil, the default: none, as a connection that nobody uses is given up before most boxes
    /// between forget it. For long streams that are silent now and then.
    public var keepAlive: KeepAlive?
    /// The head start of IPv6 before IPv4 is tried beside it, in 1 ms...10 s. 200 ms, libcurl's own (RFC 8305, 5).
    /// https://curl.se/libcurl/c/CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS.html
    public var happyEyeballsDelay = Duration.milliseconds(200)

    /// Keeps cookies and gives them to requests; nil, the default, keeps none: `Set-Cookie` is a field like any other
    /// then. A request's own `Cookie` field stays, the jar's other cookies come behind it. May be shared by transports.
    public var cookies: CookieJar?
    /// Remembers which hosts want https alone, and sends requests for their http URLs there; nil, the default,
    /// remembers none. `TransferResponse.url` and the hops of `TransferMetrics` tell the URL that was asked; a log's line
    /// of the request tells that of the app, as it is written before.
    public var hsts: HSTSStore?
    /// Remembers which other servers answer for an https origin (RFC 7838) and asks those in its place; nil, the default,
    /// remembers none: each would be a host that the app did not name, and a server could know a client again by it. Host
    /// field and certificate stay those of the origin, which is asked itself where the other is not reached within 3 s,
    /// is refused by `TransferOptions.addressGuard`, or does not speak what was announced. Requests with a proxy, a Unix
    /// socket or overrides of their own, of HTTP/1.1 alone, and WebSockets ask the origin. A change of the network has
    /// all forgotten that are not meant for any.
    public var altSvc: AltSvcStore?

    /// Finds the addresses of a host.
    public typealias Resolver = @Sendable (_ host: String, _ port: Int) async throws -> [IPAddress]

    /// Asked for the addresses of each message's host, in the place of the system's resolver; nil, the default, leaves it
    /// to the system. What it gives counts for a new connection; a kept one is used whatever it gives. Keep answers
    /// yourself, as it is asked each time, except for a URL that names an address, and for requests with a proxy, a Unix
    /// socket or overrides. `Timeouts.connect` limits it, and its task is cancelled with the transfer.
    public var resolver: Resolver?

    /// Connections in use to one origin, in 1...100,000; further transfers wait. nil: any number. 256.
    ///
    /// Browsers keep to 6. A transfer over HTTP/1.1 takes a connection of its own.
    public var maxConnectionsPerOrigin: Int? = 256

    /// Transfers at once to an origin that speaks HTTP/2, in 1...100,000; further ones wait. nil: any number. 256.
    ///
    /// libcurl puts up to 100 on a connection, or as many as the server takes.
    public var maxStreamsPerOrigin: Int? = 256

    /// Connections in use to all origins together, in 1...100,000; further transfers wait. nil: any number. 512: with
    /// the idle ones well below the usual limit of 1,024 open files.
    public var maxConnections: Int? = 512

    /// What each transfer of priority `.prefetch` may receive, in bytes per second, 1 and above, until its priority is
    /// raised. nil: as much as others.
    public var prefetchBytesPerSecond: Int?

    /// Tells that the network is another one: idle connections are closed, transfers under way come to their end, and
    /// what follows opens connections of its own. nil: nobody tells.
    ///
    /// A stream has one reader: give each transport its own. Listening does not keep the transport alive.
    public var networkChanges: AsyncStream<Void>?

    /// The documented defaults.
    public init() {}

    /// Finds a value that cannot be used.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` that names the property and its range.
    public func validate() throws(NetworkError) {
        let counts = [
            ("maxIdleConnections", maxIdleConnections), ("maxConnectionsPerOrigin", maxConnectionsPerOrigin),
            ("maxStreamsPerOrigin", maxStreamsPerOrigin), ("maxConnections", maxConnections),
        ]
        for (name, count) in counts {
            guard let count, !(1...100_000).contains(count) else { continue }
            throw .badConfiguration(name, "is \(count)", "use a number in 1...100000")
        }
        if let prefetchBytesPerSecond, prefetchBytesPerSecond < 1 {
            throw .badConfiguration("prefetchBytesPerSecond", "is \(prefetchBytesPerSecond)", "use 1 or more")
        }
        guard longLivedAfter > .zero else {
            throw .badConfiguration("longLivedAfter", "is \(longLivedAfter)", "use a duration above 0")
        }
        try check(idleConnectionLifetime, "idleConnectionLifetime", in: .seconds(1) ... .seconds(86_400))
        try check(connectionLifetime, "connectionLifetime", in: .seconds(1) ... .seconds(86_400))
        try check(keepAlive?.idle, "keepAlive.idle", in: .seconds(1) ... .seconds(3_600))
        try check(keepAlive?.interval, "keepAlive.interval", in: .seconds(1) ... .seconds(3_600))
        try check(happyEyeballsDelay, "happyEyeballsDelay", in: .milliseconds(1) ... .seconds(10))
        try check(altSvc?.patience, "altSvc.patience", in: .milliseconds(1) ... .seconds(300))
    }

    private func check(
        _ duration: Duration?,
        _ property: String,
        in range: ClosedRange<Duration>
    ) throws(NetworkError) {
        guard let duration, !range.contains(duration) else { return }
        throw .badConfiguration(
            property,
            "is \(duration)",
            "use a duration from \(range.lowerBound) to \(range.upperBound)"
        )
    }

    /// Whether connections are libcurl's own way in all but their number.
    var hasPlainConnections: Bool {
        let plain = CurlConfiguration()
        return idleConnectionLifetime == plain.idleConnectionLifetime && connectionLifetime == nil && keepAlive == nil
            && happyEyeballsDelay == plain.happyEyeballsDelay
    }
}

extension NetworkError {
    static func badConfiguration(_ property: String, _ problem: String, _ advice: String) -> NetworkError {
        NetworkError(.badConfiguration, during: .build, "CurlConfiguration.\(property) \(problem)", advice: advice)
    }
}
