import BeagleNetHTTP
import CBeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The proxy options of a hop.
extension Hop {
    func configureProxy(_ route: Proxy.Route) throws(NetworkError) {
        if bypassesProxy { return }
        switch route {
        case .environment: break
        case .environmentExcept(let hosts): try configure(exceptions: hosts)
        case .direct: try require(easy.set(.proxy, ""))
        case .through(let proxy): try configure(proxy)
        }
    }

    /// Sets the hosts that are excluded from the proxy.
    private func configure(exceptions: [String]) throws(NetworkError) {
        // Without a value, libcurl would read the environment. An asterisk has effect only on its own.
        let list = exceptions.contains("*") ? "*" : exceptions.joined(separator: ",")
        try require(easy.set(.proxyExceptions, list))
    }

    private func configure(_ proxy: Proxy) throws(NetworkError) {
        try require(easy.set(.proxy, proxy.address))
        try configure(exceptions: proxy.exceptions)
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
        guard mayTunnel(through: proxy) else { return }
        sharesTunnels = loop.tunnelOwners.acquire(proxy)
        if !sharesTunnels { useUnsharedConnection() }
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

    /// Uses a new connection and doesn't share it. HTTP/1.1 is set because an HTTP/2 connection would be shared while
    /// it is open.
    func useUnsharedConnection() {
        easy.set(.freshConnect, 1)
        easy.set(.forbidReuse, 1)
        easy.set(.httpVersion, Int(CURL_HTTP_VERSION_1_1))
    }

    /// Returns whether libcurl may use a tunnel; it also does for hosts with an override.
    private func mayTunnel(through proxy: Proxy) -> Bool {
        let isTunnelled = request.head.scheme == "https" || proxy.tunnelsEverything
        return proxy.scheme.isHTTP && (isTunnelled || request.options.extras?.overrides.isEmpty == false)
    }

    /// Records the owner of a new connection if it may be a tunnel, until it is closed. An unidentified connection
    /// counts as never closed.
    func noteTunnel(_ connection: Connections.Connection?) {
        guard sharesTunnels, case .through(let proxy)? = request.options.extras?.proxy else { return }
        loop.tunnelOwners.noteTunnel(of: proxy)
        connection?.tunnel = proxy
    }

    /// Removes the hop from the users of the proxy's tunnels.
    func leaveTunnels() {
        guard sharesTunnels, case .through(let proxy)? = request.options.extras?.proxy else { return }
        loop.tunnelOwners.release(proxy)
    }

    /// Whether the proxy hasn't opened the connection to the server yet.
    var isBeforeTunnel: Bool {
        guard !bypassesProxy, case .through(let proxy)? = request.options.extras?.proxy else { return false }
        return !proxy.scheme.isHTTP || easy.long(CURLINFO_HTTP_CONNECTCODE) / 100 != 2
    }
}

/// The credentials with which each proxy's tunnels were opened. libcurl would reuse a tunnel that was opened with other
/// credentials.
struct TunnelOwners {
    private struct Owner {
        let credentials: Credentials?
        let fields: HTTPFields
        /// The number of hops that use one of its tunnels or request one.
        var hops = 0
        /// The number of its open tunnels; libcurl may keep them indefinitely.
        var tunnels = 0
        var isGone: Bool { hops == 0 && tunnels == 0 }

        init(_ proxy: Proxy) {
            credentials = proxy.credentials
            fields = proxy.fields
        }

        func isSame(as other: Owner) -> Bool { credentials == other.credentials && fields == other.fields }
    }

    /// The maximum number of proxies to remember; connections through further ones are not shared.
    private static let limit = 1_000

    private var owners: [String: Owner] = [:]

    /// Returns whether a hop may share tunnels with other hops that use the same proxy and credentials. If so, call
    /// `leave` later.
    mutating func acquire(_ proxy: Proxy) -> Bool {
        let key = Self.key(proxy)
        var owner = Owner(proxy)
        if let first = owners[key] {
            guard first.isSame(as: owner) else { return false }
            owner = first
        } else if owners.count >= Self.limit || Self.ofEnvironment.contains(key) {
            // The credentials used with the environment's proxy are unknown.
            return false
        }
        owner.hops += 1
        owners[key] = owner
        return true
    }

    /// Records a tunnel that was opened for a hop that has entered.
    mutating func noteTunnel(of proxy: Proxy) {
        owners[Self.key(proxy)]?.tunnels += 1
    }

    /// Records that a tunnel was closed.
    mutating func closeTunnel(of proxy: Proxy) {
        change(proxy) { $0.tunnels -= 1 }
    }

    /// Records the end of a hop that has entered.
    mutating func release(_ proxy: Proxy) {
        change(proxy) { $0.hops -= 1 }
    }

    /// Changes an owner's counts. Once no tunnel is open or pending, another owner may take over.
    private mutating func change(_ proxy: Proxy, _ change: (inout Owner) -> Void) {
        let key = Self.key(proxy)
        guard var owner = owners[key] else { return }
        change(&owner)
        owners[key] = owner.isGone ? nil : owner
    }

    /// Returns the identity of a proxy, as libcurl compares proxies.
    private static func key(_ proxy: Proxy) -> String { proxy.address.lowercased() }

    /// The keys of the proxies that libcurl may find in the environment.
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
                // libcurl's default port is 1080 for proxies of any scheme, and 443 for https ones.
                return [scheme + host, scheme + host + ":1080", scheme + host + ":443"]
            }
        )
    }()
}

extension Proxy {
    /// The hosts in the environment's `no_proxy`.
    static var exceptionsOfEnvironment: [String] {
        let names = ["no_proxy", "NO_PROXY"]
        let lists = names.compactMap { (name: String) -> String? in getenv(name).map { String(cString: $0) } }
        let list: String = lists.first { !$0.isEmpty } ?? ""
        return list.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
    }

    /// The variables in which libcurl looks for http and https proxies.
    fileprivate static let environmentNames = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

    /// Whether the environment defines a proxy.
    static var isInEnvironment: Bool {
        environmentNames.contains { name in getenv(name).map { $0.pointee != 0 } ?? false }
    }

    /// Redacts the user and password of the environment's proxies in a libcurl message. libcurl quotes URLs that it
    /// can't parse, and may mistake part of a password for the host.
    static func withoutSecrets(of text: String) -> String {
        guard isInEnvironment else { return text }
        return withoutSecrets(of: text, proxies: environmentNames.compactMap { getenv($0).map { String(cString: $0) } })
    }

    /// Redacts the user and password of these proxy URLs in a text.
    static func withoutSecrets(of text: String, proxies: [String]) -> String {
        proxies.reduce(text) { text, url in
            guard let at = url.lastIndex(of: "@") else { return text }
            let scheme = url[..<at].firstRange(of: "://")?.upperBound ?? url.startIndex
            let user = String(url[scheme..<at])
            guard !user.isEmpty else { return text }
            let parts = [user] + user.split { ":/?#@".contains($0) }.map { String($0) }
            let shown = text.replacing("\(user)@", with: "\(Redactor.placeholder)@")
            return parts.filter { $0.count >= shortestPart }
                .reduce(shown) { $0.replacing($1, with: Redactor.placeholder) }
        }
    }

    /// The minimum length of a redacted part; shorter parts occur in many ordinary words.
    private static let shortestPart = 4
}
