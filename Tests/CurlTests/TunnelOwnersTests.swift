import BeagleNetHTTP
import Testing

@testable import BeagleNetCurl

/// The owners of shared proxy tunnels: libcurl 7.88 would reuse tunnels that were opened with other credentials.
struct TunnelOwnersTests {
    private let first = Self.proxy("first")
    private let second = Self.proxy("second")

    private static func proxy(_ user: String) -> Proxy {
        var proxy = Proxy(.http, host: "127.0.0.1", port: 9)
        proxy.credentials = Credentials(user: user, password: "secret")
        return proxy
    }

    @Test func firstCredentialsShareTunnels() {
        var owners = TunnelOwners()
        let shares = [first, first, second].map { owners.acquire($0) }
        #expect(shares == [true, true, false])
    }

    /// A request without a tunnel doesn't free the place: the tunnels of other requests may open at any time.
    @Test func pendingRequestKeepsTheOwnership() {
        var owners = TunnelOwners()
        for _ in 1...2 { _ = owners.acquire(first) }
        owners.release(first)
        let sharesMeanwhile = owners.acquire(second)
        owners.noteTunnel(of: first)
        owners.release(first)
        let sharesLater = owners.acquire(second)
        #expect(!sharesMeanwhile && !sharesLater)
    }

    /// For example after the password of a proxy was changed.
    @Test func closingTheLastTunnelReleasesTheOwnership() {
        var owners = TunnelOwners()
        _ = owners.acquire(first)
        for _ in 1...2 { owners.noteTunnel(of: first) }
        owners.release(first)
        owners.closeTunnel(of: first)
        let sharesEarly = owners.acquire(second)
        owners.closeTunnel(of: first)
        let sharesLater = owners.acquire(second)
        #expect(!sharesEarly && sharesLater)
    }

    @Test func requestWithoutATunnelReleasesTheOwnership() {
        var owners = TunnelOwners()
        _ = owners.acquire(first)
        owners.release(first)
        let shares = [second, first].map { owners.acquire($0) }
        #expect(shares == [true, false])
    }
}
