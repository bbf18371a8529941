/// The timeouts, limits and policies of one transfer.
///
/// Every limit has a default; `nil` removes it. Cookies are stored if the transport has a cookie jar: see
/// `CurlTransport.Configuration.cookies`.
public struct TransferOptions: Sendable, Hashable {
    /// The maximum duration of each phase.
    public var timeouts: Timeouts
    /// The policy for redirects.
    public var redirects: RedirectPolicy
    /// The maximum size of the decoded body, in bytes.
    ///
    /// A larger body ends the transfer with `NetworkError.Kind.tooLarge`. The default is 256 MiB, so that a small
    /// compressed response can't fill the memory. `nil` means no limit; a negative value is an error.
    public var maxBodyBytes: Int?
    /// The HTTP version to request.
    public var version: HTTPVersion
    /// The priority of the transfer while it waits because of a limit; `.normal` by default.
    public var priority = Priority.normal
    /// The rarely used options, or `nil` if all of them have their defaults. They are behind one reference to make
    /// options cheap to pass on.
    @usableFromInline package private(set) var extras: Extras?

    /// Creates options, with the documented defaults.
    public init(
        timeouts: Timeouts = Timeouts(),
        redirects: RedirectPolicy = .follow,
        maxBodyBytes: Int? = 256 << 20,
        version: HTTPVersion = .automatic,
        trust: TLS.Trust = .system
    ) {
        self.timeouts = timeouts
        self.redirects = redirects
        self.maxBodyBytes = maxBodyBytes
        self.version = version
        if trust != .system { self.trust = trust }
    }

    /// The documented defaults, as a shared value.
    package static let standard = TransferOptions()

    /// The certificate authorities to trust.
    ///
    /// Verification itself can't be turned off.
    public var trust: TLS.Trust {
        get { settings.trust }
        set { settings.trust = newValue }
    }

    /// The authentication of the request; `nil`, the default, leaves it to the header fields.
    ///
    /// If the client's builder declares origins or a base URL, the authentication is sent only to those.
    public var authentication: Authentication? {
        get { settings.authentication }
        set { settings.authentication = newValue }
    }

    /// Whether the transfer sends and stores cookies, if its transport has a cookie jar; `true` by default.
    public var usesCookies: Bool {
        get { settings.usesCookies }
        set { settings.usesCookies = newValue }
    }

    /// The rule for the addresses that the transfer may connect to; `nil`, the default, allows all.
    ///
    /// A rejected address causes an error of kind `.blocked`.
    public var addressGuard: AddressGuard? {
        get { settings.addressGuard }
        set { settings.addressGuard = newValue }
    }

    /// The maximum transfer rates; unlimited by default.
    public var bandwidth: Bandwidth {
        get { settings.bandwidth }
        set { settings.bandwidth = newValue }
    }

    /// The minimum transfer rate of a body; `nil`, the default, means no minimum.
    public var minimumSpeed: MinimumSpeed? {
        get { settings.minimumSpeed }
        set { settings.minimumSpeed = newValue }
    }

    /// The policy for asking the server before a body is sent; `.never` by default.
    public var expect: ExpectPolicy {
        get { settings.expect }
        set { settings.expect = newValue }
    }

    /// A hook called with each informational (1xx) response when it arrives, including those before a redirect; `nil`
    /// by default.
    ///
    /// `TransferResponse.interim` also lists these responses. The hook is called on a thread of the transport and must
    /// not block.
    public var onInterim: Hook<@Sendable (HTTPResponse) -> Void>? {
        get { settings.onInterim }
        set { settings.onInterim = newValue }
    }

    /// Whether `TransferMetrics.requestHead` records the head of the request as it was sent, including secrets.
    ///
    /// The default is `false`, because recording makes more work for libcurl.
    public var keepsRequestHead: Bool {
        get { settings.keepsRequestHead }
        set { settings.keepsRequestHead = newValue }
    }

    /// Whether the transfer is expected to last long, as an event stream or a long poll does.
    ///
    /// Such transfers run separately, so that thousands of them don't slow down short requests. The default is `false`.
    /// A streamed response counts as long-lived anyway if the request's `Accept` begins with `text/event-stream`.
    public var isLongLived: Bool {
        get { settings.isLongLived }
        set { settings.isLongLived = newValue }
    }
}

// MARK: - TLS

extension TransferOptions {
    /// The certificate sent to the request's origin if the server requests one; `nil` by default.
    ///
    /// A redirect to another origin drops it, even if a later redirect leads back. If the client's builder declares
    /// origins or a base URL, the certificate is sent only to those.
    public var identity: TLS.Identity? {
        get { settings.identity }
        set { settings.identity = newValue }
    }

    /// The public keys that are accepted from a server, in addition to its certificate being trusted.
    ///
    /// Empty, the default, accepts any key. If the server's key doesn't match any pin, the transfer ends with
    /// `NetworkError.Kind.tls` before anything is sent. Pins don't apply to http or to an https proxy.
    /// https://curl.se/libcurl/c/CURLOPT_PINNEDPUBLICKEY.html
    public var pins: Set<TLS.PublicKeyPin> {
        get { settings.pins }
        set { settings.pins = newValue }
    }

    /// The minimum version of TLS.
    ///
    /// The default is 1.2, because many servers don't support a newer version.
    public var minimumTLS: TLS.Version {
        get { settings.minimumTLS }
        set { settings.minimumTLS = newValue }
    }

    /// The cipher suites to offer.
    ///
    /// The default is the TLS library's own list, which its updates keep current.
    public var ciphers: TLS.Ciphers {
        get { settings.ciphers }
        set { settings.ciphers = newValue }
    }

    /// Whether a request may be sent in the first bytes of a resumed TLS 1.3 connection, one round trip earlier (RFC
    /// 8446, 2.3).
    ///
    /// An attacker on the network can replay such a request. Early data is therefore used only for GET, HEAD, OPTIONS
    /// and TRACE without a body, which then use connections of their own. The default is `false`. The error is
    /// `NetworkError.Kind.unsupported` if libcurl lacks early data: see `CurlTransport.capabilities`.
    public var usesEarlyData: Bool {
        get { settings.usesEarlyData }
        set { settings.usesEarlyData = newValue }
    }
}

// MARK: - The way to the server

extension TransferOptions {
    /// The proxy through which servers are reached.
    ///
    /// The default is the proxy of the environment, as in other programs.
    public var proxy: Proxy.Route {
        get { settings.proxy }
        set { settings.proxy = newValue }
    }

    /// The path of a Unix socket to connect to, regardless of the URL's host and port and without a proxy; `nil` by
    /// default.
    ///
    /// The maximum length is 107 bytes (103 on Apple systems). Setting `local` or `ipVersion` as well is an error.
    public var unixSocket: String? {
        get { settings.unixSocket }
        set { settings.unixSocket = newValue }
    }

    /// The addresses to connect to instead of the resolved addresses of host names; the first match counts.
    ///
    /// Empty by default. A connection that was opened with an override is reused only by transfers with the same
    /// override.
    public var overrides: [HostOverride] {
        get { settings.overrides }
        set { settings.overrides = newValue }
    }

    /// The IP versions that may be used to connect to servers; both by default.
    public var ipVersion: IPVersion {
        get { settings.ipVersion }
        set { settings.ipVersion = newValue }
    }

    /// The local interface and port of connections.
    ///
    /// By default the system chooses them, and a transfer may reuse a connection that another transfer opened from a
    /// specific local endpoint.
    public var local: LocalEndpoint {
        get { settings.local }
        set { settings.local = newValue }
    }

    /// The codings to request in `Accept-Encoding`, best first; `nil`, the default, requests all that the transport can
    /// decode.
    ///
    /// If the list is empty, the field is left out, and a body that is compressed anyway is delivered without decoding.
    /// The list has no effect on a HEAD request or a request that has its own `Accept-Encoding` or `Range`.
    public var codings: [ContentCoding]? {
        get { settings.codings }
        set { settings.codings = newValue }
    }

    /// Whether the limit on image sizes applies to a body that is an image.
    ///
    /// The default is `false`; requests for images are always limited.
    package var limitsImages: Bool {
        get { settings.limitsImages }
        set { settings.limitsImages = newValue }
    }
}

extension TransferOptions {
    /// The rarely used options, with their defaults.
    @usableFromInline
    package struct Settings: Sendable, Hashable {
        package var trust = TLS.Trust.system
        package var addressGuard: AddressGuard?
        package var authentication: Authentication?
        package var usesCookies = true
        package var bandwidth = Bandwidth()
        package var minimumSpeed: MinimumSpeed?
        package var expect = ExpectPolicy.never
        package var onInterim: Hook<@Sendable (HTTPResponse) -> Void>?
        package var keepsRequestHead = false
        package var isLongLived = false
        package var identity: TLS.Identity?
        package var pins: Set<TLS.PublicKeyPin> = []
        package var minimumTLS = TLS.Version.tls12
        package var ciphers = TLS.Ciphers()
        package var usesEarlyData = false
        package var proxy = Proxy.Route.environment
        package var unixSocket: String?
        package var overrides: [HostOverride] = []
        package var ipVersion = IPVersion.any
        package var local = LocalEndpoint()
        package var codings: [ContentCoding]?
        package var limitsImages = false

        fileprivate static let standard = Settings()
    }

    /// The storage that the options' properties read and write. Never inlined, because there are dozens of properties.
    private(set) var settings: Settings {
        @inline(never) get { extras?.settings ?? .standard }
        @inline(never) set { extras = newValue == .standard ? nil : Extras(newValue) }
    }

    /// An immutable reference to settings, so that reading one of them doesn't copy the others.
    @dynamicMemberLookup
    @usableFromInline
    package final class Extras: Sendable, Hashable {
        @usableFromInline package let settings: Settings

        fileprivate init(_ settings: Settings) {
            self.settings = settings
        }

        @inlinable package subscript<Value>(dynamicMember path: KeyPath<Settings, Value>) -> Value {
            settings[keyPath: path]
        }

        @usableFromInline
        package static func == (one: Extras, other: Extras) -> Bool { one === other || one.settings == other.settings }

        @usableFromInline
        package func hash(into hasher: inout Hasher) {
            hasher.combine(settings)
        }
    }
}

extension TransferOptions {
    /// Removes the authentication and the client certificate, which are for one origin only.
    package mutating func dropCredentials() {
        if extras?.authentication != nil { authentication = nil }
        if extras?.identity != nil { identity = nil }
    }

    /// A hash of the authentication and the client certificate, with a seed of this process; `nil` without either.
    package var credentialHash: Int? {
        guard let extras, extras.authentication != nil || extras.identity != nil else { return nil }
        var hasher = Hasher()
        hasher.combine(extras.authentication)
        hasher.combine(extras.identity)
        return hasher.finalize()
    }
}
