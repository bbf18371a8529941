import BeagleNetHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The proxies that the environment defines, and the addresses that it excludes from them.
struct ProxyEnvironment {
    /// Whether the environment may define a proxy. Checked once for each loop, not by libcurl for each request.
    var isDefined = false
    /// The addresses that the environment excludes from its proxy.
    var exceptions: [IPNetwork] = []

    /// The environment of the process.
    static var current: ProxyEnvironment {
        let lists = ["no_proxy", "NO_PROXY"].compactMap { (name: String) in getenv(name).map { String(cString: $0) } }
        let list: String = lists.first { !$0.isEmpty } ?? ""
        return ProxyEnvironment(
            isDefined: Proxy.isInEnvironment,
            exceptions: list.split { $0 == "," || $0 == " " || $0 == "\t" }.compactMap { IPNetwork(String($0)) }
        )
    }

    /// Returns whether a request may use a proxy, unless its host is excluded.
    func mayBeUsed(_ route: Proxy.Route) -> Bool {
        switch route {
        case .environment, .environmentExcept: isDefined
        case .direct: false
        case .through: true
        }
    }

    /// Returns whether the host is an address that is excluded from the proxy. Checked here because libcurl 7.88 ignores
    /// IPv6 networks; libcurl itself matches names.
    func isBypassed(by origin: ParsedOrigin, _ route: Proxy.Route) -> Bool {
        guard let address = origin.address else { return false }
        return switch route {
        case .environment: exceptions.contains { $0.contains(address) }
        case .environmentExcept(let hosts): hosts.contains { IPNetwork($0)?.contains(address) == true }
        case .direct: false
        case .through(let proxy): proxy.exceptions.contains { IPNetwork($0)?.contains(address) == true }
        }
    }
}

extension Proxy {
    /// The variables in which libcurl looks for http and https proxies.
    private static let environmentNames = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

    /// The addresses of the proxies that libcurl may find in the environment, in lower case.
    static let addressesOfEnvironment = Set(
        environmentNames.compactMap { getenv($0) }.flatMap { value in
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

    /// Whether the environment defines a proxy.
    fileprivate static var isInEnvironment: Bool {
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
