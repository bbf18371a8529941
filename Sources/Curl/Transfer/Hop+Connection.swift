import BeagleNetHTTP
import CBeagleNetCurl
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The connection of a hop.
extension Hop {
    /// The sockets and the connection that libcurl uses.
    struct Wire {
        /// The sockets that libcurl has opened for the hop.
        var sockets: [OpenSockets.Identity] = []
        /// The connection on which the request was last sent; `nil` if it can't be identified.
        var connection: Connections.Connection?
        /// The negotiated TLS parameters.
        var session: TransferMetrics.Details?
    }

    /// The connection on which the request was last sent; `nil` if it can't be identified.
    var connection: Connections.Connection? { wire.connection }

    /// Returns the values that the handle's options depend on. Takes an identity and a share in a proxy's tunnels.
    func makeContext(freshly: Bool) throws(NetworkError) -> HandleOptions.Context {
        var context = HandleOptions.Context(
            origin: origin,
            alternative: alternative,
            proxies: loop.proxies,
            connectLimit: connectLimit,
            receiveLimit: rateLimiter?.bytesPerSecond,
            uploadLength: sender.source?.length,
            waitsForMultiplexing: waitsForMultiplexing,
            isLongLived: loop.isForLongLived,
            isWebSocket: transfer.webSocket != nil,
            isFresh: freshly
        )
        if request.options.version == .http3 {
            try CurlTransport.Capabilities.current.require(.http3, for: "TransferOptions.version")
        }
        guard let extras = request.options.extras else { return context }
        if let interface = extras.local.interface { try check(interface) }
        if origin.isSecure, let identity = extras.identity {
            context.certificate = loop.identities.certificate(of: identity)
            context.isShared = context.certificate != nil
        }
        if let proxy = usedProxy, mayTunnel(through: proxy) {
            sharesTunnels = loop.tunnelOwners.acquire(proxy)
            context.isShared = context.isShared && sharesTunnels
        }
        return context
    }

    /// Checks that there is a network interface, whose name libcurl would otherwise resolve as a host name. Prefixing
    /// it with `if!` or `host!` prevents that, but libcurl 8.14 then reuses connections that are bound to another
    /// interface.
    private func check(_ interface: String) throws(NetworkError) {
        guard isAddress(interface) || hasInterface(interface) else {
            throw CurlFailure.error(
                CURLE_INTERFACE_FAILED,
                "there is no network interface \(interface)",
                during: .connect,
                with: request.options
            )
        }
    }

    // MARK: the proxy

    /// The request's own proxy, unless the host is an address that is excluded from it.
    private var usedProxy: Proxy? {
        guard let route = request.options.extras?.proxy, case .through(let proxy) = route else { return nil }
        return loop.proxies.isBypassed(by: origin, route) ? nil : proxy
    }

    /// Returns whether libcurl may use a tunnel; it also does for hosts with an override.
    private func mayTunnel(through proxy: Proxy) -> Bool {
        let isTunnelled = origin.isSecure || proxy.tunnelsEverything
        return proxy.scheme.isHTTP && (isTunnelled || request.options.extras?.overrides.isEmpty == false)
    }

    /// Records the owner of a new connection if it may be a tunnel, until it is closed. An unidentified connection
    /// counts as never closed.
    func noteTunnel(_ connection: Connections.Connection?) {
        guard sharesTunnels, let proxy = usedProxy else { return }
        loop.tunnelOwners.noteTunnel(of: proxy)
        connection?.tunnel = proxy
    }

    /// Removes the hop from the users of the proxy's tunnels.
    func leaveTunnels() {
        if sharesTunnels, let proxy = usedProxy { loop.tunnelOwners.release(proxy) }
    }

    /// Whether the proxy hasn't opened the connection to the server yet.
    var isBeforeTunnel: Bool {
        guard let proxy = usedProxy else { return false }
        return !proxy.scheme.isHTTP || easy.long(CURLINFO_HTTP_CONNECTCODE) / 100 != 2
    }

    // MARK: HTTP/2

    /// Whether HTTP/2 may be used.
    var mayMultiplex: Bool { request.options.version.mayMultiplex(isSecure: origin.isSecure) }

    /// Whether to wait for a pending connection that may turn out to speak HTTP/2. Waiting gains nothing with an
    /// HTTP/1.1 server, whose connections serve one request at a time.
    private var waitsForMultiplexing: Bool {
        mayMultiplex && (alternative != nil || !loop.http1OnlyAuthorities.contains(message.authority))
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
