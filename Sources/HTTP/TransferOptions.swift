/// Timeouts, limits and policies of one transfer. Every limit has a default; nil lifts it.
///
/// Cookies are not kept: `Set-Cookie` is a field like any other, and a request has the `Cookie` that the app gives it.
/// `CurlTransport` asks through the proxy that `http_proxy`, `https_proxy` or `all_proxy` of the environment names,
/// unless `no_proxy` names the host.
public struct TransferOptions: Sendable, Hashable {
    /// How long each phase may take.
    public var timeouts: Timeouts
    /// What to do with a redirect.
    public var redirects: RedirectPolicy
    /// The largest decoded body taken, in bytes; a larger one ends the transfer with `NetworkError.Kind.tooLarge`.
    /// 256 MiB, so that a small compressed answer cannot fill the memory. nil: any size.
    public var maxBodyBytes: Int?
    /// The HTTP version asked for.
    public var version: HTTPVersion
    /// Which certificate authorities to trust. Verification itself cannot be switched off.
    public var trust: TLSTrust

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
        self.trust = trust
    }
}

/// How long each phase of a transfer may take. nil: as long as it likes.
public struct Timeouts: Sendable, Hashable {
    /// Resolving, connecting and the TLS handshake together, per hop. 30 s.
    public var connect: Duration?
    /// From the last piece of the request sent to the end of the response head, per hop. 60 s. Waiting for a streamed
    /// request body does not count.
    public var firstByte: Duration?
    /// Between two reads of the response body. 60 s. A paused stream does not count.
    public var idle: Duration?
    /// The whole transfer with its redirects, from start to the last byte. 300 s, so that a server that answers a
    /// byte at a time comes to an end too. `stream` and `download` of a client lift it unless told otherwise.
    public var total: Duration?

    /// Timeouts with the documented defaults.
    public init(
        connect: Duration? = .seconds(30),
        firstByte: Duration? = .seconds(60),
        idle: Duration? = .seconds(60),
        total: Duration? = .seconds(300)
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }
}

/// What to do with a 301, 302, 303, 307 or 308 that names a `Location`.
public struct RedirectPolicy: Sendable, Hashable {
    /// Redirects followed before `NetworkError.Kind.tooManyRedirects`; 0 hands the redirect itself over.
    public var limit: Int
    /// Whether a redirect may lead from https to http. No by default: it would undo the encryption.
    public var allowsInsecure: Bool

    /// A policy that follows up to `limit` redirects.
    public init(limit: Int, allowsInsecure: Bool = false) {
        self.limit = limit
        self.allowsInsecure = allowsInsecure
    }

    /// Follows up to 10.
    public static let follow = RedirectPolicy(limit: 10)
    /// Hands the redirect itself over.
    public static let manual = RedirectPolicy(limit: 0)
}

/// The HTTP version asked for; the server has the last word.
public enum HTTPVersion: String, Sendable, Hashable, CaseIterable {
    /// HTTP/2 over TLS where the server offers it, else HTTP/1.1.
    case automatic
    /// HTTP/1.1 only.
    case http1 = "1.1"
    /// HTTP/2: negotiated over TLS, with prior knowledge over plain TCP (RFC 9113, 3.3).
    case http2 = "2"
}

/// Which certificate authorities to trust.
public enum TLSTrust: Sendable, Hashable {
    /// The system's.
    case system
    /// Only those in this PEM file.
    case file(path: String)
}
