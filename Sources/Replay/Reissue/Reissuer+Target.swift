public import BeagleNet
import BeagleNetHTTP

extension Reissuer {
    /// A server to which recorded requests are sent instead of the original one: scheme, host and port.
    public struct Target: Sendable, Hashable, CustomStringConvertible {
        /// The scheme, `http` or `https`.
        let scheme: String
        /// The host, with the port if one was given.
        let authority: String
        /// The origin for comparisons.
        let origin: Origin

        /// Parses `https://HOST:PORT`.
        ///
        /// - Throws: `NetworkError` of kind `.badURL` if the text is not a URL of this form, or has other components.
        public init(_ url: String) throws(NetworkError) {
            guard let parts = RecordedURL(url) else {
                throw Self.fault(url, "has no scheme or host", "write https://HOST or http://HOST:PORT")
            }
            guard ["http", "https"].contains(parts.scheme) else {
                throw Self.fault(url, "is neither http nor https", "write https://HOST or http://HOST:PORT")
            }
            guard !parts.authority.contains("@") else {
                throw Self.fault(url, "has a user name", "map the Authorization header instead")
            }
            guard parts.target == "/" else {
                throw Self.fault(
                    url,
                    "has a path or query",
                    "write only scheme, host and port; paths are used as recorded"
                )
            }
            do {
                let site = try WireURL("\(parts.scheme)://\(parts.authority)")
                (scheme, authority, origin) = (site.scheme, site.authority, site.origin)
            } catch {
                throw Self.fault(url, "cannot be used: \(error.message)", "write https://HOST or http://HOST:PORT")
            }
        }

        private static func fault(_ url: String, _ reason: String, _ advice: String) -> NetworkError {
            NetworkError(.badURL, during: .build, "the target \(Redactor().redact(url: url)) \(reason)", advice: advice)
        }

        /// The scheme and the authority, `https://HOST:PORT`.
        public var description: String { "\(scheme)://\(authority)" }
    }
}
