/// Scheme, host and port: what may share credentials (RFC 6454, 4).
public struct Origin: Sendable, Hashable {
    /// `http` or `https`, in lower case.
    public let scheme: String
    /// The host in lower case and in its ASCII form (`xn--…`), an IPv6 address in brackets.
    public let host: String
    /// The port, the scheme's own where none is written.
    public let port: Int

    /// The origin of a URL, or nil where it has no scheme or host.
    public init?(_ url: URL) {
        self.init(ofURL: url.absoluteString)
    }

    /// The origin of these parts; without a port it is the scheme's own.
    public init(scheme: String, host: String, port: Int? = nil) {
        self.scheme = scheme.lowercased()
        self.host = HostName.comparable(host)
        self.port = port ?? (self.scheme == "https" ? 443 : 80)
    }
}

extension Origin {
    /// The origin of a message; of an authority that cannot be read its whole is the host.
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
