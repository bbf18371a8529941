import BeagleNetHTTP
import CBeagleNetCurl

extension CurlTransport {
    /// The capabilities of the libcurl that this process uses, determined at run time.
    ///
    /// An option that needs a missing capability fails the transfer with `NetworkError.Kind.unsupported`. The error
    /// names libcurl's version and a way to get the capability.
    public struct Capabilities: Sendable {
        /// A capability that not every libcurl has.
        public struct Feature: RawRepresentable, Sendable, Hashable {
            /// The name as shown by `beagle --version`.
            public let rawValue: String

            /// Creates a feature with this name.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// Support for `HTTPVersion.http2`, which `.automatic` prefers.
            public static let http2 = Feature(rawValue: "HTTP/2")
            /// Support for `HTTPVersion.http3`.
            public static let http3 = Feature(rawValue: "HTTP/3")
            /// Support for `TransferOptions.ContentCoding.brotli`.
            public static let brotli = Feature(rawValue: "brotli")
            /// Support for `TransferOptions.ContentCoding.zstd`.
            public static let zstd = Feature(rawValue: "zstd")
            /// Support for `Proxy.Scheme.https`.
            public static let secureProxies = Feature(rawValue: "HTTPS proxies")
            /// Support for `TransferOptions.unixSocket`.
            public static let unixSockets = Feature(rawValue: "Unix sockets")
            /// Support for IPv6 addresses.
            public static let ipv6 = Feature(rawValue: "IPv6")
            /// Support for internationalized host names (RFC 5890).
            public static let internationalNames = Feature(rawValue: "international host names")
            /// Support for the public suffix list, which prevents cookies from being set for a public suffix.
            public static let publicSuffixes = Feature(rawValue: "public suffixes")
            /// Support for `TransferOptions.usesEarlyData`.
            public static let earlyData = Feature(rawValue: "TLS early data")
            /// Support for `TLS.Trust.native`.
            public static let nativeTrust = Feature(rawValue: "native certificate store")
        }

        /// The version of libcurl, such as `7.88.1`.
        public let version: String
        /// The TLS library of libcurl and its version, such as `OpenSSL/3.0.19`; empty if there is no TLS library.
        public let tls: String
        /// The available features.
        public let features: Set<Feature>
        /// The missing features, each with the software that provides it, in a fixed order.
        public let missing: [(feature: Feature, provider: String)]

        /// Returns whether the feature is available.
        public func contains(_ feature: Feature) -> Bool { features.contains(feature) }

        static let current = Capabilities()

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

        /// - Throws: `NetworkError` of kind `.unsupported` if the feature is missing.
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
            Row(.nativeTrust, "libcurl on an Apple platform or Windows; .system trusts this system's authorities") {
                _ in
                #if canImport(Darwin) || os(Windows)
                    true
                #else
                    false
                #endif
            },
        ]
    }
}

extension CurlTransport {
    /// The capabilities of the libcurl that this process uses.
    public static var capabilities: Capabilities { .current }
}

extension String {
    /// Whether this TLS version text of libcurl names GnuTLS as the active library; inactive ones are in parentheses.
    var isOfGnuTLS: Bool { split(separator: " ").contains { $0.hasPrefix("GnuTLS") } }
}
