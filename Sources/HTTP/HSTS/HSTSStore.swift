/// A store of hosts that require https (RFC 6797).
///
/// Requests to them over http are sent over https instead.
///
/// A store is shared by the clients that are configured with it (`CurlTransport.Configuration.hsts`). It accepts
/// policies only from responses over TLS. It holds at most 1,000 hosts and evicts those that expire first.
public final class HSTSStore: Sendable {
    /// The policy of a host.
    public struct Host: Sendable, Hashable {
        /// The host in lower case and ASCII form (`xn--…`), without a trailing dot.
        public var name: String
        /// Whether the policy includes all subdomains.
        public var includesSubdomains: Bool
        /// The date when the policy expires.
        public var expires: Date

        /// Creates a policy that requires https for a host.
        public init(name: String, includesSubdomains: Bool = false, expires: Date = .distantFuture) {
            self.name = HostName.normalized(name).withoutLastDot
            self.includesSubdomains = includesSubdomains
            self.expires = expires
        }
    }

    static let limit = 1_000

    private let state = Lock<[String: Host]>([:])
    private let now: @Sendable () -> Date

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - hosts: Hosts that require https from the start, such as the app's own backend.
    ///   - now: The clock that decides when hosts expire.
    public init(_ hosts: [Host] = [], now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
        for host in hosts { set(host) }
    }

    /// The hosts whose policy hasn't expired, in no particular order.
    public var hosts: [Host] {
        let now = now()
        return state.withLock { Array($0.values) }.filter { $0.expires > now }
    }

    /// Stores the policy of a host, replacing its previous one.
    ///
    /// An expired policy removes the host.
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

    /// Returns whether a host requires https (8.2).
    package func requiresHTTPS(_ host: String) -> Bool {
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

    /// Stores the policy that a response over https announces (8.1).
    package func store(from fields: HTTPFields, of head: HTTPRequest) {
        guard head.scheme == "https", let first = fields[values: .strictTransportSecurity].first,
            let policy = TransportSecurity(first)
        else { return }
        let seconds = TimeInterval(min(policy.maxAge, TransportSecurity.maxLifetime))
        let host = Host(
            name: Origin(of: head).host,
            includesSubdomains: policy.includesSubdomains,
            expires: now().addingTimeInterval(policy.maxAge == 0 ? -1 : seconds)
        )
        if IPAddress(host.name) == nil { set(host) }
    }
}

extension String {
    /// The host without a trailing dot, which doesn't change its meaning (8.2).
    fileprivate var withoutLastDot: String {
        utf8.last == UInt8(ascii: ".") ? String(Substring(utf8.dropLast())) : self
    }
}

/// The parsed value of a `Strict-Transport-Security` field (6.1).
package struct TransportSecurity: Hashable {
    /// The longest lifetime, in seconds: a hundred years. Longer ones are shortened to it.
    static let maxLifetime = 100 * 365 * 86_400

    /// The lifetime in seconds. 0 removes the host's policy.
    package var maxAge: Int
    package var includesSubdomains = false

    /// Parses text, or returns `nil` if the syntax is invalid and the field must be ignored.
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
    /// Changes the request to https. An explicit port 80 is removed (8.3).
    package mutating func upgrade() {
        scheme = "https"
        if let authority, authority.hasSuffix(":80") { self.authority = String(authority.dropLast(3)) }
    }
}
