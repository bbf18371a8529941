/// A cookie as a jar keeps it (draft-ietf-httpbis-rfc6265bis, 5.6).
public struct Cookie: Sendable, Hashable {
    /// What a browser would hold a cookie to. An app has no site of its own: it is kept, not obeyed.
    public enum SameSite: String, Sendable {
        /// Only with requests of the same site.
        case strict
        /// Also when a link leads there.
        case lax
        /// With all requests.
        case none
    }

    /// The name; may be empty. Bytes of a server's that aren't UTF-8 are kept, and sent, as they came: each is a character from
    /// U+10FF80 to U+10FFFF here, whose last eight bits it is.
    public var name: String
    /// The value. Bytes that aren't UTF-8 are kept as in `name`.
    public var value: String
    /// The host that it goes to, in lower case and in its ASCII form (`xn--…`).
    public var domain: String
    /// Whether it goes to that host alone, not to those below it.
    public var isHostOnly: Bool
    /// The path that it goes to, and to those below it.
    public var path: String
    /// When it ends; nil: with the jar.
    public var expires: Date?
    /// Whether it goes over https alone.
    public var isSecure: Bool
    /// Whether a browser would hide it from scripts.
    public var isHTTPOnly: Bool
    /// What the server said of other sites; nil where it said nothing.
    public var sameSite: SameSite?

    /// A cookie of a host; by default of this host alone, of all its paths, until the jar ends.
    public init(
        name: String,
        value: String,
        domain: String,
        isHostOnly: Bool = true,
        path: String = "/",
        expires: Date? = nil,
        isSecure: Bool = true,
        isHTTPOnly: Bool = false,
        sameSite: SameSite? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = HostName.comparable(domain)
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
    }

    /// `name=value`, or the value alone where there is no name (5.8.3).
    var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

    /// Whether it goes to a host (5.1.3).
    func matches(host: String) -> Bool {
        domain == host || (!isHostOnly && host.isBelow(domain))
    }

    /// Whether it goes to a path (5.1.4).
    func matches(path other: String) -> Bool {
        guard other.utf8.starts(with: path.utf8) else { return false }
        let rest = other.utf8.dropFirst(path.utf8.count)
        return rest.isEmpty || path.utf8.last == UInt8(ascii: "/") || rest.first == UInt8(ascii: "/")
    }
}

extension Cookie: CustomStringConvertible {
    /// All but the value, which is a secret.
    public var description: String {
        "\(name)=\(Redactor.placeholder) for \(isHostOnly ? "" : "*.")\(domain)\(path)"
    }
}

extension String {
    /// Whether this host is a subdomain of another; an IP address is none.
    func isBelow(_ domain: String) -> Bool {
        utf8.count > domain.utf8.count && utf8.reversed().starts(with: domain.utf8.reversed())
            && utf8.dropLast(domain.utf8.count).last == UInt8(ascii: ".") && IPAddress(self) == nil
    }
}
