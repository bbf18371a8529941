import ArgumentParser
import BeagleNetHTTP

/// The options for connections and TLS, with curl's names.
struct ConnectionFlags: ParsableArguments {
    @Option(
        name: [.customShort("x"), .long],
        help: ArgumentHelp(
            "Use this proxy (http, https, socks4, socks4a, socks5 or socks5h). '' disables proxies.",
            valueName: "[scheme://][user:password@]host[:port]"
        )
    )
    var proxy: String?

    @Option(
        name: [.customShort("U"), .long],
        help: ArgumentHelp("Proxy user and password.", valueName: "user:password")
    )
    var proxyUser: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Comma-separated list of hosts to connect to without a proxy. Overrides no_proxy. '*' matches all hosts.",
            valueName: "hosts"
        )
    )
    var noproxy: String?

    @Option(name: .long, help: "Header 'Name: value' to send to the proxy only. Repeatable.")
    var proxyHeader: [HeaderLine] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "CA certificates (PEM) to verify an https proxy with, instead of the system's.",
            valueName: "file"
        )
    )
    var proxyCacert: String?

    @Flag(
        name: [.customShort("p"), .customLong("proxytunnel")],
        help: "Tunnel http requests through the proxy too, with CONNECT."
    )
    var proxyTunnel = false

    @Option(
        name: [.customShort("E"), .long],
        help: ArgumentHelp("Client certificate file, in PEM unless --cert-type is P12.", valueName: "file")
    )
    var cert: String?

    @Option(name: .long, help: ArgumentHelp("Certificate type. (default: PEM)", valueName: "PEM|P12"))
    var certType: CertificateFormat?

    @Option(name: .long, help: ArgumentHelp("Private key file, unless the key is in --cert.", valueName: "file"))
    var key: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Passphrase for the private key or client certificate.", valueName: "passphrase")
    )
    var pass: String?

    @Option(
        name: [.customLong("pinned"), .customLong("pinnedpubkey")],
        help: ArgumentHelp("Public key hashes to verify the server against.", valueName: "sha256//…;sha256//…")
    )
    var pinned: String?

    @Flag(name: .customLong("tlsv1.3"), help: "Use TLSv1.3 or greater. (default: TLSv1.2 or greater)")
    var tls13 = false

    @Option(name: .long, help: ArgumentHelp("TLS 1.2 ciphers to use, separated by colons.", valueName: "names"))
    var ciphers: String?

    @Option(
        name: .customLong("tls13-ciphers"),
        help: ArgumentHelp("TLS 1.3 cipher suites to use, separated by colons.", valueName: "names")
    )
    var tls13Ciphers: String?

    @Flag(
        name: .customLong("tls-earlydata"),
        help: "Send safe requests, such as GET, as TLSv1.3 early data (0-RTT) on resumed connections."
    )
    var earlyData = false

    @Option(name: .long, help: ArgumentHelp("Connect through this Unix domain socket.", valueName: "path"))
    var unixSocket: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Resolve the host and port to this address. '*' matches all hosts. Repeatable.",
            valueName: "host:port:address"
        )
    )
    var resolve: [String] = []

    @Option(name: .long, help: ArgumentHelp("Use this network interface or local address.", valueName: "name"))
    var interface: String?

    @Option(name: .long, help: ArgumentHelp("Use this local port, or one in this range.", valueName: "port[-port]"))
    var localPort: String?

    @Flag(name: [.customShort("4"), .customLong("ipv4")], help: "Resolve names to IPv4 addresses only.")
    var ipv4 = false

    @Flag(name: [.customShort("6"), .customLong("ipv6")], help: "Resolve names to IPv6 addresses only.")
    var ipv6 = false

    func validate() throws {
        if ipv4 && ipv6 { throw ValidationError("'-4' and '-6' cannot be used together.") }
        if cert == nil, key != nil || pass != nil || certType != nil {
            throw ValidationError("'--key', '--pass' and '--cert-type' require '--cert'.")
        }
        if certType == .p12, key != nil {
            throw ValidationError("'--key' cannot be used with '--cert-type P12': the key is in '--cert'.")
        }
        if proxyUser?.contains(":") == false { throw ValidationError("'--proxy-user' must be 'user:password'.") }
        if proxyHeader.contains(where: { $0.value == nil }) {
            throw ValidationError("'--proxy-header' must be 'Name: value'.")
        }
        do throws(NetworkError) {
            var options = TransferOptions()
            try apply(to: &options)
        } catch {
            let words = [Self.replacingAPINames(error.message), error.advice]
            throw ValidationError(words.compactMap(\.self).joined(separator: "; "))
        }
    }

    /// Applies the options.
    ///
    /// - Throws: `NetworkError` if an option has an invalid value.
    func apply(to options: inout TransferOptions) throws(NetworkError) {
        options.proxy = try route()
        options.identity = cert.map { cert in
            certType == .p12
                ? TLS.Identity(pkcs12Path: cert, passphrase: pass)
                : TLS.Identity(certificatePath: cert, keyPath: key, passphrase: pass)
        }
        options.pins = try pins()
        options.minimumTLS = tls13 ? .tls13 : .tls12
        options.ciphers = TLS.Ciphers(tls12: names(ciphers, ":"), tls13: names(tls13Ciphers, ":"))
        options.usesEarlyData = earlyData
        options.unixSocket = unixSocket
        options.overrides = try overrides()
        options.ipVersion = ipv4 ? .v4 : ipv6 ? .v6 : .any
        options.local = TransferOptions.LocalEndpoint(interface: interface, ports: try ports())
    }

    private func route() throws(NetworkError) -> Proxy.Route {
        guard let proxy else {
            let besides = proxyUser != nil || proxyCacert != nil || !proxyHeader.isEmpty || proxyTunnel
            guard !besides else { throw .badOption("proxy", "required by the other proxy options") }
            guard let noproxy else { return .environment }
            return noproxy == "*" ? .direct : .environmentExcept(hosts(noproxy))
        }
        guard !proxy.isEmpty else { return .direct }
        var made = try Proxy(url: proxy)
        made.exceptions = hosts(noproxy ?? "")
        made.tunnelsEverything = proxyTunnel
        if let proxyCacert { made.trust = .file(path: proxyCacert) }
        for line in proxyHeader {
            if let name = line.name, let value = line.value { made.fields.append(HTTPField(name: name, value: value)) }
        }
        if let parts = proxyUser?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) {
            made.credentials = Credentials(user: String(parts[0]), password: String(parts[1]))
        }
        return .through(made)
    }

    private func pins() throws(NetworkError) -> Set<TLS.PublicKeyPin> {
        var pins: Set<TLS.PublicKeyPin> = []
        for text in names(pinned, ";") { pins.insert(try TLS.PublicKeyPin(text)) }
        if pinned != nil, pins.isEmpty { throw .badOption("pins", "no key is given") }
        return pins
    }

    private func overrides() throws(NetworkError) -> [TransferOptions.HostOverride] {
        var overrides: [TransferOptions.HostOverride] = []
        for text in resolve {
            // The host may be an IPv6 address in brackets. The address may be an IPv6 address with or without brackets.
            let end = text.first == "[" ? text.firstIndex(of: "]") ?? text.startIndex : text.startIndex
            guard let colon = text[end...].firstIndex(of: ":"), colon > text.startIndex,
                let second = text[text.index(after: colon)...].firstIndex(of: ":"),
                let port = Int(text[text.index(after: colon)..<second])
            else { throw .badOption("overrides", "must be HOST:PORT:ADDRESS") }
            let address = text[text.index(after: second)...].filter { $0 != "[" && $0 != "]" }
            guard !address.contains(",") else {
                throw .badOption("overrides", "only one address is allowed for each host and port")
            }
            overrides.append(TransferOptions.HostOverride(host: String(text[..<colon]), port: port, address: address))
        }
        return overrides
    }

    private func ports() throws(NetworkError) -> ClosedRange<Int>? {
        guard let localPort else { return nil }
        let numbers = localPort.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(numbers.count), let first = numbers[0], let last = numbers[numbers.count - 1],
            first <= last
        else { throw .badOption("local", "must be a port or a range such as 4000-4100") }
        return first...last
    }

    /// Returns the hosts of a list that is separated by commas or white space, as in curl and `no_proxy`.
    private func hosts(_ list: String) -> [String] {
        list.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
    }

    private func names(_ list: String?, _ separator: Character) -> [String] {
        list?.split(separator: separator).map { $0.trimmingPrefix(" ") }.map(String.init) ?? []
    }

    /// Replaces API names in a message with option names.
    static func replacingAPINames(_ message: String) -> String {
        flags.reduce(message) { $0.replacing($1.option, with: $1.flag) }
    }

    private static let flags: [(option: String, flag: String)] = [
        ("TransferOptions.proxy.trust", "--proxy-cacert"), ("TransferOptions.proxy", "--proxy"),
        ("Proxy.credentials", "--proxy-user"), ("Proxy.fields", "--proxy-header"), ("Proxy.trust", "--proxy-cacert"),
        ("TransferOptions.identity", "--cert"), ("TransferOptions.pins", "--pinned"),
        ("TransferOptions.ciphers", "--ciphers"), ("TransferOptions.usesEarlyData", "--tls-earlydata"),
        ("TransferOptions.unixSocket", "--unix-socket"), ("TransferOptions.overrides", "--resolve"),
        ("TransferOptions.local", "--interface or --local-port"), ("TransferOptions.ipVersion", "-4 or -6"),
        ("TransferOptions.version", "--http3"), ("TransferOptions.trust", "--cacert"),
    ]
}

/// The format of a client certificate, in any case.
enum CertificateFormat: String, ExpressibleByArgument {
    case pem = "PEM"
    case p12 = "P12"

    init?(argument: String) {
        self.init(rawValue: argument.uppercased())
    }
}
