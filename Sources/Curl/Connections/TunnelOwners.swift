import BeagleNetHTTP

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
    /// `release` later.
    mutating func acquire(_ proxy: Proxy) -> Bool {
        let key = Self.key(proxy)
        var owner = Owner(proxy)
        if let first = owners[key] {
            guard first.isSame(as: owner) else { return false }
            owner = first
        } else if owners.count >= Self.limit || Proxy.addressesOfEnvironment.contains(key) {
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
}
