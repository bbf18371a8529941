/// Keeps the cookies that servers set, and gives each request its own (draft-ietf-httpbis-rfc6265bis, 5.7 and 5.8).
///
/// A jar belongs to the clients that it is given to (`CurlConfiguration.cookies`). It takes no cookie for a public suffix
/// (`co.uk`), as the system's libpsl knows them; where there is none, each cookie stays with its host alone. It keeps no
/// more than 180 cookies of a host and 3,000 in all; those used least recently go first. `SameSite` is kept, not obeyed:
/// an app has no site of its own.
public final class CookieJar: Sendable {
    static let limitOfDomain = 180
    static let limit = 3_000
    /// Bytes of a `Cookie` field; what doesn't fit stays behind. Servers refuse a head of more.
    static let fieldLimit = 8_190
    /// No cookie lives longer than 400 days (5.5).
    static let longestLife = 400 * 86_400

    fileprivate struct Kept {
        var cookie: Cookie
        let created: Int
        var used: Int
    }

    fileprivate struct State {
        var domains: [String: [Kept]] = [:]
        var count = 0
        /// Counts what happens, for the order of things.
        var turn = 0
    }

    private let state = Lock(State())
    private let now: @Sendable () -> Date
    private let suffixes: PublicSuffixes?

    /// An empty jar.
    ///
    /// - Parameter now: tells the time, by which cookies end.
    public convenience init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.init(suffixes: .system, now: now)
    }

    init(suffixes: PublicSuffixes?, now: @escaping @Sendable () -> Date) {
        self.suffixes = suffixes
        self.now = now
    }

    /// The cookies that have not ended, in no particular order.
    public var cookies: [Cookie] {
        let now = now()
        return state.withLock { $0.domains.values.flatMap { $0 } }.map(\.cookie).filter { !$0.hasEnded(at: now) }
    }

    /// Puts a cookie of the app's own into the jar, in the place of one of the same name, domain and path. One that has
    /// ended takes that one away.
    public func set(_ cookie: Cookie) {
        let now = now()
        state.withLock { $0.put(cookie, at: now) }
    }

    /// Takes all cookies away that fulfil a condition.
    public func removeAll(where condition: (Cookie) -> Bool = { _ in true }) {
        for cookie in cookies where condition(cookie) { state.withLock { _ = $0.remove(cookie) } }
    }

    // MARK: - Of a message

    /// The `Cookie` field for a message; nil where it gets none.
    ///
    /// - Parameter own: the field that the message has already: its cookies come first, and none of the jar has the name
    ///   of one of them.
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

    /// The cookies of a message, those of longer paths first, then the older.
    func cookies(for head: HTTPRequest) -> [Cookie] {
        let host = Origin(of: head).host
        let path = head.pathAlone
        let isSecure = head.scheme == "https"
        let now = now()
        var found: [Kept] = state.withLock { state in
            guard state.count > 0 else { return [] }
            state.turn += 1
            var found: [Kept] = []
            for domain in host.andDomainsAbove {
                guard let places = state.domains[domain]?.indices else { continue }
                for index in places {
                    guard let cookie = state.domains[domain]?[index].cookie, !cookie.hasEnded(at: now),
                        !cookie.isSecure || isSecure, cookie.matches(host: host), cookie.matches(path: path)
                    else { continue }
                    state.domains[domain]?[index].used = state.turn
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

    /// Takes the cookies that the answer to a message sets.
    package func take(from response: RawHead, of head: HTTPRequest) {
        response.forEachSetCookie { take($0, of: head) }
    }

    /// Takes the cookies that the answer to a message sets.
    package func take(from fields: HTTPFields, of head: HTTPRequest) {
        take(from: RawHead(HTTPResponse(status: .ok, headerFields: fields)), of: head)
    }

    private func take(_ bytes: UnsafeBufferPointer<UInt8>, of head: HTTPRequest) {
        guard let set = SetCookie(bytes: bytes), let cookie = cookie(set, of: head) else { return }
        let now = now()
        state.withLock { state in
            if !cookie.isSecure, head.scheme != "https", state.shadowsSecure(cookie, at: now) { return }
            state.put(cookie, at: now)
        }
    }

    /// The cookie to keep; nil where this message's answer must not set it (5.7).
    private func cookie(_ set: SetCookie, of head: HTTPRequest) -> Cookie? {
        let host = Origin(of: head).host
        let isSecure = head.scheme == "https"
        guard isSecure || !set.isSecure else { return nil }
        var domain = set.domain
        if let wanted = domain, wanted != host {
            guard host.isBelow(wanted), wanted.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
            if let suffixes {
                if suffixes.contains(wanted) { return nil }
            } else {
                domain = nil
            }
        } else if domain != nil, suffixes?.contains(host) != false || IPAddress(host) != nil {
            domain = nil
        }
        guard Self.keepsPromise(set, isHostOnly: domain == nil) else { return nil }
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

    /// What the prefix of the name promises (4.1.3). A cookie without a name must not look as if it had one.
    private static func keepsPromise(_ set: SetCookie, isHostOnly: Bool) -> Bool {
        // Bytes: a character goes on with the mark that follows it.
        let name = (set.name.isEmpty ? set.value : set.name).lowercased().utf8
        if name.starts(with: "__host-".utf8) {
            return !set.name.isEmpty && set.isSecure && isHostOnly && set.path == "/"
        }
        return !name.starts(with: "__secure-".utf8) || (!set.name.isEmpty && set.isSecure)
    }

    private func expiry(of set: SetCookie) -> Date? {
        let now = now()
        let latest = now.addingTimeInterval(TimeInterval(Self.longestLife))
        if let maxAge = set.maxAge {
            return maxAge <= 0 ? .distantPast : now.addingTimeInterval(TimeInterval(min(maxAge, Self.longestLife)))
        }
        return set.expires.map { min(Date(timeIntervalSince1970: TimeInterval($0)), latest) }
    }
}

extension CookieJar.State {
    /// In the place of one of the same name, domain and path, with its age.
    fileprivate mutating func put(_ cookie: Cookie, at now: Date) {
        let old = remove(cookie)
        guard !cookie.hasEnded(at: now) else { return }
        turn += 1
        domains[cookie.domain, default: []].append(.init(cookie: cookie, created: old?.created ?? turn, used: turn))
        count += 1
        makeRoom(in: cookie.domain, at: now)
    }

    fileprivate mutating func remove(_ cookie: Cookie) -> CookieJar.Kept? {
        let place = domains[cookie.domain]?.firstIndex { kept in
            kept.cookie.name == cookie.name && kept.cookie.path == cookie.path
                && kept.cookie.isHostOnly == cookie.isHostOnly
        }
        guard let place else { return nil }
        count -= 1
        defer { if domains[cookie.domain]?.isEmpty == true { domains[cookie.domain] = nil } }
        return domains[cookie.domain]?.remove(at: place)
    }

    /// Whether a cookie that came without TLS would take the place of one that came with it (5.7, step 17).
    fileprivate func shadowsSecure(_ cookie: Cookie, at now: Date) -> Bool {
        domains.values.joined().contains { kept in
            let other = kept.cookie
            let areRelated =
                other.domain == cookie.domain || other.domain.isBelow(cookie.domain)
                || cookie.domain.isBelow(other.domain)
            return other.isSecure && !other.hasEnded(at: now) && other.name == cookie.name && areRelated
                && other.matches(path: cookie.path)
        }
    }

    /// Those that have ended go first, then those used least recently (5.7, at its end).
    private mutating func makeRoom(in domain: String, at now: Date) {
        while let kept = domains[domain], kept.count > CookieJar.limitOfDomain {
            guard let last = kept.min(by: { $0.goesBefore($1, at: now) }) else { break }
            _ = remove(last.cookie)
        }
        guard count > CookieJar.limit,
            let last = domains.values.joined().min(by: { $0.goesBefore($1, at: now) })
        else { return }
        _ = remove(last.cookie)
    }
}

extension CookieJar.Kept {
    fileprivate func goesBefore(_ other: Self, at now: Date) -> Bool {
        let (hasEnded, otherHasEnded) = (cookie.hasEnded(at: now), other.cookie.hasEnded(at: now))
        return hasEnded == otherHasEnded ? used < other.used : hasEnded
    }
}

extension Cookie {
    func hasEnded(at now: Date) -> Bool {
        expires.map { $0 <= now } ?? false
    }
}

extension HTTPRequest {
    /// The path without its query.
    fileprivate var pathAlone: String {
        let path = path ?? "/"
        return path.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(path[..<$0]) } ?? path
    }

    /// Up to the last slash, but not with it (5.1.4).
    fileprivate var defaultPath: String {
        let path = pathAlone
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

extension String {
    /// This host, and what is left of it when label after label is taken away; of an IP address itself alone.
    fileprivate var andDomainsAbove: [String] {
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
