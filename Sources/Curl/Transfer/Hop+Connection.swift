import BeagleNetHTTP
import CBeagleNetCurl
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The connection options of a hop.
extension Hop {
    func configureConnection(_ extras: TransferOptions.Extras) throws(NetworkError) {
        if let path = extras.unixSocket { try require(easy.set(.unixSocket, path)) }
        switch extras.ipVersion {
        case .any: break
        case .v4: easy.set(.ipVersion, Int(CURL_IPRESOLVE_V4))
        case .v6: easy.set(.ipVersion, Int(CURL_IPRESOLVE_V6))
        }
        if !extras.overrides.isEmpty {
            let list = LineList(lines: extras.overrides.map(\.line))
            lists.append(list)
            try require(easy.set(.overrides, list.first))
        }
        if let interface = extras.local.interface {
            // If there is no such interface, libcurl would resolve the name as a host name. Prefixing it with `if!` or
            // `host!` prevents that, but libcurl 8.14 then reuses connections that are bound to another interface.
            guard isAddress(interface) || hasInterface(interface) else {
                throw CurlFailure.error(
                    CURLE_INTERFACE_FAILED,
                    "there is no network interface \(interface)",
                    during: .connect,
                    with: request.options
                )
            }
            try require(easy.set(.interface, interface))
        }
        if let ports = extras.local.ports {
            easy.set(.localPort, ports.lowerBound)
            easy.set(.localPortCount, ports.count)
        }
    }

    /// Sets the connection options of the transport's configuration that differ from libcurl's defaults.
    func configureConnection(_ configuration: CurlTransport.Configuration) throws(NetworkError) {
        easy.set(.maxIdleAge, configuration.idleConnectionLifetime.seconds)
        if let lifetime = configuration.connectionLifetime {
            let name = "CurlTransport.Configuration.connectionLifetime"
            try require(easy.set(.maxAge, lifetime.seconds), for: name, since: "7.80")
        }
        easy.set(.happyEyeballsDelay, Int(configuration.happyEyeballsDelay.milliseconds))
        guard let keepAlive = configuration.keepAlive else { return }
        easy.set(.keepAlive, 1)
        easy.set(.keepAliveIdle, keepAlive.idle.seconds)
        easy.set(.keepAliveInterval, keepAlive.interval.seconds)
    }

    /// Whether to wait for a pending connection that may turn out to speak HTTP/2. Waiting gains nothing with an
    /// HTTP/1.1 server, whose connections serve one request at a time.
    var waitsForMultiplexing: Bool {
        mayMultiplex && (alternative != nil || !loop.http1OnlyAuthorities.contains(request.head.authority ?? ""))
    }

    /// Remembers whether an https server that was offered HTTP/2 accepted it.
    func noteVersion(isMultiplexed: Bool) {
        if isMultiplexed && loop.http1OnlyAuthorities.isEmpty { return }
        guard alternative == nil, request.head.scheme == "https", let authority = request.head.authority else { return }
        if isMultiplexed {
            loop.http1OnlyAuthorities.remove(authority)
        } else if loop.http1OnlyAuthorities.count < 1_000 {
            loop.http1OnlyAuthorities.insert(authority)
        }
    }
}

/// Returns whether this machine has an interface of exactly this name; an alias such as `eth0:1` counts. Returns true
/// if the system can't list its interfaces, because libcurl will check the name.
private func hasInterface(_ name: String) -> Bool {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return true }
    defer { freeifaddrs(first) }
    var next = first
    // The list is valid until it is freed here (getifaddrs(3)).
    while let entry = next?.pointee {
        if String(cString: entry.ifa_name) == name { return true }
        next = entry.ifa_next
    }
    return false
}

extension TransferOptions.HostOverride {
    /// The override as `HOST:PORT:ADDRESS:PORT`, in which an empty part matches any value. Unlike CURLOPT_RESOLVE it
    /// isn't added to a cache that all transfers share. https://curl.se/libcurl/c/CURLOPT_CONNECT_TO.html
    fileprivate var line: String {
        let parts = [
            host == "*" ? "" : host, port.map(String.init) ?? "", address.contains(":") ? "[\(address)]" : address,
            addressPort.map(String.init) ?? "",
        ]
        return parts.joined(separator: ":")
    }
}

extension Duration {
    /// The duration in seconds, rounded up.
    fileprivate var seconds: Int { Int((milliseconds + 999) / 1_000) }
}
