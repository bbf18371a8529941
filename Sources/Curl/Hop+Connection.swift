import BeagleNetHTTP
import CBeagleNetCurl
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How a hop reaches its server.
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
            // Where there is no such interface, the name would be taken for a host's and be resolved. With `if!` or `host!` in
            // front it would not, but libcurl 8.14 then takes connections for it that are bound to another.
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

    /// What the transport's configuration says of connections, where it is not libcurl's own.
    func configureConnection(_ configuration: CurlConfiguration) throws(NetworkError) {
        easy.set(.maxIdleAge, configuration.idleConnectionLifetime.seconds)
        if let lifetime = configuration.connectionLifetime {
            let name = "CurlConfiguration.connectionLifetime"
            try require(easy.set(.maxAge, lifetime.seconds), for: name, since: "7.80")
        }
        easy.set(.happyEyeballsDelay, Int(configuration.happyEyeballsDelay.milliseconds))
        guard let keepAlive = configuration.keepAlive else { return }
        easy.set(.keepAlive, 1)
        easy.set(.keepAliveIdle, keepAlive.idle.seconds)
        easy.set(.keepAliveInterval, keepAlive.interval.seconds)
    }

    /// An HTTP/1.1 server's connections serve one message at a time, so that waiting for one to say whether it speaks
    /// HTTP/2 gains nothing.
    var waitsForMultiplexing: Bool {
        mayMultiplex && (alternative != nil || !loop.singleAuthorities.contains(request.head.authority ?? ""))
    }

    /// Remembers what an https server answered with, though HTTP/2 was offered.
    func noteVersion(isMultiplexed: Bool) {
        if isMultiplexed && loop.singleAuthorities.isEmpty { return }
        guard alternative == nil, request.head.scheme == "https", let authority = request.head.authority else { return }
        if isMultiplexed {
            loop.singleAuthorities.remove(authority)
        } else if loop.singleAuthorities.count < 1_000 {
            loop.singleAuthorities.insert(authority)
        }
    }
}

/// Whether this machine has an interface of exactly this name, an alias as `eth0:1` included; yes where the system does not
/// tell, as libcurl will.
private func hasInterface(_ name: String) -> Bool {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return true }
    defer { freeifaddrs(first) }
    var next = first
    // The list lives until it is freed here (getifaddrs(3)).
    while let entry = next?.pointee {
        if String(cString: entry.ifa_name) == name { return true }
        next = entry.ifa_next
    }
    return false
}

extension HostOverride {
    /// `HOST:PORT:ADDRESS:PORT`, a part left out for any. Unlike CURLOPT_RESOLVE it does not go into a cache that all
    /// transfers share. https://curl.se/libcurl/c/CURLOPT_CONNECT_TO.html
    fileprivate var line: String {
        let parts = [
            host == "*" ? "" : host, port.map(String.init) ?? "", address.contains(":") ? "[\(address)]" : address,
            addressPort.map(String.init) ?? "",
        ]
        return parts.joined(separator: ":")
    }
}

extension Duration {
    /// Whole seconds, begun ones included.
    fileprivate var seconds: Int { Int((milliseconds + 999) / 1_000) }
}
