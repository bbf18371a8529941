/// A cookie in a cookie jar (draft-ietf-httpbis-rfc6265bis, 5.6).
public struct Cookie: Sendable, Hashable {
    /// The `SameSite` attribute of a cookie.
    ///
    /// It is stored but not enforced, because an app has no site of its own.
    public enum SameSite: String, Sendable {
        /// A browser sends the cookie only with requests of the same site.
        case strict
        /// A browser also sends the cookie when the user follows a link to its site.
        case lax
        /// A browser sends the cookie with all requests.
        case none
    }

    /// The name, which may be empty.
    ///
    /// Bytes from the server that aren't UTF-8 are stored and sent back unchanged. Each is represented by a character
    /// from U+10FF80 to U+10FFFF whose low eight bits are the byte.
    public var name: String
    /// The value.
    ///
    /// Bytes that aren't UTF-8 are represented as in `name`.
    public var value: String
    /// The host that the cookie is sent to, in lower case and ASCII form (`xn--…`).
    public var domain: String
    /// Whether the cookie is sent only to `domain` itself and not to its subdomains.
    public var isHostOnly: Bool
    /// The path that the cookie is sent to, including the paths below it.
    public var path: String
    /// The expiry date, or `nil` for a session cookie, which lasts as long as the jar.
    public var expires: Date?
    /// Whether the cookie is sent only over https.
    public var isSecure: Bool
    /// Whether a browser would hide the cookie from scripts.
    public var isHTTPOnly: Bool
    /// The `SameSite` attribute, or `nil` if the server didn't set one.
    public var sameSite: SameSite?

    /// Creates a cookie.
    ///
    /// By default it is a session cookie for all paths of this host only, sent over https.
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
        self.domain = HostName.normalized(domain)
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
    }

    /// The pair `name=value`, or the value alone if the name is empty (5.8.3).
    var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

    /// Returns whether the cookie is sent to a host (5.1.3).
    func matches(host: String) -> Bool {
        domain == host || (!isHostOnly && host.isSubdomain(of: domain))
    }

    /// Returns whether the cookie is sent to a path (5.1.4).
    func matches(path other: String) -> Bool {
        guard other.utf8.starts(with: path.utf8) else { return false }
        let rest = other.utf8.dropFirst(path.utf8.count)
        return rest.isEmpty || path.utf8.last == UInt8(ascii: "/") || rest.first == UInt8(ascii: "/")
    }
}

extension Cookie: CustomStringConvertible {
    /// A description with the value redacted.
    public var description: String {
        "\(name)=\(Redactor.placeholder) for \(isHostOnly ? "" : "*.")\(domain)\(path)"
    }
}

extension String {
    /// Returns whether this host is a subdomain of another. An IP address never is.
    func isSubdomain(of domain: String) -> Bool {
        utf8.count > domain.utf8.count && utf8.reversed().starts(with: domain.utf8.reversed())
            && utf8.dropLast(domain.utf8.count).last == UInt8(ascii: ".") && IPAddress(self) == nil
    }
}
