/// Stores the cookies that servers set and selects those for each request (draft-ietf-httpbis-rfc6265bis, 5.7 and 5.8).
///
/// A jar is shared by the clients that are configured with it (`CurlTransport.Configuration.cookies`). It rejects
/// cookies for a public suffix such as `co.uk`, as listed by the system's libpsl. Without libpsl, each cookie is
/// limited to the host that set it. The jar holds at most 180 cookies per domain and 3,000 in total, and evicts the
/// least recently used. `SameSite` is stored but not enforced, because an app has no site of its own.
public final class CookieJar: Sendable {
    static let limitPerDomain = 180
    static let limit = 3_000
    /// The maximum size of a `Cookie` field, in bytes.
    ///
    /// Cookies that don't fit aren't sent, because servers reject larger heads.
    static let fieldLimit = 8_190
    /// The longest lifetime of a cookie, in seconds: 400 days (5.5).
    static let maxLifetime = 400 * 86_400

    fileprivate struct StoredCookie {
        var cookie: Cookie
        let created: Int
        var used: Int
    }

    fileprivate struct State {
        var domains: [String: [StoredCookie]] = [:]
        var count = 0
        /// A counter of operations, which orders cookies by creation and use.
        var sequence = 0
    }

    private let state = Lock(State())
    private let now: @Sendable () -> Date
    private let suffixes: PublicSuffixes?

    /// Creates an empty jar.
    ///
    /// - Parameter now: The clock that decides when cookies expire.
    public convenience init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.init(suffixes: .system, now: now)
    }

    init(suffixes: PublicSuffixes?, now: @escaping @Sendable () -> Date) {
        self.suffixes = suffixes
        self.now = now
    }

    /// The cookies that haven't expired, in no particular order.
    public var cookies: [Cookie] {
        let now = now()
        return state.withLock { $0.domains.values.flatMap { $0 } }.map(\.cookie).filter { !$0.isExpired(at: now) }
    }

    /// Adds a cookie, replacing one with the same name, domain, path and `isHostOnly`.
    ///
    /// An expired cookie only removes the one that it replaces.
    public func set(_ cookie: Cookie) {
        let now = now()
        state.withLock { $0.put(cookie, at: now) }
    }

    /// Removes all cookies that satisfy a condition.
    public func removeAll(where condition: (Cookie) -> Bool = { _ in true }) {
        for cookie in cookies where condition(cookie) { state.withLock { _ = $0.remove(cookie) } }
    }

    // MARK: - Requests and responses

    /// Returns the value of the `Cookie` field for a request, or `nil` if there are no cookies to send.
    ///
    /// - Parameter own: The field that the request already has. Its cookies come first and replace cookies of the jar
    ///   with the same name.
    /// - Returns: Opaque text (`String(opaque:)`).
    package func field(for head: HTTPRequest, own: String?) -> String? {
        let own = own.flatMap { $0.isEmpty ? nil : $0 }
        let taken = Set((own ?? "").split(separator: ";").map { $0.prefix { $0 != "=" }.trimmed })
        var field = own ?? ""
        for cookie in cookies(for: head) where !taken.contains(cookie.name) {
            let pair = cookie.pair
            guard field.utf8.count + pair.utf8.count + 2 <= Self.fieldLimit else { continue }
            field += field.isEmpty ? pair : "; \(pair)"
        }
        return field.isEmpty ? nil : field
    }

    /// Returns the cookies for a request: longer paths first, then older cookies first.
    func cookies(for head: HTTPRequest) -> [Cookie] {
        let host = Origin(of: head).host
        let path = head.pathWithoutQuery
        let isSecure = head.scheme == "https"
        let now = now()
        var found: [StoredCookie] = state.withLock { state in
            guard state.count > 0 else { return [] }
            state.sequence += 1
            var found: [StoredCookie] = []
            for domain in host.domainAndParents {
                guard let places = state.domains[domain]?.indices else { continue }
                for index in places {
                    guard let cookie = state.domains[domain]?[index].cookie, !cookie.isExpired(at: now),
                        !cookie.isSecure || isSecure, cookie.matches(host: host), cookie.matches(path: path)
                    else { continue }
                    state.domains[domain]?[index].used = state.sequence
                    if let kept = state.domains[domain]?[index] { found.append(kept) }
                }
            }
            return found
        }
        found.sort { one, other in
            let (length, otherLength) = (one.cookie.path.utf8.count, other.cookie.path.utf8.count)
            return length == otherLength ? one.created < other.created : length > otherLength
        }
        return found.map(\.cookie)
    }

    /// Stores the cookies that a response sets.
    package func store(from response: RawHead, of head: HTTPRequest) {
        response.forEachSetCookie { store($0, of: head) }
    }

    /// Stores the cookies that a response sets.
    package func store(from fields: HTTPFields, of head: HTTPRequest) {
        store(from: RawHead(HTTPResponse(status: .ok, headerFields: fields)), of: head)
    }

    private func store(_ bytes: UnsafeBufferPointer<UInt8>, of head: HTTPRequest) {
        guard let set = SetCookie(bytes: bytes), let cookie = cookie(set, of: head) else { return }
        let now = now()
        state.withLock { state in
            if !cookie.isSecure, head.scheme != "https", state.shadowsSecure(cookie, at: now) { return }
            state.put(cookie, at: now)
        }
    }

    /// Returns the cookie to store, or `nil` if the response isn't allowed to set it (5.7).
    private func cookie(_ set: SetCookie, of head: HTTPRequest) -> Cookie? {
        let host = Origin(of: head).host
        let isSecure = head.scheme == "https"
        guard isSecure || !set.isSecure else { return nil }
        var domain = set.domain
        if let wanted = domain, wanted != host {
            guard host.isSubdomain(of: wanted), wanted.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
            if let suffixes {
                if suffixes.contains(wanted) { return nil }
            } else {
                domain = nil
            }
        } else if domain != nil, suffixes?.contains(host) != false || IPAddress(host) != nil {
            domain = nil
        }
        guard Self.satisfiesNamePrefix(set, isHostOnly: domain == nil) else { return nil }
        return Cookie(
            name: set.name,
            value: set.value,
            domain: domain ?? host,
            isHostOnly: domain == nil,
            path: set.path ?? head.defaultPath,
            expires: expiry(of: set),
            isSecure: set.isSecure,
            isHTTPOnly: set.isHTTPOnly,
            sameSite: set.sameSite
        )
    }

    /// Returns whether a cookie meets the requirements of its `__Host-` or `__Secure-` name prefix (4.1.3).
    ///
    /// The value of a cookie without a name must not begin with such a prefix.
    private static func satisfiesNamePrefix(_ set: SetCookie, isHostOnly: Bool) -> Bool {
        // Compare bytes, because a combining mark after the prefix would change its last `Character`.
        let name = (set.name.isEmpty ? set.value : set.name).lowercased().utf8
        if name.starts(with: "__host-".utf8) {
            return !set.name.isEmpty && set.isSecure && isHostOnly && set.path == "/"
        }
        return !name.starts(with: "__secure-".utf8) || (!set.name.isEmpty && set.isSecure)
    }

    private func expiry(of set: SetCookie) -> Date? {
        let now = now()
        let latest = now.addingTimeInterval(TimeInterval(Self.maxLifetime))
        if let maxAge = set.maxAge {
            return maxAge <= 0 ? .distantPast : now.addingTimeInterval(TimeInterval(min(maxAge, Self.maxLifetime)))
        }
        return set.expires.map { min(Date(timeIntervalSince1970: TimeInterval($0)), latest) }
    }
}

extension CookieJar.State {
    /// Adds a cookie. A cookie that it replaces passes on its creation time.
    fileprivate mutating func put(_ cookie: Cookie, at now: Date) {
        let old = remove(cookie)
        guard !cookie.isExpired(at: now) else { return }
        sequence += 1
        domains[cookie.domain, default: []].append(
            .init(cookie: cookie, created: old?.created ?? sequence, used: sequence)
        )
        count += 1
        evictExcess(in: cookie.domain, at: now)
    }

    fileprivate mutating func remove(_ cookie: Cookie) -> CookieJar.StoredCookie? {
        let place = domains[cookie.domain]?.firstIndex { kept in
            kept.cookie.name == cookie.name && kept.cookie.path == cookie.path
                && kept.cookie.isHostOnly == cookie.isHostOnly
        }
        guard let place else { return nil }
        count -= 1
        defer { if domains[cookie.domain]?.isEmpty == true { domains[cookie.domain] = nil } }
        return domains[cookie.domain]?.remove(at: place)
    }

    /// Returns whether a cookie that was set without TLS would override a secure cookie (5.7, step 17).
    fileprivate func shadowsSecure(_ cookie: Cookie, at now: Date) -> Bool {
        domains.values.joined().contains { kept in
            let other = kept.cookie
            let areRelated =
                other.domain == cookie.domain || other.domain.isSubdomain(of: cookie.domain)
                || cookie.domain.isSubdomain(of: other.domain)
            return other.isSecure && !other.isExpired(at: now) && other.name == cookie.name && areRelated
                && other.matches(path: cookie.path)
        }
    }

    /// Evicts expired cookies first, then the least recently used (end of 5.7).
    private mutating func evictExcess(in domain: String, at now: Date) {
        while let kept = domains[domain], kept.count > CookieJar.limitPerDomain {
            guard let last = kept.min(by: { $0.isEvictedBefore($1, at: now) }) else { break }
            _ = remove(last.cookie)
        }
        guard count > CookieJar.limit,
            let last = domains.values.joined().min(by: { $0.isEvictedBefore($1, at: now) })
        else { return }
        _ = remove(last.cookie)
    }
}

extension CookieJar.StoredCookie {
    fileprivate func isEvictedBefore(_ other: Self, at now: Date) -> Bool {
        let (hasEnded, otherHasEnded) = (cookie.isExpired(at: now), other.cookie.isExpired(at: now))
        return hasEnded == otherHasEnded ? used < other.used : hasEnded
    }
}

extension Cookie {
    func isExpired(at now: Date) -> Bool {
        expires.map { $0 <= now } ?? false
    }
}

extension HTTPRequest {
    /// The path without the query.
    fileprivate var pathWithoutQuery: String {
        let path = path ?? "/"
        return path.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(path[..<$0]) } ?? path
    }

    /// The path up to but excluding the last slash (5.1.4).
    fileprivate var defaultPath: String {
        let path = pathWithoutQuery
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

extension String {
    /// This host and all its parent domains. An IP address has no parents.
    fileprivate var domainAndParents: [String] {
        guard IPAddress(self) == nil else { return [self] }
        var rest = self[...]
        var all = [self]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            all.append(String(rest))
        }
        return all
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
