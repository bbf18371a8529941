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
    /// What few transfers set; nil where nothing of it is set. One reference, so that options cost little to hand on.
    private var box: Box?

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

    /// Which certificate authorities to trust. Verification itself cannot be switched off.
    public var trust: TLSTrust {
        get { settings.trust }
        set { settings.trust = newValue }
    }
}

extension TransferOptions {
    /// What few transfers set, with its defaults.
    package struct Extras: Sendable, Hashable {
        package var trust = TLSTrust.system

        fileprivate static let standard = Extras()
    }

    /// nil where nothing of it is set: for an engine, which then has nothing to do.
    package var extras: Extras? { box?.extras }

    /// What the properties of each option read and write.
    var settings: Extras {
        get { box?.extras ?? .standard }
        set { box = newValue == .standard ? nil : Box(newValue) }
    }

    private final class Box: Sendable, Hashable {
        let extras: Extras

        init(_ extras: Extras) {
            self.extras = extras
        }

        static func == (one: Box, other: Box) -> Bool { one === other || one.extras == other.extras }

        func hash(into hasher: inout Hasher) {
            hasher.combine(extras)
        }
    }
}
