import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// The site of a command that loads several screens: the first screen, its origin, and the base URL of paths.
struct CrawlSite {
    let start: URL
    let origin: Origin
    let base: URL

    /// - Throws: `NetworkError` if the address isn't an http or https URL.
    init(_ address: Address) throws(NetworkError) {
        start = try address.target()
        guard let origin = Origin(start), ["http", "https"].contains(origin.scheme) else {
            throw NetworkError(
                .unsupportedScheme,
                during: .build,
                "the first screen needs an http or https URL",
                advice: "write http://HOST:PORT/PATH"
            )
        }
        self.origin = origin
        let root = HTTPRequest.urlText(origin.scheme, "\(origin.host):\(origin.port)", "/")
        base = try UrlBuilder().url(for: address.base ?? root)
    }
}
