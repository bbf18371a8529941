/// A proxy server that forwards requests.
public struct Proxy: Sendable, Hashable {
    /// The protocol spoken to a proxy.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// HTTP, with http requests sent as they are and https requests through a tunnel (CONNECT, RFC 9110, 9.3.6).
        case http
        /// HTTP over TLS; `NetworkError.Kind.unsupported` if libcurl lacks it.
        case https
        /// SOCKS 4, with host names resolved by the client, to IPv4.
        case socks4
        /// SOCKS 4a, with host names resolved by the proxy.
        case socks4a
        /// SOCKS 5 (RFC 1928), with host names resolved by the client.
        case socks5
        /// SOCKS 5, with host names resolved by the proxy.
        case socks5h

        /// Whether the proxy speaks HTTP, with or without TLS.
        package var isHTTP: Bool { self == .http || self == .https }
    }

    /// The protocol spoken to the proxy.
    public var scheme: Scheme
    /// The name or address of the proxy; an IPv6 address is in brackets.
    public var host: String
    /// The port of the proxy, in 1...65,535.
    public var port: Int
    /// The credentials for the proxy, or `nil` for none.
    ///
    /// An HTTP proxy receives them as Basic authentication (RFC 7617), a SOCKS 5 proxy as user name and password (RFC
    /// 1929), and a SOCKS 4 proxy only the user name. They are never sent to the server.
    public var credentials: Credentials?
    /// The hosts that are reached without the proxy.
    ///
    /// A name matches itself and its subdomains, `*` matches every host, and `10.0.0.0/8` or `fd00::/8` matches the
    /// addresses in that network. Empty by default. The environment's `no_proxy` has no effect on this proxy.
    ///
    /// Only libcurl knows whether a host matches. After requests with other credentials or fields have opened tunnels
    /// through the same proxy, each https request to an excluded host therefore uses a new connection.
    /// `Proxy.Route.direct` reuses its connections. https://curl.se/libcurl/c/CURLOPT_NOPROXY.html
    public var exceptions: [String] = []
    /// The header fields that are sent to the proxy but not to the server, such as a custom `Proxy-Authorization`.
    ///
    /// A request that doesn't use a tunnel sends them together with its own fields. Only for HTTP proxies. Empty by
    /// default.
    public var fields = HTTPFields()
    /// Whether http requests also use a tunnel.
    ///
    /// The default is `false`, because many proxies refuse such tunnels. Only for HTTP proxies.
    public var tunnelsEverything = false
    /// The certificate authorities trusted for the proxy's own certificate.
    ///
    /// Only for `Scheme.https`. `TransferOptions.trust` applies to servers.
    public var trust = TLS.Trust.system

    /// Creates a proxy from its scheme, host and port.
    public init(_ scheme: Scheme, host: String, port: Int, credentials: Credentials? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    /// Creates a proxy from a URL in curl's format: `[scheme://][user:password@]host[:port]`.
    ///
    /// The default scheme is http. The default port is 443 for https and 1080 for all other schemes. The user name and
    /// password may be percent-encoded.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` if the URL is invalid. The error doesn't include the URL.
    public init(url text: String) throws(NetworkError) {
        let url = URLReference(text.contains("://") ? text : "http://\(text)")
        guard let schemeName = url.scheme, let authority = url.authority else {
            throw .badProxy("its URL is malformed or has no host")
        }
        guard let scheme = Scheme(rawValue: schemeName.lowercased()) else {
            throw .badProxy("its URL has the unsupported scheme \(schemeName)")
        }
        guard url.hasOnlyAuthority else {
            throw .badProxy("its URL has more than a scheme, user, host and port")
        }
        let (user, address) = URLReference.splitUser(from: authority)
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
        // A `%` that doesn't begin an escape stands for itself, as in curl.
        credentials = Credentials(
            user: PercentEncoding.decode(name) ?? String(name),
            password: PercentEncoding.decode(password) ?? String(password)
        )
    }

    /// `scheme://host:port`, without credentials.
    package var address: String { "\(scheme.rawValue)://\(host):\(port)" }
}

extension Proxy {
    /// The proxy through which servers are reached.
    public enum Route: Sendable, Hashable {
        /// The proxy named by the environment variables `http_proxy` (in lower case only), `https_proxy` or
        /// `all_proxy`, unless `no_proxy` names the host.
        ///
        /// The transport checks whether there is one when it starts to use a thread, which is usually at its first
        /// transfer and at its first stream. https://curl.se/libcurl/c/libcurl-env.html
        case environment
        /// The environment's proxy, except for these hosts, which are written as in `Proxy.exceptions`.
        ///
        /// `no_proxy` has no effect.
        case environmentExcept([String])
        /// No proxy, regardless of the environment.
        case direct
        /// The given proxy, regardless of the environment.
        case through(Proxy)
    }
}

extension NetworkError {
    fileprivate static func badProxy(_ problem: String) -> NetworkError {
        .badOption("proxy", problem, advice: "write http://HOST:PORT, or https, socks4, socks4a, socks5 or socks5h")
    }

    /// Returns an error for an unusable value of `TransferOptions`, which is found before anything is sent.
    package static func badOption(_ name: String, _ problem: String, advice: String? = nil) -> NetworkError {
        NetworkError(.badConfiguration, during: .build, "TransferOptions.\(name): \(problem)", advice: advice)
    }
}

extension Proxy: CustomStringConvertible, CustomReflectable {
    /// `scheme://host:port`.
    ///
    /// Fields and credentials are left out because they may be secret.
    public var description: String { address }
    /// A mirror without children, because `dump` prints a mirror's children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
