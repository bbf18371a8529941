public import BeagleNetHTTP

extension CurlTransport {
    /// The settings shared by all transfers of a `CurlTransport`, each with a default.
    ///
    /// A value out of range causes neither a crash nor a silent replacement: `validate()` throws, and so does each
    /// transfer.
    public struct Configuration: Sendable {
        /// Settings for probes that detect whether an idle TCP connection is still open (RFC 9293, 3.8.4).
        public struct KeepAlive: Sendable, Hashable {
            /// The idle time before the first probe, in 1 s...1 h.
            public var idle: Duration
            /// The time between two probes, in 1 s...1 h.
            public var interval: Duration

            /// Creates probe settings; by default, probes start after a minute of silence and repeat every minute.
            public init(idle: Duration = .seconds(60), interval: Duration = .seconds(60)) {
                self.idle = idle
                self.interval = interval
            }
        }

        /// The maximum number of idle connections kept open, in 1...100,000.
        ///
        /// The default of 256 is well below the usual limit of open files.
        /// https://curl.se/libcurl/c/CURLMOPT_MAXCONNECTS.html
        public var maxIdleConnections = 256
        /// The time after which a request that has been sent counts as long-lived if its response hasn't begun or has
        /// no known length.
        ///
        /// The time in the queue, until a connection is ready, and of an upload doesn't count. The value must be above
        /// 0; the default is 10 s. See `TransferOptions.isLongLived`.
        public var longLivedAfter = Duration.seconds(10)
        /// The longest idle time after which a connection may be reused, in 1 s...1 day.
        ///
        /// The default is 118 s, as in libcurl: servers and middleboxes drop most idle connections soon afterwards.
        /// https://curl.se/libcurl/c/CURLOPT_MAXAGE_CONN.html
        public var idleConnectionLifetime = Duration.seconds(118)
        /// The maximum age at which a connection may be reused, in 1 s...1 day.
        ///
        /// A limit makes the client pick up a server's new addresses in time. `nil`, the default, allows any age.
        /// https://curl.se/libcurl/c/CURLOPT_MAXLIFETIME_CONN.html
        public var connectionLifetime: Duration?
        /// The settings for probes of idle connections.
        ///
        /// `nil`, the default, disables probes, because an unused connection is closed before most middleboxes forget
        /// it. Enable them for long streams with periods of silence.
        public var keepAlive: KeepAlive?
        /// The time for which only IPv6 is tried before IPv4 is tried in parallel, in 1 ms...10 s.
        ///
        /// The default is 200 ms, as in libcurl (RFC 8305, 5).
        /// https://curl.se/libcurl/c/CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS.html
        public var happyEyeballsDelay = Duration.milliseconds(200)

        /// The cookie jar that stores cookies and adds them to requests.
        ///
        /// `nil`, the default, disables cookie handling; `Set-Cookie` is then an ordinary field. A request's own
        /// `Cookie` field is kept, and the jar's other cookies are added after it. Several transports may share one
        /// jar.
        public var cookies: CookieJar?
        /// The store of hosts that require https, which upgrades http requests to these hosts.
        ///
        /// `nil`, the default, disables HSTS. `TransferResponse.url` and the hops of `TransferMetrics` contain the
        /// upgraded URL. The log line of a request contains the app's URL, because it is written earlier.
        public var hsts: HSTSStore?
        /// The store of alternative services for https origins (RFC 7838), to which requests are sent instead.
        ///
        /// `nil`, the default, disables alternative services: each would be a host that the app didn't name, and a
        /// server could use them to track a client.
        ///
        /// The `Host` field and the certificate remain those of the origin. Requests go to the origin itself if the
        /// alternative can't be reached within 3 s, is blocked by `TransferOptions.addressGuard`, or doesn't speak the
        /// advertised protocol. Requests also go to the origin if they have their own proxy, Unix socket or overrides
        /// or allow only HTTP/1.1, and so do WebSockets. A network change removes all entries that the server didn't
        /// mark as persistent.
        public var altSvc: AltSvcStore?

        /// A closure that returns the addresses of a host.
        public typealias Resolver = @Sendable (_ host: String, _ port: Int) async throws -> [IPAddress]

        /// The resolver that is used for each request's host instead of the system's.
        ///
        /// `nil`, the default, uses the system's resolver. The returned addresses apply only to new connections; an
        /// existing connection is reused regardless. The closure is called every time, so cache results yourself. It
        /// isn't called for URLs that contain an address, or for requests with a proxy, a Unix socket or overrides.
        /// `TransferOptions.Timeouts.connect` limits it, and its task is cancelled with the transfer.
        public var resolver: Resolver?

        /// The maximum number of connections in use to one origin, in 1...100,000; further transfers wait.
        ///
        /// The default is 256; `nil` means no limit. Browsers use 6. Each HTTP/1.1 transfer needs its own connection.
        public var maxConnectionsPerOrigin: Int? = 256

        /// The maximum number of concurrent transfers to an HTTP/2 origin, in 1...100,000; further ones wait.
        ///
        /// The default is 256; `nil` means no limit. libcurl runs up to 100 on one connection, or as many as the server
        /// allows.
        public var maxStreamsPerOrigin: Int? = 256

        /// The maximum number of connections in use to all origins, in 1...100,000; further transfers wait.
        ///
        /// The default is 512; `nil` means no limit. Together with the idle connections this is well below the usual
        /// limit of 1,024 open files.
        public var maxConnections: Int? = 512

        /// The maximum receive rate of each transfer of priority `.prefetch`, in bytes per second, until its priority
        /// is raised.
        ///
        /// The value must be 1 or more; `nil`, the default, means no limit.
        public var prefetchBytesPerSecond: Int?

        /// A stream that yields a value for each change of network; `nil`, the default, ignores changes.
        ///
        /// On a change, idle connections are closed, transfers in flight continue, and later transfers open new
        /// connections. A stream has one reader, so give each transport its own. Listening doesn't keep the transport
        /// alive.
        public var networkChanges: AsyncStream<Void>?

        /// Creates a configuration with the documented defaults.
        public init() {}

        /// Checks that all values are in range.
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
            try check(altSvc?.connectTimeout, "altSvc.connectTimeout", in: .milliseconds(1) ... .seconds(300))
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
    }
}

extension NetworkError {
    static func badConfiguration(_ property: String, _ problem: String, _ advice: String) -> NetworkError {
        NetworkError(
            .badConfiguration,
            during: .build,
            "CurlTransport.Configuration.\(property) \(problem)",
            advice: advice
        )
    }
}
