import BeagleNetHTTP
import CBeagleNetCurl

/// The libcurl options of one request, apart from callbacks: a value made of the message and its context.
///
/// The options of nearly all requests are properties, so that a plain request needs no list of its own.
struct HandleOptions: Equatable {
    /// An option with its value.
    enum Setting: Equatable {
        case long(LongOption, Int)
        case offset(OffsetOption, Int64)
        case string(StringOption, String?)
        case blob(BlobOption, Data)
        case list(ListOption, HTTPFields, lines: [String])
    }

    /// The inputs of the options other than the message.
    struct Context: ~Copyable {
        /// The scheme and host to connect to.
        let origin: ParsedOrigin
        /// The alternative service to connect to instead of the origin.
        var alternative: AltSvcStore.Service?
        /// The proxies that the environment defines.
        var proxies = ProxyEnvironment()
        /// The limit on the time until a connection is open.
        var connectLimit: Duration?
        /// The limit on the receive rate, in bytes per second.
        var receiveLimit: Int?
        /// The length of the request's body; `nil` if it is unknown.
        var uploadLength: Int64?
        /// Whether to wait for a pending connection that may turn out to speak HTTP/2.
        var waitsForMultiplexing = false
        /// Whether the transfer is expected to last long.
        var isLongLived = false
        /// Whether the connection becomes a WebSocket.
        var isWebSocket = false
        /// Whether to open a new connection.
        var isFresh = false
        /// Whether the connection may be shared with other requests.
        var isShared = true
        /// The certificate of the request's identity, written so that it identifies the connection.
        var certificate: TLS.Identity.Source?
    }

    /// The URL if libcurl has to send all of it to a proxy; `nil` if it connects to the origin and gets the path apart.
    let wholeURL: String?
    /// The limit on the time until a connection is open, in milliseconds.
    let connectTimeout: Int
    /// The HTTP version, as libcurl writes it.
    let httpVersion: Int
    /// Whether to wait for a pending connection that may turn out to speak HTTP/2.
    let waitsForMultiplexing: Bool
    /// The other options, in the order in which they are set.
    var settings: [Setting]

    /// Returns the options of a message.
    static func options(for message: Message, in context: borrowing Context) -> HandleOptions {
        let request = message.request
        let extras = request.options.extras
        let route = extras?.proxy ?? .environment
        let isSecure = context.origin.isSecure
        let mayUseProxy = context.proxies.mayBeUsed(route)
        let bypassesProxy = mayUseProxy && context.proxies.isBypassed(by: context.origin, route)
        // A proxy needs the whole URL, except inside a tunnel and for OPTIONS of the whole server (RFC 9110, 9.3.7).
        let isWhole = mayUseProxy && !bypassesProxy && !isSecure && message.path != "*"
        var options = HandleOptions(
            wholeURL: isWhole ? message.urlText : nil,
            // Without a value, libcurl uses its own default.
            connectTimeout: Int(min(context.connectLimit?.milliseconds ?? .max, Int64(Int32.max))),
            httpVersion: version(request.options.version, context),
            waitsForMultiplexing: context.waitsForMultiplexing,
            settings: []
        )
        if extras != nil { options.settings.reserveCapacity(8) }
        if isSecure { options.addTLS(extras, request, context) }
        if message.method != .get || request.body != nil { options.addMethod(of: message, context) }
        options.addConnection(of: request, context)
        if bypassesProxy { options.add(.proxy, "") }
        if let extras {
            if let send = extras.bandwidth.send { options.settings.append(.offset(.sendRate, Int64(send))) }
            if request.sendsExpectContinue { options.add(.expectTimeout, Int(extras.expect.timeout.milliseconds)) }
            options.addConnection(extras)
            if extras.addressGuard != nil {
                // The environment's proxy would connect to addresses that the guard never sees. A proxy set by an
                // option is rejected earlier.
                options.add(.proxyExceptions, "*")
            } else if !bypassesProxy {
                options.addProxy(route)
            }
        }
        if context.isWebSocket {
            // libcurl only opens the connection, through a tunnel if there is a proxy, and leaves it to us.
            // https://curl.se/libcurl/c/CURLOPT_CONNECT_ONLY.html
            options.add(.connectOnly, 1)
            options.add(.tunnelsEverything, 1)
        }
        return options
    }

    /// Returns the options for the settings of a transport's configuration that differ from libcurl's defaults.
    static func shared(_ configuration: CurlTransport.Configuration, _ proxies: ProxyEnvironment) -> [Setting] {
        let plain = CurlTransport.Configuration()
        var options: [Setting] = proxies.isDefined ? [] : [.string(.proxy, "")]
        if configuration.idleConnectionLifetime != plain.idleConnectionLifetime {
            options.append(.long(.maxIdleAge, configuration.idleConnectionLifetime.seconds))
        }
        if let lifetime = configuration.connectionLifetime { options.append(.long(.maxAge, lifetime.seconds)) }
        if configuration.happyEyeballsDelay != plain.happyEyeballsDelay {
            options.append(.long(.happyEyeballsDelay, Int(configuration.happyEyeballsDelay.milliseconds)))
        }
        guard let keepAlive = configuration.keepAlive else { return options }
        return options + [
            .long(.keepAlive, 1), .long(.keepAliveIdle, keepAlive.idle.seconds),
            .long(.keepAliveInterval, keepAlive.interval.seconds),
        ]
    }

    /// Adds an option.
    mutating func add(_ option: LongOption, _ value: Int) { settings.append(.long(option, value)) }
    /// Adds an option with a string; `nil` removes libcurl's default.
    mutating func add(_ option: StringOption, _ value: String?) { settings.append(.string(option, value)) }
    /// Adds an option with bytes.
    mutating func add(_ option: BlobOption, _ value: Data) { settings.append(.blob(option, value)) }
    /// Adds an option with a list.
    mutating func add(_ option: ListOption, _ fields: HTTPFields = [:], lines: [String] = []) {
        settings.append(.list(option, fields, lines: lines))
    }

    private mutating func addMethod(of message: Message, _ context: borrowing Context) {
        if message.request.body != nil {
            add(.upload, 1)
            settings.append(.offset(.uploadSize, context.uploadLength ?? -1))
        } else if message.method == .head {
            return add(.noBody, 1)
        }
        add(.method, message.method.rawValue)
    }

    private mutating func addConnection(of request: TransferRequest, _ context: borrowing Context) {
        let version = request.options.version
        let isSecure = context.origin.isSecure
        // For any host and port, because the handle sends only one request.
        if let alternative = context.alternative, !alternative.isAtOrigin {
            add(.overrides, lines: ["::\(alternative.host):\(alternative.port)"])
        }
        if let rate = context.receiveLimit {
            // At most one second's worth at a time, as far as libcurl's minimum buffer size allows.
            add(.bufferSize, max(1 << 10, min(16 << 10, rate)))
        } else if !version.mayMultiplex(isSecure: isSecure), request.delivery != .collect, !context.isLongLived {
            // Four times libcurl's default, which halves the cost of long unencrypted bodies. HTTP/2 and TLS deliver
            // frames and records, for which a larger buffer costs more, and an idle stream would hold it for nothing.
            add(.bufferSize, 64 << 10)
        }
        let isShared = context.isShared && (version != .http2 || isSecure || !Self.losesPriorKnowledge)
        if context.isFresh || context.isWebSocket || !isShared { add(.freshConnect, 1) }
        // With this option, libcurl would close the connection of a WebSocket immediately.
        if !isShared, !context.isWebSocket { add(.forbidReuse, 1) }
    }

    private static func version(_ version: HTTPVersion, _ context: borrowing Context) -> Int {
        // An HTTP/2 connection would be shared while it is open.
        guard context.isShared else { return Int(CURL_HTTP_VERSION_1_1) }
        if let alternative = context.alternative {
            guard alternative.version == .http3 else { return Int(CURL_HTTP_VERSION_2TLS) }
            return alternative.isAtOrigin ? Int(CURL_HTTP_VERSION_3) : onlyHTTP3
        }
        let isSecure = context.origin.isSecure
        return switch version {
        case .automatic: Int(CURL_HTTP_VERSION_2TLS)
        case .http1: Int(CURL_HTTP_VERSION_1_1)
        case .http2: Int(isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
        case .http3: Int(isSecure ? CURL_HTTP_VERSION_3 : CURL_HTTP_VERSION_2TLS)
        }
    }

    /// The value of CURL_HTTP_VERSION_3ONLY, which libcurl 7.88 introduced.
    private static let onlyHTTP3 = 31

    /// Whether this libcurl (7.88) fails on reusing a prior-knowledge connection, before it has sent anything
    /// (https://github.com/curl/curl/pull/10643).
    static let losesPriorKnowledge: Bool = {
        guard let version = curl_version_info(CURLVERSION_FIRST) else { return false }
        return (0x07_58_00..<0x08_00_00).contains(version.pointee.version_num)
    }()

    private mutating func addConnection(_ extras: TransferOptions.Extras) {
        if let path = extras.unixSocket { add(.unixSocket, path) }
        switch extras.ipVersion {
        case .any: break
        case .v4: add(.ipVersion, Int(CURL_IPRESOLVE_V4))
        case .v6: add(.ipVersion, Int(CURL_IPRESOLVE_V6))
        }
        if !extras.overrides.isEmpty { add(.overrides, lines: extras.overrides.map(\.line)) }
        if let interface = extras.local.interface { add(.interface, interface) }
        if let ports = extras.local.ports {
            add(.localPort, ports.lowerBound)
            add(.localPortCount, ports.count)
        }
    }
}

extension HTTPVersion {
    /// Whether HTTP/2 may be used.
    func mayMultiplex(isSecure: Bool) -> Bool {
        switch self {
        case .automatic, .http3: isSecure
        case .http1: false
        case .http2: true
        }
    }
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
