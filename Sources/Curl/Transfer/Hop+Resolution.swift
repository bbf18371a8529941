import BeagleNetHTTP
import CBeagleNetCurl

/// The use of the app's resolver.
extension Hop {
    /// A call of the app's resolver, which is cancelled with the hop.
    struct Resolution {
        let origin: Origin
        let task: Task<Void, Never>
    }

    /// Returns the origin to pass to the app's resolver, or `nil` if the URL contains an address or an option overrides
    /// the destination.
    ///
    /// - Throws: `NetworkError` if libcurl would look up the host under a different name.
    func nameToResolve() throws(NetworkError) -> Origin? {
        let origin =
            alternative.map { Origin(scheme: "https", host: $0.host, port: $0.port) } ?? Origin(of: request.head)
        if IPAddress(origin.host) != nil { return nil }
        if let extras = request.options.extras {
            if extras.unixSocket != nil || !extras.overrides.isEmpty { return nil }
            if case .through = extras.proxy { return nil }
        }
        guard origin.host.utf8.allSatisfy(Self.mayBeInName), origin.host.utf8.last != UInt8(ascii: ".") else {
            throw .unsent(
                .badURL,
                "CurlTransport.Configuration.resolver does not support the host: it ends with a dot or contains characters other than "
                    + "letters, digits, dots, - and _",
                "write an international name in its ASCII form (xn--…)"
            )
        }
        return origin
    }

    private static func mayBeInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Makes libcurl connect to these addresses instead of any that it has cached. The next hop's addresses replace
    /// them (https://curl.se/libcurl/c/CURLOPT_RESOLVE.html). The time spent resolving counts toward the connect
    /// timeout.
    func connect(to addresses: [IPAddress], of origin: Origin) throws(NetworkError) {
        guard !addresses.isEmpty else {
            throw NetworkError(
                .dns,
                during: .resolve,
                "the app's resolver returned no address for \(origin.host)",
                advice: "check the host name, or CurlTransport.Configuration.resolver"
            )
        }
        let list = addresses.map { $0.isIPv6 ? "[\($0)]" : "\($0)" }.joined(separator: ",")
        try easy.apply([.list(.resolve, [:], lines: ["+\(origin.host):\(origin.port):\(list)"])])
        if let connect = connectLimit {
            let end = timing.lastActivity.advanced(by: connect)
            easy.set(.connectTimeout, end > loop.now ? Int((end - loop.now) / 1_000_000) + 1 : 1)
        }
    }
}

extension Origin {
    /// Returns the addresses of the host according to the app's resolver.
    func addresses(by resolver: CurlTransport.Configuration.Resolver) async -> Result<[IPAddress], NetworkError> {
        do {
            return .success(try await resolver(host, port))
        } catch {
            return .failure(
                NetworkError(
                    .dns,
                    during: .resolve,
                    "the app's resolver failed for \(host): it threw \(type(of: error))",
                    advice: "see the underlying error",
                    underlying: error
                )
            )
        }
    }
}
