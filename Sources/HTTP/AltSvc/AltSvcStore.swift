/// A store of alternative services for https origins (RFC 7838), which clients use in place of the origin's own server.
///
/// A store is shared by the clients that are configured with it (`CurlTransport.Configuration.altSvc`). It accepts
/// announcements only over TLS. It holds at most 8 services per origin and 1,000 in total; the origins whose services
/// expire first are evicted first. A service that couldn't be reached or violated its protocol isn't used for five
/// minutes.
public final class AltSvcStore: Sendable {
    /// Another server that serves the same origin.
    public struct Service: Sendable, Hashable {
        /// The https origin that the service serves.
        public var origin: Origin
        /// The HTTP version of the service: `.http2` or `.http3`.
        public var version: HTTPVersion
        /// The host name or address of the service, with an IPv6 address in brackets.
        public var host: String
        /// The port of the service, in 1...65,535.
        public var port: Int
        /// The date after which the service isn't used.
        public var expires: Date
        /// Whether the service stays valid when the network changes.
        ///
        /// `false` by default, because another network may have a better service.
        public var isPersistent: Bool

        /// Creates a service at a host and port.
        public init(
            for origin: Origin,
            _ version: HTTPVersion = .http2,
            host: String,
            port: Int = 443,
            expires: Date = .distantFuture,
            isPersistent: Bool = false
        ) {
            self.origin = origin
            self.version = version
            self.host = host.lowercased()
            self.port = port
            self.expires = expires
            self.isPersistent = isPersistent
        }

        /// Whether both services have the same version, host and port.
        fileprivate func hasSameEndpoint(as other: Service) -> Bool {
            version == other.version && host == other.host && port == other.port
        }
    }

    fileprivate struct Entry {
        let service: Service
        /// The date until which the service isn't used after a failure.
        var brokenUntil = Date.distantPast
    }

    fileprivate struct State {
        var entries: [Origin: [Entry]] = [:]
        var count = 0
    }

    static let limit = 1_000
    static let limitPerOrigin = 8
    /// The time for which a failed service isn't used, in seconds.
    static let brokenDuration: TimeInterval = 300
    /// The longest lifetime that a server can set, in seconds (one year). Longer ones are shortened.
    static let maxLifetime = 365 * 86_400

    /// The time to wait for a connection to a service before falling back to the origin.
    public let connectTimeout: Duration
    private let state = Lock(State())
    private let now: @Sendable () -> Date

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - connectTimeout: The time to wait for a connection to a service before falling back to the origin, from 1 ms
    ///     to 300 s. 3 s by default. A service that accepts connections but never responds delays one request by this
    ///     time, at most once every five minutes.
    ///   - now: The clock that decides when services expire.
    public init(connectTimeout: Duration = .seconds(3), now: @escaping @Sendable () -> Date = { Date() }) {
        self.connectTimeout = connectTimeout
        self.now = now
    }

    /// The services that haven't expired.
    ///
    /// Those of an origin are in order of preference; origins are in no particular order.
    public var services: [Service] {
        let now = now()
        return state.withLock { $0.entries.values.flatMap { $0 } }.map(\.service).filter { $0.expires > now }
    }

    /// Adds a service after the others of its origin, replacing one with the same version, host and port.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` if the origin isn't https, the version is neither `.http2`
    ///   nor `.http3`, or the host or port is invalid.
    public func add(_ service: Service) throws(NetworkError) {
        if let problem = service.problem {
            throw NetworkError(.badConfiguration, during: .build, "AltSvcStore.Service: \(problem)")
        }
        let now = now()
        state.withLock { state in
            let others = state.entries[service.origin, default: []].filter { !$0.service.hasSameEndpoint(as: service) }
            state.set(others + [Entry(service: service)], for: service.origin, at: now)
        }
    }

    /// Removes all services that satisfy a condition.
    public func removeAll(where condition: (Service) -> Bool = { _ in true }) {
        for service in state.withLock({ $0.entries.values.flatMap { $0 } }).map(\.service) where condition(service) {
            forget(service)
        }
    }

    // MARK: - Requests and responses

    /// Returns the service to use for a request, or `nil` to use the origin itself.
    ///
    /// - Parameter supports: Whether the request may use this HTTP version.
    package func service(for head: HTTPRequest, supporting supports: (HTTPVersion) -> Bool) -> Service? {
        guard head.scheme == "https" else { return nil }
        let now = now()
        return state.withLock { state in
            guard state.count > 0 else { return nil }
            return state.entries[Origin(of: head)]?.first {
                $0.service.expires > now && $0.brokenUntil <= now && supports($0.service.version)
            }?.service
        }
    }

    /// Stores the services that a response announces. Only responses over https are considered.
    package func store(from response: HTTPResponse, of head: HTTPRequest) {
        // `Alt-Svc` in a 421 response is ignored, because the server isn't authoritative for the origin (6).
        guard head.scheme == "https", response.status != .misdirectedRequest,
            let text = response.headerFields[.altSvc], let said = AltSvc(text)
        else { return }
        let (origin, now) = (Origin(of: head), now())
        // The lifetime began when the response was generated, not when it was received (3.1).
        let age = response.headerFields[single: .age].flatMap { Int(digits: $0) } ?? 0
        var services: [Service] = []
        if case .alternatives(let alternatives) = said {
            services = alternatives.compactMap { Service($0, for: origin, at: now, since: age) }
        }
        state.withLock { state in
            let known = state.entries[origin] ?? []
            let entries = services.map { service in
                let brokenUntil = known.first { $0.service.hasSameEndpoint(as: service) }?.brokenUntil
                return Entry(service: service, brokenUntil: brokenUntil ?? .distantPast)
            }
            state.set(entries, for: origin, at: now)
        }
    }

    /// Stops using a service for five minutes, because it couldn't be reached or violated its protocol.
    package func markBroken(_ service: Service) {
        let until = now().addingTimeInterval(Self.brokenDuration)
        state.withLock { state in
            let place = state.entries[service.origin]?.firstIndex { $0.service.hasSameEndpoint(as: service) }
            if let place { state.entries[service.origin]?[place].brokenUntil = until }
        }
    }

    /// Removes a service, for example because it isn't authoritative for its origin.
    package func forget(_ service: Service) {
        state.withLock { state in
            let others = state.entries[service.origin, default: []].filter { !$0.service.hasSameEndpoint(as: service) }
            state.set(others, for: service.origin, at: .distantPast)
        }
    }

    /// Removes the services that aren't persistent and clears all failures after a change of network (2.2).
    package func networkDidChange() {
        removeAll { !$0.isPersistent }
        state.withLock { state in
            state.entries = state.entries.mapValues { $0.map { Entry(service: $0.service) } }
        }
    }
}

extension AltSvcStore.State {
    fileprivate mutating func set(_ entries: [AltSvcStore.Entry], for origin: Origin, at now: Date) {
        let kept = Array(entries.filter { $0.service.expires > now }.prefix(AltSvcStore.limitPerOrigin))
        count += kept.count - (self.entries[origin]?.count ?? 0)
        self.entries[origin] = kept.isEmpty ? nil : kept
        while count > AltSvcStore.limit {
            let soonest = self.entries.min { one, other in
                one.value.latest < other.value.latest
            }
            guard let soonest else { break }
            count -= soonest.value.count
            self.entries[soonest.key] = nil
        }
    }
}

extension [AltSvcStore.Entry] {
    fileprivate var latest: Date { map(\.service.expires).max() ?? .distantPast }
}

extension AltSvcStore.Service {
    /// Creates a service from an announced alternative.
    ///
    /// Returns `nil` if the protocol isn't supported, or if the alternative is HTTP/2 at the origin's own address,
    /// which ALPN negotiates anyway.
    fileprivate init?(_ alternative: AltSvc.Alternative, for origin: Origin, at now: Date, since age: Int) {
        guard let version = Self.versions[alternative.protocolName] else { return nil }
        let seconds = min(alternative.maxAge, AltSvcStore.maxLifetime) - age
        self.init(
            for: origin,
            version,
            host: alternative.host.isEmpty ? origin.host : alternative.host,
            port: alternative.port,
            expires: now.addingTimeInterval(TimeInterval(seconds)),
            isPersistent: alternative.isPersistent
        )
        if version == .http2, isAtOrigin { return nil }
    }

    /// The supported versions, keyed by ALPN name.
    static let versions: [String: HTTPVersion] = ["h2": .http2, "h3": .http3]

    /// Whether the service has the origin's own host and port.
    package var isAtOrigin: Bool { host == origin.host && port == origin.port }

    /// The reason why the service is invalid, or `nil` if it is valid.
    var problem: String? {
        if origin.scheme != "https" { return "its origin does not use https" }
        if version != .http2 && version != .http3 { return "its version is neither HTTP/2 nor HTTP/3" }
        if !AltSvc.Alternative.isHost(host) { return "its host is neither a name nor an address" }
        if !(1...65_535).contains(port) { return "its port \(port) is not in 1...65535" }
        return nil
    }
}

extension HTTPField.Name {
    static let altSvc = Self("Alt-Svc")!
}
