import BeagleNetHTTP
import CBeagleNetCurl

/// The proxy options.
extension HandleOptions {
    /// Adds the options for the route to a server.
    mutating func addProxy(_ route: Proxy.Route) {
        switch route {
        case .environment: break
        case .environmentExcept(let hosts): add(exceptions: hosts)
        case .direct: add(.proxy, "")
        case .through(let proxy): add(proxy)
        }
    }

    /// Adds the hosts that are excluded from the proxy.
    private mutating func add(exceptions: [String]) {
        // Without a value, libcurl would read the environment. An asterisk has effect only on its own.
        add(.proxyExceptions, exceptions.contains("*") ? "*" : exceptions.joined(separator: ","))
    }

    private mutating func add(_ proxy: Proxy) {
        add(.proxy, proxy.address)
        add(exceptions: proxy.exceptions)
        if let credentials = proxy.credentials {
            add(.proxyUser, credentials.user)
            add(.proxyPassword, credentials.password)
        }
        if proxy.tunnelsEverything { add(.tunnelsEverything, 1) }
        add(.proxyFieldsApart, Int(CURLHEADER_SEPARATE))
        if !proxy.fields.isEmpty { add(.proxyFields, proxy.fields) }
        guard proxy.scheme == .https else { return }
        add(.proxySSLVersion, Int(CURL_SSLVERSION_TLSv1_2))
        Self.add(proxy.trust, .proxyCAFile, .proxyAuthorities, .proxyCAPath, to: &settings)
    }
}
