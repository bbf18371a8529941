/// A scheme, host and port, within which credentials may be shared (RFC 6454, 4).
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// The scheme `http` or `https`, in lower case.
    public let scheme: String
    /// The host in lower case and ASCII form (`xn--…`), with an IPv6 address in brackets.
    public let host: String
    /// The port.
    ///
    /// If it isn't specified, the default port of the scheme.
    public let port: Int

    /// Creates the origin of a URL, or returns `nil` if the URL has no scheme or host.
    public init?(_ url: URL) {
        self.init(ofURL: url.absoluteString)
    }

    /// Creates an origin from its components.
    ///
    /// Without a port, the default port of the scheme is used.
    public init(scheme: String, host: String, port: Int? = nil) {
        self.scheme = scheme.lowercased()
        self.host = HostName.normalized(host)
        self.port = port ?? Self.defaultPort(of: self.scheme)
    }

    private static func defaultPort(of scheme: String) -> Int { scheme == "https" ? 443 : 80 }

    /// The origin as in a URL, without a default port: `https://example.com`.
    public var description: String {
        "\(scheme)://\(host)" + (port == Self.defaultPort(of: scheme) ? "" : ":\(port)")
    }
}

extension Origin {
    /// Creates the origin of a request. If the authority can't be parsed, all of it becomes the host.
    package init(of head: HTTPRequest) {
        let authority = head.authority ?? ""
        let end = authority.utf8.lastIndex(of: UInt8(ascii: ":"))
        let isPort = end.map { authority[$0...].dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) } } ?? false
        guard let end, isPort else {
            self.init(scheme: head.scheme ?? "", host: authority)
            return
        }
        let port = Int(authority[authority.index(after: end)...])
        self.init(scheme: head.scheme ?? "", host: String(authority[..<end]), port: port)
    }
}
