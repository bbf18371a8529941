import BeagleNetHTTP
import CBeagleNetCurl

/// What the libcurl that this process runs with can do, looked up when the program runs.
///
/// An option that needs something missing ends a transfer with `NetworkError.Kind.unsupported`, which names libcurl's
/// version and what would provide it.
public struct CurlCapabilities: Sendable {
    /// Something that not every libcurl can do. An open set.
    public struct Feature: RawRepresentable, Sendable, Hashable {
        /// The name that `beagle --version` shows.
        public let rawValue: String

        /// A feature of this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// `HTTPVersion.http2`, and what `.automatic` prefers.
        public static let http2 = Feature(rawValue: "HTTP/2")
        /// `HTTPVersion.http3`.
        public static let http3 = Feature(rawValue: "HTTP/3")
        /// `ContentCoding.brotli`.
        public static let brotli = Feature(rawValue: "brotli")
        /// `ContentCoding.zstd`.
        public static let zstd = Feature(rawValue: "zstd")
        /// `Proxy.Scheme.https`.
        public static let secureProxies = Feature(rawValue: "HTTPS proxies")
        /// `TransferOptions.unixSocket`.
        public static let unixSockets = Feature(rawValue: "Unix sockets")
        /// Addresses of IPv6.
        public static let ipv6 = Feature(rawValue: "IPv6")
        /// Host names beyond ASCII (RFC 5890).
        public static let internationalNames = Feature(rawValue: "international host names")
        /// Knowing which suffixes of host names are public, so that no cookie is set for one.
        public static let publicSuffixes = Feature(rawValue: "public suffixes")
        /// `TransferOptions.usesEarlyData`.
        public static let earlyData = Feature(rawValue: "TLS early data")
        /// `TLSTrust.native`.
        public static let nativeTrust = Feature(rawValue: "native certificate store")
    }

    /// libcurl's version: `7.88.1`.
    public let version: String
    /// The TLS library below libcurl and its version: `OpenSSL/3.0.19`; empty where there is none.
    public let tls: String
    /// What it can do.
    public let features: Set<Feature>
    /// What it cannot do, and what would provide that, in the order of their names.
    public let missing: [(feature: Feature, provider: String)]

    /// Whether it can do this.
    public func contains(_ feature: Feature) -> Bool { features.contains(feature) }

    static let current = CurlCapabilities()

    private init() {
        guard let info = curl_version_info(CURLVERSION_FIRST)?.pointee else {
            preconditionFailure("curl_version_info returned no version")
        }
        let tls = info.ssl_version.map { String(cString: $0) } ?? ""
        let libcurl = Libcurl(number: info.version_num, bits: info.features, tls: tls)
        version = String(cString: info.version)
        self.tls = tls
        features = Set(Self.table.filter { $0.isThere(libcurl) }.map(\.feature))
        missing = Self.table.filter { !$0.isThere(libcurl) }.map { ($0.feature, $0.provider) }
    }

    /// - Throws: `NetworkError` of kind `.unsupported` where the feature is missing.
    func require(_ feature: Feature, for option: String) throws(NetworkError) {
        guard let absent = missing.first(where: { $0.feature == feature }) else { return }
        throw .unsent(
            .unsupported,
            "\(option): libcurl \(version)\(tls.isEmpty ? "" : " with \(tls)") does not support \(feature.rawValue)",
            "use \(absent.provider)"
        )
    }

    private struct Libcurl {
        let number: UInt32
        let bits: Int32
        let tls: String
    }

    private struct Row {
        let feature: Feature
        let provider: String
        let isThere: @Sendable (Libcurl) -> Bool

        init(_ feature: Feature, _ provider: String, isThere: @escaping @Sendable (Libcurl) -> Bool) {
            self.feature = feature
            self.provider = provider
            self.isThere = isThere
        }
    }

    private static let table = [
        Row(.http2, "a libcurl built with nghttp2") { $0.bits & CURL_VERSION_HTTP2 != 0 },
        Row(.http3, "a libcurl built with ngtcp2 and nghttp3 (https://curl.se/docs/http3.html)") {
            $0.bits & CURL_VERSION_HTTP3 != 0
        },
        Row(.ipv6, "a libcurl built with IPv6") { $0.bits & CURL_VERSION_IPV6 != 0 },
        Row(.secureProxies, "a libcurl built with OpenSSL or GnuTLS") { $0.bits & CURL_VERSION_HTTPS_PROXY != 0 },
        Row(.unixSockets, "a libcurl built with Unix sockets") { $0.bits & CURL_VERSION_UNIX_SOCKETS != 0 },
        Row(.brotli, "the library libbrotlidec (Debian: libbrotli1)") { _ in Brotli.library != nil },
        Row(.zstd, "the library libzstd (Debian: libzstd1)") { _ in Zstandard.library != nil },
        Row(.internationalNames, "a libcurl built with libidn2") { $0.bits & CURL_VERSION_IDN != 0 },
        Row(.publicSuffixes, "the library libpsl (Debian: libpsl5)") { _ in PublicSuffixes.system != nil },
        // https://curl.se/libcurl/c/CURLOPT_SSL_OPTIONS.html
        Row(.earlyData, "libcurl 8.11 with GnuTLS, or 8.13 with OpenSSL") {
            $0.number >= ($0.tls.isOfGnuTLS ? 0x08_0B_00 : 0x08_0D_00)
        },
        Row(.nativeTrust, "libcurl on an Apple platform or Windows; .system trusts this system's authorities") { _ in
            #if canImport(Darwin) || os(Windows)
                true
            #else
                false
            #endif
        },
    ]
}

extension CurlTransport {
    /// What the libcurl that this process runs with can do.
    public static var capabilities: CurlCapabilities { .current }
}

extension String {
    /// Whether GnuTLS is what this text of libcurl's says that it uses; what it could use besides stands in brackets.
    var isOfGnuTLS: Bool { split(separator: " ").contains { $0.hasPrefix("GnuTLS") } }
}
