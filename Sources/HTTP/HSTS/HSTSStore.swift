/// Remembers which hosts want https alone (RFC 6797), so that a request for http goes out as https.
///
/// A store belongs to the clients that it is given to (`CurlConfiguration.hsts`). It believes answers over TLS only, and
/// keeps no more than 1,000 hosts; those that would be forgotten first go first.
public final class HSTSStore: Sendable {
    /// What a host wants.
    public struct Host: Sendable, Hashable {
        /// In lower case and in its ASCII form (`xn--…`), without a dot at its end.
        public var name: String
        /// Whether the hosts below it want it, too.
        public var includesSubdomains: Bool
        /// Until when.
        public var expires: Date

        /// A host that wants https alone.
        public init(name: String, includesSubdomains: Bool = false, expires: Date = .distantFuture) {
            self.name = HostName.comparable(name).withoutLastDot
            self.includesSubdomains = includesSubdomains
            self.expires = expires
        }
    }

    static let limit = 1_000

    private let state = Lock<[String: Host]>([:])
    private let now: @Sendable () -> Date

    /// A store that knows these hosts.
    ///
    /// - Parameters:
    ///   - hosts: what is known from the start, such as the app's own backend.
    ///   - now: tells the time, by which hosts are forgotten.
    public init(_ hosts: [Host] = [], now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
        for host in hosts { set(host) }
    }

    /// The hosts that want https now, in no particular order.
    public var hosts: [Host] {
        let now = now()
        return state.withLock { Array($0.values) }.filter { $0.expires > now }
    }

    /// Remembers a host, in the place of what was known of it. One that has expired is forgotten.
    public func set(_ host: Host) {
        let now = now()
        state.withLock { hosts in
            hosts[host.name] = host.expires > now ? host : nil
            guard hosts.count > Self.limit, let first = hosts.values.min(by: { $0.expires < $1.expires }) else {
                return
            }
            hosts[first.name] = nil
        }
    }

    /// Whether a host is asked over https alone (8.2).
    package func covers(_ host: String) -> Bool {
        let now = now()
        return state.withLock { hosts in
            guard !hosts.isEmpty else { return false }
            let host = host.withoutLastDot
            guard IPAddress(host) == nil else { return false }
            if let known = hosts[host], known.expires > now { return true }
            var rest = host[...]
            while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
                rest = rest[rest.utf8.index(after: dot)...]
                if let known = hosts[String(rest)], known.includesSubdomains, known.expires > now { return true }
            }
            return false
        }
    }

    /// Takes what the answer to a message over https says (8.1).
    package func take(from fields: HTTPFields, of head: HTTPRequest) {
        guard head.scheme == "https", let first = fields[values: .strictTransportSecurity].first,
            let policy = TransportSecurity(first)
        else { return }
        let seconds = TimeInterval(min(policy.maxAge, TransportSecurity.longest))
        let host = Host(
            name: Origin(of: head).host,
            includesSubdomains: policy.includesSubdomains,
            expires: now().addingTimeInterval(policy.maxAge == 0 ? -1 : seconds)
        )
        if IPAddress(host.name) == nil { set(host) }
    }
}

extension String {
    /// A host without the dot of the root, which makes no other host of it (8.2).
    fileprivate var withoutLastDot: String {
        utf8.last == UInt8(ascii: ".") ? String(Substring(utf8.dropLast())) : self
    }
}

/// What `Strict-Transport-Security` says (6.1): a pure function of its text.
package struct TransportSecurity: Hashable {
    /// A hundred years: what is longer is meant for ever.
    static let longest = 100 * 365 * 86_400

    /// Seconds; 0 takes back what was said before.
    package var maxAge: Int
    package var includesSubdomains = false

    /// nil where the text does not follow the rules, and is to be ignored.
    package init?(_ text: String) {
        var maxAge: Int?
        var seen: Set<String> = []
        for directive in text.utf8.split(separator: UInt8(ascii: ";")) {
            let equals = directive.firstIndex(of: UInt8(ascii: "=")) ?? directive.endIndex
            let name = Self.trimmed(directive[..<equals]).lowercased()
            if name.isEmpty { continue }
            guard seen.insert(name).inserted else { return nil }
            switch name {
            case "max-age":
                var digits = Self.trimmed(directive[equals...].dropFirst()).utf8[...]
                if digits.count > 1, digits.first == UInt8(ascii: "\""), digits.last == UInt8(ascii: "\"") {
                    digits = digits.dropFirst().dropLast()
                }
                guard let seconds = Int(digits: Substring(digits)) else { return nil }
                maxAge = seconds
            case "includesubdomains": includesSubdomains = true
            default: break
            }
        }
        guard let maxAge else { return nil }
        self.maxAge = maxAge
    }

    private static func trimmed(_ bytes: Substring.UTF8View) -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var bytes = bytes.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return String(Substring(bytes))
    }
}

extension HTTPRequest {
    /// The same message over https; an explicit port 80 becomes https' own (8.3).
    package mutating func upgrade() {
        scheme = "https"
        if let authority, authority.hasSuffix(":80") { self.authority = String(authority.dropLast(3)) }
    }
}
