/// Remembers which other servers answer for an https origin (RFC 7838), so that they are asked in its place.
///
/// A store belongs to the clients that it is given to (`CurlConfiguration.altSvc`). It believes answers over TLS only. It
/// keeps no more than 8 alternatives of an origin and 1,000 in all; those that would be forgotten first go first. One
/// that could not be reached, or does not speak as it should, is not asked for five minutes.
public final class AltSvcStore: Sendable {
    /// A server that answers for an origin, too.
    public struct Service: Sendable, Hashable {
        /// For whom it answers; of the scheme https.
        public var origin: Origin
        /// What it speaks: `.http2` or `.http3`.
        public var version: HTTPVersion
        /// Its name or address, an IPv6 address in brackets.
        public var host: String
        /// Its port, in 1...65,535.
        public var port: Int
        /// Until when it is asked.
        public var expires: Date
        /// Whether it is asked in another network as well. No by default: another network may have a better one.
        public var isPersistent: Bool

        /// A server at this address.
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

        /// Whether both lead to the same place.
        fileprivate func leads(where other: Service) -> Bool {
            version == other.version && host == other.host && port == other.port
        }
    }

    fileprivate struct Entry {
        let service: Service
        /// Until when it is not asked.
        var brokenUntil = Date.distantPast
    }

    fileprivate struct State {
        var entries: [Origin: [Entry]] = [:]
        var count = 0
    }

    static let limit = 1_000
    static let limitOfOrigin = 8
    /// Seconds for which one that failed is not asked.
    static let rest: TimeInterval = 300
    /// A year: what is longer is cut.
    static let longest = 365 * 86_400

    /// How long a service may take to be reached, before its origin is asked.
    public let patience: Duration
    private let state = Lock(State())
    private let now: @Sendable () -> Date

    /// An empty store.
    ///
    /// - Parameters:
    ///   - patience: how long a service may take to be reached, 1 ms to 300 s; 3 s by default. What takes connections and is
    ///     silent costs a request that long, once every five minutes.
    ///   - now: tells the time, by which services are forgotten.
    public init(patience: Duration = .seconds(3), now: @escaping @Sendable () -> Date = { Date() }) {
        self.patience = patience
        self.now = now
    }

    /// The services that are remembered, those of an origin best first, origins in no particular order.
    public var services: [Service] {
        let now = now()
        return state.withLock { $0.entries.values.flatMap { $0 } }.map(\.service).filter { $0.expires > now }
    }

    /// Remembers a service behind those of the same origin, in the place of one at the same address.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` where the origin is not of https, the version is neither
    ///   `.http2` nor `.http3`, or host or port cannot be.
    public func add(_ service: Service) throws(NetworkError) {
        if let problem = service.problem {
            throw NetworkError(.badConfiguration, during: .build, "AltSvcStore.Service: \(problem)")
        }
        let now = now()
        state.withLock { state in
            let others = state.entries[service.origin, default: []].filter { !$0.service.leads(where: service) }
            state.set(others + [Entry(service: service)], for: service.origin, at: now)
        }
    }

    /// Forgets all services that fulfil a condition.
    public func removeAll(where condition: (Service) -> Bool = { _ in true }) {
        for service in state.withLock({ $0.entries.values.flatMap { $0 } }).map(\.service) where condition(service) {
            forget(service)
        }
    }

    // MARK: - Of a message

    /// Who is to be asked in the place of a message's origin; nil where that is the origin itself.
    ///
    /// - Parameter speaks: whether the message may go out in this version.
    package func service(for head: HTTPRequest, speaking speaks: (HTTPVersion) -> Bool) -> Service? {
        guard head.scheme == "https" else { return nil }
        let now = now()
        return state.withLock { state in
            guard state.count > 0 else { return nil }
            return state.entries[Origin(of: head)]?.first {
                $0.service.expires > now && $0.brokenUntil <= now && speaks($0.service.version)
            }?.service
        }
    }

    /// Takes what the answer to a message over https says.
    package func take(from response: HTTPResponse, of head: HTTPRequest) {
        // Who answers so was not to be asked (6).
        guard head.scheme == "https", response.status != .misdirectedRequest,
            let text = response.headerFields[.altSvc], let said = AltSvc(text)
        else { return }
        let (origin, now) = (Origin(of: head), now())
        // Since then it counts (3.1).
        let age = response.headerFields[single: .age].flatMap { Int(digits: $0) } ?? 0
        var services: [Service] = []
        if case .alternatives(let alternatives) = said {
            services = alternatives.compactMap { Service($0, for: origin, at: now, since: age) }
        }
        state.withLock { state in
            let known = state.entries[origin] ?? []
            let entries = services.map { service in
                let brokenUntil = known.first { $0.service.leads(where: service) }?.brokenUntil
                return Entry(service: service, brokenUntil: brokenUntil ?? .distantPast)
            }
            state.set(entries, for: origin, at: now)
        }
    }

    /// A service could not be reached, or does not speak as it should.
    package func rest(_ service: Service) {
        let until = now().addingTimeInterval(Self.rest)
        state.withLock { state in
            let place = state.entries[service.origin]?.firstIndex { $0.service.leads(where: service) }
            if let place { state.entries[service.origin]?[place].brokenUntil = until }
        }
    }

    /// A service does not answer for its origin.
    package func forget(_ service: Service) {
        state.withLock { state in
            let others = state.entries[service.origin, default: []].filter { !$0.service.leads(where: service) }
            state.set(others, for: service.origin, at: .distantPast)
        }
    }

    /// The network is another one (2.2).
    package func leaveNetwork() {
        removeAll { !$0.isPersistent }
        state.withLock { state in
            state.entries = state.entries.mapValues { $0.map { Entry(service: $0.service) } }
        }
    }
}

extension AltSvcStore.State {
    fileprivate mutating func set(_ entries: [AltSvcStore.Entry], for origin: Origin, at now: Date) {
        let kept = Array(entries.filter { $0.service.expires > now }.prefix(AltSvcStore.limitOfOrigin))
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
    /// What a server said; nil where we do not speak that, or where it leads to the origin itself over what TLS agrees on
    /// anyway.
    fileprivate init?(_ alternative: AltSvc.Alternative, for origin: Origin, at now: Date, since age: Int) {
        guard let version = Self.versions[alternative.protocolName] else { return nil }
        let seconds = min(alternative.maxAge, AltSvcStore.longest) - age
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

    /// By their names in ALPN.
    static let versions: [String: HTTPVersion] = ["h2": .http2, "h3": .http3]

    /// Whether it is the origin itself, over another protocol.
    package var isAtOrigin: Bool { host == origin.host && port == origin.port }

    /// Why it cannot be asked.
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
