/// A server that passes requests on.
public struct Proxy: Sendable, Hashable {
    /// How the proxy is spoken to.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// HTTP. It is handed http requests as they are; https ones go through a tunnel (CONNECT, RFC 9110, 9.3.6).
        case http
        /// HTTP over TLS. `NetworkError.Kind.unsupported` where libcurl lacks it.
        case https
        /// SOCKS 4. Host names are resolved here, to IPv4.
        case socks4
        /// SOCKS 4a. The proxy resolves host names.
        case socks4a
        /// SOCKS 5 (RFC 1928). Host names are resolved here.
        case socks5
        /// SOCKS 5. The proxy resolves host names.
        case socks5h

        /// Whether it is one of HTTP's.
        package var isHTTP: Bool { self == .http || self == .https }
    }

    /// How the proxy is spoken to.
    public var scheme: Scheme
    /// Its name or address, an IPv6 address in brackets.
    public var host: String
    /// Its port, in 1...65,535.
    public var port: Int
    /// Who asks: as Basic to a proxy of HTTP (RFC 7617), as user name and password to one of SOCKS 5 (RFC 1929), as user
    /// name alone to one of SOCKS 4. Never sent to the server. nil for nobody.
    public var credentials: Credentials?
    /// Hosts asked without the proxy: a name stands for itself and what is below it, `*` for all, `10.0.0.0/8` or `fd00::/8` for
    /// its addresses. `no_proxy` of the environment does not count beside it. None by default. Where requests of other
    /// credentials or fields have had tunnels of the same proxy, such a host gets a connection of its own for each https
    /// request: whether it is an exception only libcurl knows. `ProxyRoute.direct` keeps its connections.
    /// https://curl.se/libcurl/c/CURLOPT_NOPROXY.html
    public var exceptions: [String] = []
    /// Fields that the proxy gets and the server does not, such as a `Proxy-Authorization` of your own. A request that
    /// goes out without a tunnel carries them beside its own. Proxies of HTTP only. None by default.
    public var fields = HTTPFields()
    /// Whether http requests go through a tunnel, too. No by default: many proxies refuse that. Proxies of HTTP only.
    public var tunnelsEverything = false
    /// Whom to trust about the proxy's own certificate: `Scheme.https` only. `TransferOptions.trust` is for servers.
    public var trust = TLSTrust.system

    /// A proxy at this address.
    public init(_ scheme: Scheme, host: String, port: Int, credentials: Credentials? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    /// The proxy of a URL as curl takes it: `[scheme://][user:password@]host[:port]`. Without a scheme it is http,
    /// without a port 443 for https and 1080 for all others. User and password may be percent-encoded.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` where it is no such URL. The error does not repeat it.
    public init(url text: String) throws(NetworkError) {
        let url = URLReference(text.contains("://") ? text : "http://\(text)")
        guard let schemeName = url.scheme, let authority = url.authority else {
            throw .badProxy("its URL is malformed or has no host")
        }
        guard let scheme = Scheme(rawValue: schemeName.lowercased()) else {
            throw .badProxy("its URL has the unsupported scheme \(schemeName)")
        }
        guard url.hasNothingBehindAuthority else {
            throw .badProxy("its URL has more than a scheme, user, host and port")
        }
        let (user, address) = URLReference.cutUser(of: authority)
        let site: WireURL
        do {
            site = try WireURL("http://\(address)")
        } catch {
            throw .badProxy("its URL is malformed or has no host")
        }
        self.init(scheme, host: site.host, port: site.port ?? (scheme == .https ? 443 : 1080))
        guard let user else { return }
        let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let (name, password) = (parts.first ?? "", parts.dropFirst().first ?? "")
        // What is no escape stands for itself, as curl takes it.
        credentials = Credentials(
            user: PercentEncoding.decode(name) ?? String(name),
            password: PercentEncoding.decode(password) ?? String(password)
        )
    }

    /// `scheme://host:port`, without credentials.
    package var address: String { "\(scheme.rawValue)://\(host):\(port)" }
}

extension NetworkError {
    fileprivate static func badProxy(_ problem: String) -> NetworkError {
        .badOption("proxy", problem, advice: "write http://HOST:PORT, or https, socks4, socks4a, socks5 or socks5h")
    }

    /// A value of `TransferOptions` that cannot be used, found before anything was sent.
    package static func badOption(_ name: String, _ problem: String, advice: String? = nil) -> NetworkError {
        NetworkError(.badConfiguration, during: .build, "TransferOptions.\(name): \(problem)", advice: advice)
    }
}

extension Proxy: CustomStringConvertible, CustomReflectable {
    /// `scheme://host:port`: fields and credentials may be secret.
    public var description: String { address }
    /// Nothing: `dump` shows what a mirror has.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
