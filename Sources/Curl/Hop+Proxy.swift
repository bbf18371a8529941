import BeagleNetHTTP
import CBeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Through whom a hop asks.
extension Hop {
    func configureProxy(_ route: ProxyRoute) throws(NetworkError) {
        switch route {
        case .environment: break
        case .direct: try require(easy.set(.proxy, ""))
        case .through(let proxy): try configure(proxy)
        }
    }

    private func configure(_ proxy: Proxy) throws(NetworkError) {
        try require(easy.set(.proxy, proxy.address))
        // Without a value libcurl would look into the environment.
        try require(easy.set(.proxyExceptions, proxy.exceptions.joined(separator: ",")))
        if let credentials = proxy.credentials {
            try require(easy.set(.proxyUser, credentials.user))
            try require(easy.set(.proxyPassword, credentials.password))
        }
        if proxy.tunnelsEverything { easy.set(.tunnelsEverything, 1) }
        easy.set(.proxyFieldsApart, Int(CURLHEADER_SEPARATE))
        if !proxy.fields.isEmpty {
            let list = LineList(proxy.fields)
            lists.append(list)
            try require(easy.set(.proxyFields, list.first))
        }
        if proxy.scheme == .https { try configureTLS(to: proxy) }
        if mayTunnel(through: proxy), !loop.tunnelOwners.mayShare(proxy) { keepToItself() }
    }

    private func configureTLS(to proxy: Proxy) throws(NetworkError) {
        easy.set(.proxySSLVersion, Int(CURL_SSLVERSION_TLSv1_2))
        switch proxy.trust {
        case .system:
            guard let file = TrustStore.systemFile else { return }
            try require(easy.set(.proxyCAFile, file))
        case .file(let path): try require(easy.set(.proxyCAFile, path))
        case .authorities(let bytes):
            try require(easy.set(.proxyAuthorities, bytes), for: "Proxy.trust", since: "7.77")
            easy.set(.proxyCAFile, nil)
        case .native: return
        }
        easy.set(.proxyCAPath, nil)
    }

    /// A connection of its own, which no other transfer uses: one that speaks HTTP/2 would be shared while it is open.
    private func keepToItself() {
        easy.set(.freshConnect, 1)
        easy.set(.forbidReuse, 1)
        easy.set(.httpVersion, Int(CURL_HTTP_VERSION_1_1))
    }

    /// libcurl reaches overridden hosts through a tunnel, too.
    private func mayTunnel(through proxy: Proxy) -> Bool {
        let isTunnelled = request.head.scheme == "https" || proxy.tunnelsEverything
        return proxy.scheme.isHTTP && (isTunnelled || request.options.extras?.overrides.isEmpty == false)
    }

    /// A tunnel to the server stands, or the proxy did not make one.
    func noteTunnel(stands: Bool) {
        guard case .through(let proxy)? = request.options.extras?.proxy, mayTunnel(through: proxy) else { return }
        let isRefused = easy.long(CURLINFO_HTTP_CONNECTCODE) == 407
        loop.tunnelOwners.note(proxy, stands: stands, isRefused: isRefused)
    }

    /// Whether a proxy has been reached that has yet to open the way to the server.
    var isBeforeTunnel: Bool {
        guard case .through(let proxy)? = request.options.extras?.proxy else { return false }
        return !proxy.scheme.isHTTP || easy.long(CURLINFO_HTTP_CONNECTCODE) / 100 != 2
    }
}

/// Who asked a proxy for tunnels first. libcurl would use a tunnel that was opened with other credentials.
struct TunnelOwners {
    private struct Owner {
        let credentials: Credentials?
        let fields: HTTPFields
        /// Whether a tunnel was made for it.
        var hasTunnels = false

        init(_ proxy: Proxy) {
            credentials = proxy.credentials
            fields = proxy.fields
        }

        func isSame(as other: Owner) -> Bool { credentials == other.credentials && fields == other.fields }
    }

    /// More proxies than this are not remembered; they get connections that are not shared.
    private static let limit = 1_000

    private var owners: [String: Owner] = [:]

    /// Whether the proxy's tunnels may be used by all who ask as this one does.
    mutating func mayShare(_ proxy: Proxy) -> Bool {
        let owner = Owner(proxy)
        let key = Self.key(proxy)
        if let first = owners[key] { return first.isSame(as: owner) }
        // What the environment's proxy was told is not known.
        guard owners.count < Self.limit, !Self.ofEnvironment.contains(key) else { return false }
        owners[key] = owner
        return true
    }

    /// What came of asking for a tunnel. One whose credentials are refused, or that never had a tunnel, makes room.
    mutating func note(_ proxy: Proxy, stands: Bool, isRefused: Bool) {
        let key = Self.key(proxy)
        guard let owner = owners[key], owner.isSame(as: Owner(proxy)) else { return }
        if stands {
            owners[key]?.hasTunnels = true
        } else if isRefused || !owner.hasTunnels {
            owners[key] = nil
        }
    }

    /// As libcurl compares proxies.
    private static func key(_ proxy: Proxy) -> String { proxy.address.lowercased() }

    /// The proxies that libcurl may find in the environment, as keys.
    private static let ofEnvironment: Set<String> = {
        Set(
            Proxy.environmentNames.compactMap { getenv($0) }.flatMap { value in
                var text = String(cString: value).lowercased()[...]
                var scheme = "http://"
                if let mark = text.firstRange(of: "://") {
                    scheme = String(text[..<mark.upperBound])
                    text = text[mark.upperBound...]
                }
                if let at = text.lastIndex(of: "@") { text = text[text.index(after: at)...] }
                let host = text.prefix { $0 != "/" }
                // libcurl's own port of proxies is 1080, whichever the scheme; 443 of https ones.
                return [scheme + host, scheme + host + ":1080", scheme + host + ":443"]
            }
        )
    }()
}

extension Proxy {
    /// Where libcurl looks for proxies of http and https.
    fileprivate static let environmentNames = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

    /// Whether the environment names a proxy.
    static var isInEnvironment: Bool {
        environmentNames.contains { name in getenv(name).map { $0.pointee != 0 } ?? false }
    }
}
