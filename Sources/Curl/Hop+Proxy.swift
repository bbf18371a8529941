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
        if isException { return }
        switch route {
        case .environment: break
        case .environmentExcept(let hosts): try configure(exceptions: hosts)
        case .direct: try require(easy.set(.proxy, ""))
        case .through(let proxy): try configure(proxy)
        }
    }

    /// Tells libcurl which hosts are asked without the proxy.
    private func configure(exceptions: [String]) throws(NetworkError) {
        // Without a value libcurl would look into the environment. The asterisk counts where it stands alone.
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
        sharesTunnels = loop.tunnelOwners.enter(proxy)
        if !sharesTunnels { keepToItself() }
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
    func keepToItself() {
        easy.set(.freshConnect, 1)
        easy.set(.forbidReuse, 1)
        easy.set(.httpVersion, Int(CURL_HTTP_VERSION_1_1))
    }

    /// libcurl reaches overridden hosts through a tunnel, too.
    private func mayTunnel(through proxy: Proxy) -> Bool {
        let isTunnelled = request.head.scheme == "https" || proxy.tunnelsEverything
        return proxy.scheme.isHTTP && (isTunnelled || request.options.extras?.overrides.isEmpty == false)
    }

    /// A connection was made: if it is a tunnel, it has an owner until it is closed. One that is not known is never closed.
    func noteTunnel(_ connection: Connections.Connection?) {
        guard sharesTunnels, case .through(let proxy)? = request.options.extras?.proxy else { return }
        loop.tunnelOwners.noteTunnel(of: proxy)
        connection?.tunnel = proxy
    }

    /// The hop is over.
    func leaveTunnels() {
        guard sharesTunnels, case .through(let proxy)? = request.options.extras?.proxy else { return }
        loop.tunnelOwners.leave(proxy)
    }

    /// Whether a proxy has been reached that has yet to open the way to the server.
    var isBeforeTunnel: Bool {
        guard !isException, case .through(let proxy)? = request.options.extras?.proxy else { return false }
        return !proxy.scheme.isHTTP || easy.long(CURLINFO_HTTP_CONNECTCODE) / 100 != 2
    }
}

/// Who asked a proxy for tunnels first. libcurl would use a tunnel that was opened with other credentials.
struct TunnelOwners {
    private struct Owner {
        let credentials: Credentials?
        let fields: HTTPFields
        /// Hops that have a tunnel of it, or ask for one.
        var hops = 0
        /// Tunnels that were made for it and are open: libcurl may keep them for as long as it likes.
        var tunnels = 0
        var isGone: Bool { hops == 0 && tunnels == 0 }

        init(_ proxy: Proxy) {
            credentials = proxy.credentials
            fields = proxy.fields
        }

        func isSame(as other: Owner) -> Bool { credentials == other.credentials && fields == other.fields }
    }

    /// More proxies than this are not remembered; they get connections that are not shared.
    private static let limit = 1_000

    private var owners: [String: Owner] = [:]

    /// Whether a hop may use the proxy's tunnels, and others its own, as all who ask as this one does may. It leaves later.
    mutating func enter(_ proxy: Proxy) -> Bool {
        let key = Self.key(proxy)
        var owner = Owner(proxy)
        if let first = owners[key] {
            guard first.isSame(as: owner) else { return false }
            owner = first
        } else if owners.count >= Self.limit || Self.ofEnvironment.contains(key) {
            // What the environment's proxy was told is not known.
            return false
        }
        owner.hops += 1
        owners[key] = owner
        return true
    }

    /// A tunnel was made for one that has entered.
    mutating func noteTunnel(of proxy: Proxy) {
        owners[Self.key(proxy)]?.tunnels += 1
    }

    /// A tunnel was closed.
    mutating func closeTunnel(of proxy: Proxy) {
        change(proxy) { $0.tunnels -= 1 }
    }

    /// One that has entered is over.
    mutating func leave(_ proxy: Proxy) {
        change(proxy) { $0.hops -= 1 }
    }

    /// Where there is no tunnel, and nobody may still get one, there is room for others.
    private mutating func change(_ proxy: Proxy, _ change: (inout Owner) -> Void) {
        let key = Self.key(proxy)
        guard var owner = owners[key] else { return }
        change(&owner)
        owners[key] = owner.isGone ? nil : owner
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
    /// The hosts that `no_proxy` of the environment excepts.
    static var exceptionsOfEnvironment: [String] {
        let names = ["no_proxy", "NO_PROXY"]
        let lists = names.compactMap { (name: String) -> String? in getenv(name).map { String(cString: $0) } }
        let list: String = lists.first { !$0.isEmpty } ?? ""
        return list.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
    }

    /// Where libcurl looks for proxies of http and https.
    fileprivate static let environmentNames = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

    /// Whether the environment names a proxy.
    static var isInEnvironment: Bool {
        environmentNames.contains { name in getenv(name).map { $0.pointee != 0 } ?? false }
    }

    /// What libcurl says, without user and password of the environment's proxies. It quotes URLs that it cannot parse, and may
    /// take a part of a password for the host.
    static func withoutSecrets(of text: String) -> String {
        guard isInEnvironment else { return text }
        return withoutSecrets(of: text, proxies: environmentNames.compactMap { getenv($0).map { String(cString: $0) } })
    }

    /// The text without user and password of these URLs of proxies.
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

    /// Shorter parts of a user and password stand in many a word.
    private static let shortestPart = 4
}
