import BeagleNetHTTP
import CBeagleNetCurl

/// The scheme and authority of a URL, checked and parsed once instead of for each request. The path is passed to
/// libcurl separately, so that libcurl sends it unchanged and doesn't parse it either.
final class Site {
    let isSecure: Bool
    fileprivate let scheme: String
    fileprivate let authority: String
    /// The scheme and authority with the path `/`.
    let url: String
    let parsedURL: ParsedURL
    /// The host as an address, if the URL has an address instead of a name.
    private(set) lazy var address = parsedURL.host.flatMap { IPAddress($0) }

    fileprivate init(_ scheme: String, _ authority: String) throws(NetworkError) {
        try MessageCheck.check(scheme: scheme, authority: authority)
        self.scheme = scheme
        isSecure = scheme == "https"
        self.authority = authority
        url = "\(scheme)://\(authority)/"
        parsedURL = ParsedURL(url)
    }
}

/// A cache of the most recently used sites.
struct Sites {
    private struct Key: Hashable {
        let scheme: String
        let authority: String
    }

    private static let limit = 256

    private var latest: Site?
    private var known: [Key: Site] = [:]

    /// Returns the site of a request.
    ///
    /// - Throws: `NetworkError` if the site is invalid: see `MessageCheck`.
    mutating func site(of message: Message) throws(NetworkError) -> Site {
        let (scheme, authority) = (message.scheme, message.authority)
        if let latest, latest.authority == authority, latest.scheme == scheme { return latest }
        let key = Key(scheme: scheme, authority: authority)
        if known[key] == nil, known.count >= Self.limit { known.removeAll() }
        let site = if let site = known[key] { site } else { try Site(scheme, authority) }
        known[key] = site
        latest = site
        return site
    }
}
