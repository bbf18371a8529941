import BeagleNetHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Checks that reject unusable options before anything is sent.
enum OptionsCheck {
    /// - Throws: `NetworkError` that names the option, of kind `.badConfiguration`, or `.unsupported` if libcurl lacks
    ///   it.
    static func check(_ extras: TransferOptions.Extras, for head: HTTPRequest) throws(NetworkError) {
        try check(extras.trust, "trust")
        if let identity = extras.identity { try check(identity) }
        for name in extras.ciphers.tls12 + extras.ciphers.tls13 { try check(cipher: name) }
        if extras.usesEarlyData {
            try CurlTransport.Capabilities.current.require(.earlyData, for: "TransferOptions.usesEarlyData")
        }
        if case .through(let proxy) = extras.proxy {
            try check(proxy, for: head)
            guard extras.addressGuard == nil else {
                throw .badOption("proxy", "the AddressGuard cannot check the addresses that a proxy connects to")
            }
        }
        if case .environmentExcept(let hosts) = extras.proxy { try check(exceptions: hosts) }
        if let path = extras.unixSocket { try check(unixSocket: path, with: extras) }
        for override in extras.overrides { try check(override) }
        if extras.ipVersion == .v6 {
            try CurlTransport.Capabilities.current.require(.ipv6, for: "TransferOptions.ipVersion")
        }
        try check(extras.local)
        for coding in extras.codings ?? [] { try check(coding) }
        try extras.settings.checkLimits()
    }

    /// Returns whether one check of these options is enough: the result depends only on the options and on a file that
    /// was readable.
    static func isLasting(_ extras: TransferOptions.Extras) -> Bool {
        if case .through = extras.proxy { return false }
        // The last checked options are retained, and closures of the app may retain the transport, which would then
        // never be freed.
        return extras.identity == nil && extras.onInterim == nil && extras.addressGuard == nil
    }

    // MARK: TLS

    private static func check(_ trust: TLS.Trust, _ option: String) throws(NetworkError) {
        switch trust {
        case .system: break
        case .file(let path):
            try check(text: path, option)
            guard access(path, R_OK) == 0 else {
                throw .unreadable(path, option)
            }
        case .authorities(let bytes):
            guard bytes.firstRange(of: Data("-----BEGIN ".utf8)) != nil else {
                throw .badOption(option, "the data contains no PEM certificate")
            }
        case .native: try CurlTransport.Capabilities.current.require(.nativeTrust, for: "TransferOptions.\(option)")
        }
    }

    /// Checks what can be checked without reading the files. The TLS library reports errors in their contents.
    private static func check(_ identity: TLS.Identity) throws(NetworkError) {
        if let passphrase = identity.passphrase, passphrase.utf8.contains(0) {
            throw .badIdentity("the passphrase contains a NUL")
        }
        for case .file(let path) in identity.sources {
            try check(text: path, "identity")
            guard access(path, R_OK) == 0 else {
                throw .badIdentity("cannot read \(path): \(String(cString: strerror(errno)))")
            }
        }
    }

    private static func check(cipher name: String) throws(NetworkError) {
        try check(text: name, "ciphers")
        guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }) else {
            throw .badOption(
                "ciphers",
                "a name has a colon or is not visible ASCII",
                advice: "write one name per element"
            )
        }
    }

    // MARK: connection

    private static func check(_ proxy: Proxy, for head: HTTPRequest) throws(NetworkError) {
        guard !proxy.host.isEmpty, proxy.host.utf8.allSatisfy(mayBeInProxyHost) else {
            throw .badOption("proxy", "its host is empty or contains an invalid character")
        }
        try check(port: proxy.port, "proxy")
        try check(exceptions: proxy.exceptions)
        try check(proxy.credentials, for: proxy.scheme)
        guard proxy.scheme.isHTTP || (proxy.fields.isEmpty && !proxy.tunnelsEverything) else {
            throw .badOption("proxy", "header fields and tunnels require an HTTP proxy, not \(proxy.scheme.rawValue)")
        }
        for field in proxy.fields where !HTTPField.isValidValue(field.value) {
            throw .badOption("proxy", "the value of field \(field.name.rawName) contains a line break or NUL")
        }
        if proxy.scheme == .https {
            try CurlTransport.Capabilities.current.require(.secureProxies, for: "TransferOptions.proxy")
            try check(proxy.trust, "proxy.trust")
        }
        guard !head.headerFields.contains(.proxyAuthorization) else {
            throw .unsent(
                .badRequest,
                "the header Proxy-Authorization would be sent to the server",
                "set Proxy.credentials, or put the header in Proxy.fields"
            )
        }
    }

    private static func check(exceptions hosts: [String]) throws(NetworkError) {
        for host in hosts {
            guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: ",") }) else {
                throw .badOption(
                    "proxy",
                    "a host in exceptions is empty, or contains a comma or space",
                    advice: "write one host per element"
                )
            }
        }
    }

    private static func check(_ credentials: Credentials?, for scheme: Proxy.Scheme) throws(NetworkError) {
        guard let credentials else { return }
        let (user, password) = (credentials.user.utf8, credentials.password.utf8)
        guard !user.contains(0), !password.contains(0) else {
            throw .badOption("proxy", "the user name or password contains a NUL")
        }
        switch scheme {
        case .http, .https:
            guard !user.contains(UInt8(ascii: ":")) else {
                throw .badOption("proxy", "the user name contains a colon (RFC 7617, 2)")
            }
        case .socks5, .socks5h:
            guard (1...255).contains(user.count), (1...255).contains(password.count) else {
                throw .badOption("proxy", "a user name and password for SOCKS 5 have 1 to 255 bytes each (RFC 1929, 2)")
            }
        case .socks4, .socks4a:
            guard password.isEmpty else { throw .badOption("proxy", "SOCKS 4 does not support a password") }
        }
    }

    private static func mayBeInProxyHost(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "\0"..." ", "\u{7F}", "/", "?", "#", "@", "\\", "<", ">", "\"", "^", "`", "{", "|", "}": false
        default: true
        }
    }

    /// The capacity of the path in `sockaddr_un`, including the terminating NUL.
    private static let unixPathSize = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    private static func check(
        unixSocket path: String,
        with extras: TransferOptions.Extras
    ) throws(NetworkError) {
        try CurlTransport.Capabilities.current.require(.unixSockets, for: "TransferOptions.unixSocket")
        try check(text: path, "unixSocket")
        guard path.utf8.count < unixPathSize else {
            throw .badOption("unixSocket", "the path is longer than \(unixPathSize - 1) bytes")
        }
        if case .through = extras.proxy {
            throw .badOption("unixSocket", "a Unix socket cannot be used with a proxy", advice: "remove proxy")
        }
        guard extras.local == TransferOptions.LocalEndpoint(), extras.ipVersion == .any else {
            throw .badOption("unixSocket", "a Unix socket has no IP address", advice: "remove local and ipVersion")
        }
    }

    private static func check(_ override: TransferOptions.HostOverride) throws(NetworkError) {
        try check(text: override.host, "overrides")
        guard override.host.utf8.allSatisfy(mayBeInProxyHost) else {
            throw .badOption("overrides", "a host contains an invalid character")
        }
        guard !override.host.contains(":") || (override.host.hasPrefix("[") && override.host.hasSuffix("]")) else {
            throw .badOption(
                "overrides",
                "a host contains a colon",
                advice: "write IPv6 in brackets, and the port separately"
            )
        }
        for port in [override.port, override.addressPort].compactMap(\.self) { try check(port: port, "overrides") }
        guard isAddress(override.address) else {
            throw .badOption("overrides", "an address is neither IPv4 nor IPv6", advice: "write IPv6 without brackets")
        }
    }

    private static func check(_ local: TransferOptions.LocalEndpoint) throws(NetworkError) {
        if let interface = local.interface {
            try check(text: interface, "local")
            guard !interface.contains("!") else { throw .badOption("local", "the name of the interface contains a !") }
        }
        guard let ports = local.ports else { return }
        for port in [ports.lowerBound, ports.upperBound] { try check(port: port, "local") }
    }

    private static func check(_ coding: TransferOptions.ContentCoding) throws(NetworkError) {
        switch coding {
        case .gzip, .deflate: break
        case .brotli: try CurlTransport.Capabilities.current.require(.brotli, for: "TransferOptions.codings")
        case .zstd: try CurlTransport.Capabilities.current.require(.zstd, for: "TransferOptions.codings")
        default:
            let name = coding.rawValue
            throw .badOption("codings", "\(name) cannot be decoded", advice: "use gzip, deflate, br or zstd")
        }
    }

    private static func check(text: String, _ option: String) throws(NetworkError) {
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw .badOption(option, "the value is empty or contains a NUL")
        }
    }

    private static func check(port: Int, _ option: String) throws(NetworkError) {
        guard (1...65_535).contains(port) else { throw .badOption(option, "the port \(port) is not in 1...65535") }
    }
}

extension TLS.Identity {
    /// The files or bytes of the certificate and key.
    var sources: [Source] {
        switch form {
        case .pem(let certificate, let key): certificate == key ? [certificate] : [certificate, key]
        case .pkcs12(let source): [source]
        }
    }
}

/// Returns whether the text is an IPv4 or IPv6 address without brackets.
func isAddress(_ text: String) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 16)
    return !text.utf8.contains(0) && [AF_INET, AF_INET6].contains { inet_pton($0, text, &bytes) == 1 }
}

extension NetworkError {
    /// Returns the error for an unreadable CA file, with libcurl's code for it (CURLE_SSL_CACERT_BADFILE).
    fileprivate static func unreadable(_ path: String, _ option: String) -> NetworkError {
        var error = NetworkError.badOption(option, "cannot read \(path): \(String(cString: strerror(errno)))")
        error.transportCode = 77
        return error
    }

    /// Returns the error for an unusable identity, with libcurl's code for it (CURLE_SSL_CERTPROBLEM).
    static func badIdentity(_ problem: String, advice: String? = nil) -> NetworkError {
        var error = NetworkError.badOption("identity", problem, advice: advice)
        error.transportCode = 58
        return error
    }
}
