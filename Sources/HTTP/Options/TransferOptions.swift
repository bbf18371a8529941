/// Timeouts, limits and policies of one transfer. Every limit has a default; nil lifts it.
///
/// Cookies are kept where the transport has a jar for them: see `CurlConfiguration.cookies`.
public struct TransferOptions: Sendable, Hashable {
    /// How long each phase may take.
    public var timeouts: Timeouts
    /// What to do with a redirect.
    public var redirects: RedirectPolicy
    /// The largest decoded body taken, in bytes; a larger one ends the transfer with `NetworkError.Kind.tooLarge`.
    /// 256 MiB, so that a small compressed answer cannot fill the memory. nil: any size; below 0 is an error.
    public var maxBodyBytes: Int?
    /// The HTTP version asked for.
    public var version: HTTPVersion
    /// How soon the transfer goes out where limits make it wait. `.normal`.
    public var priority = Priority.normal
    /// What few transfers set; nil where nothing of it is set. One reference, so that options cost little to hand on.
    @usableFromInline package private(set) var extras: Extras?

    /// Options with the documented defaults.
    public init(
        timeouts: Timeouts = Timeouts(),
        redirects: RedirectPolicy = .follow,
        maxBodyBytes: Int? = 256 << 20,
        version: HTTPVersion = .automatic,
        trust: TLSTrust = .system
    ) {
        self.timeouts = timeouts
        self.redirects = redirects
        self.maxBodyBytes = maxBodyBytes
        self.version = version
        if trust != .system { self.trust = trust }
    }

    /// Options with the documented defaults, made once.
    package static let standard = TransferOptions()

    /// Which certificate authorities to trust. Verification itself cannot be switched off.
    public var trust: TLSTrust {
        get { settings.trust }
        set { settings.trust = newValue }
    }

    /// How the request shows who asks. nil, the default: as its header fields do, if they do. Of a client whose builder declares
    /// origins or a base URL, only for those.
    public var authentication: Authentication? {
        get { settings.authentication }
        set { settings.authentication = newValue }
    }

    /// Whether the transfer sends and keeps cookies, where its transport has a jar. Yes by default.
    public var usesCookies: Bool {
        get { settings.usesCookies }
        set { settings.usesCookies = newValue }
    }

    /// Which addresses the transfer may connect to; nil, the default, lets it connect to any. A refused one is an error
    /// of kind `.blocked`.
    public var addressGuard: AddressGuard? {
        get { settings.addressGuard }
        set { settings.addressGuard = newValue }
    }

    /// How much may move per second. As much as there is.
    public var bandwidth: Bandwidth {
        get { settings.bandwidth }
        set { settings.bandwidth = newValue }
    }

    /// How slow a body may come or go. As slow as it likes.
    public var minimumSpeed: MinimumSpeed? {
        get { settings.minimumSpeed }
        set { settings.minimumSpeed = newValue }
    }

    /// Whether the server is asked before a body is sent. `.never`.
    public var expect: ExpectPolicy {
        get { settings.expect }
        set { settings.expect = newValue }
    }

    /// Called with each informational (1xx) response as it comes, those before a redirect included; they are listed in
    /// `TransferResponse.interim` as well. nil by default. It runs on a thread of the transport's and must not block.
    public var onInterim: Hook<@Sendable (HTTPResponse) -> Void>? {
        get { settings.onInterim }
        set { settings.onInterim = newValue }
    }

    /// Whether `TransferMetrics.requestHead` has the head of the request as it was sent, secrets included. No by
    /// default: libcurl works more for it.
    public var keepsRequestHead: Bool {
        get { settings.keepsRequestHead }
        set { settings.keepsRequestHead = newValue }
    }

    /// Whether the transfer is expected to go on for long, as a stream of events or a long poll does. Such transfers are
    /// kept apart, so that short requests beside thousands of them cost no more. No by default; an `Accept` that begins
    /// with `text/event-stream` says it for a streamed answer.
    public var isLongLived: Bool {
        get { settings.isLongLived }
        set { settings.isLongLived = newValue }
    }
}

// MARK: - TLS

extension TransferOptions {
    /// The certificate shown to the request's origin if it asks for one. A redirect to another origin leaves it behind, also
    /// where that one leads back. Of a client whose builder declares origins or a base URL, only for those. None by default.
    public var identity: TLSIdentity? {
        get { settings.identity }
        set { settings.identity = newValue }
    }

    /// The public keys of which a server's has to be one, besides its certificate being trusted; another one ends the
    /// transfer with `NetworkError.Kind.tls` before anything is sent. Empty by default: any key. It says nothing of
    /// http, nor of an https proxy. https://curl.se/libcurl/c/CURLOPT_PINNEDPUBLICKEY.html
    public var pins: Set<PublicKeyPin> {
        get { settings.pins }
        set { settings.pins = newValue }
    }

    /// The oldest version of TLS spoken. 1.2 by default: many servers know nothing newer.
    public var minimumTLS: TLSVersion {
        get { settings.minimumTLS }
        set { settings.minimumTLS = newValue }
    }

    /// The cipher suites offered. The TLS library's own choice by default, which its updates keep current.
    public var ciphers: TLSCiphers {
        get { settings.ciphers }
        set { settings.ciphers = newValue }
    }

    /// Whether a request may go out with the first bytes of a resumed TLS 1.3 connection, a round trip earlier
    /// (RFC 8446, 2.3). Somebody on the way can send such a request a second time, so it is done for GET, HEAD, OPTIONS
    /// and TRACE without a body only; those have connections of their own then. No by default.
    /// `NetworkError.Kind.unsupported` where libcurl lacks it: see `CurlTransport.capabilities`.
    public var usesEarlyData: Bool {
        get { settings.usesEarlyData }
        set { settings.usesEarlyData = newValue }
    }
}

// MARK: - The way to the server

extension TransferOptions {
    /// Through which proxy servers are asked. The environment's by default, as with other programs.
    public var proxy: ProxyRoute {
        get { settings.proxy }
        set { settings.proxy = newValue }
    }

    /// The path of a Unix socket that is connected to, whatever the URL's host and port; no proxy is asked then.
    /// nil by default. At most 107 bytes (103 on Apple's systems). With `local` or `ipVersion` it is an error.
    public var unixSocket: String? {
        get { settings.unixSocket }
        set { settings.unixSocket = newValue }
    }

    /// Hosts that are looked for elsewhere than at the addresses of their names; the first that fits counts. None by
    /// default. A connection made by one is used again only by transfers with the same.
    public var overrides: [HostOverride] {
        get { settings.overrides }
        set { settings.overrides = newValue }
    }

    /// The version of IP that servers are reached over. Both by default.
    public var ipVersion: IPVersion {
        get { settings.ipVersion }
        set { settings.ipVersion = newValue }
    }

    /// This end of connections. The system's choice by default, which may be an open connection that another transfer
    /// made from an end of its own.
    public var local: LocalEndpoint {
        get { settings.local }
        set { settings.local = newValue }
    }

    /// The codings asked for with `Accept-Encoding`, best first. nil, the default: all that the transport can undo.
    /// Empty: the field is left out, and a body that comes compressed all the same is handed over as it came. It says
    /// nothing of a request that has an `Accept-Encoding` or a `Range` of its own, or is a HEAD.
    public var codings: [ContentCoding]? {
        get { settings.codings }
        set { settings.codings = newValue }
    }

    /// Whether a limit on images applies to the body, if it is one. No by default: it always does to requests for images.
    package var limitsImages: Bool {
        get { settings.limitsImages }
        set { settings.limitsImages = newValue }
    }
}

extension TransferOptions {
    /// What few transfers set, with its defaults.
    @usableFromInline
    package struct Settings: Sendable, Hashable {
        package var trust = TLSTrust.system
        package var addressGuard: AddressGuard?
        package var authentication: Authentication?
        package var usesCookies = true
        package var bandwidth = Bandwidth()
        package var minimumSpeed: MinimumSpeed?
        package var expect = ExpectPolicy.never
        package var onInterim: Hook<@Sendable (HTTPResponse) -> Void>?
        package var keepsRequestHead = false
        package var isLongLived = false
        package var identity: TLSIdentity?
        package var pins: Set<PublicKeyPin> = []
        package var minimumTLS = TLSVersion.tls12
        package var ciphers = TLSCiphers()
        package var usesEarlyData = false
        package var proxy = ProxyRoute.environment
        package var unixSocket: String?
        package var overrides: [HostOverride] = []
        package var ipVersion = IPVersion.any
        package var local = LocalEndpoint()
        package var codings: [ContentCoding]?
        package var limitsImages = false

        fileprivate static let standard = Settings()
    }

    /// What the properties of each option read and write. Never inlined: there are dozens of them.
    private(set) var settings: Settings {
        @inline(never) get { extras?.settings ?? .standard }
        @inline(never) set { extras = newValue == .standard ? nil : Extras(newValue) }
    }

    /// Settings as one reference, which never change: a look at one of them copies no other.
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
    /// Leaves out what shows who asks: it is for one origin. A certificate is a credential, too, and names its owner.
    package mutating func dropCredentials() {
        if extras?.authentication != nil { authentication = nil }
        if extras?.identity != nil { identity = nil }
    }
}
