import BeagleNetHTTP
import CBeagleNetCurl

/// The scheme and authority of a URL, checked and parsed once instead of for each request. The path is passed to
/// libcurl separately, so that libcurl sends it unchanged and doesn't parse it either.
final class ParsedOrigin {
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

/// A cache of the most recently used origins.
struct ParsedOriginCache {
    private struct Key: Hashable {
        let scheme: String
        let authority: String
    }

    private static let limit = 256

    private var latest: ParsedOrigin?
    private var known: [Key: ParsedOrigin] = [:]

    /// Returns the origin of a request.
    ///
    /// - Throws: `NetworkError` if the origin is invalid: see `MessageCheck`.
    mutating func origin(of message: Message) throws(NetworkError) -> ParsedOrigin {
        let (scheme, authority) = (message.scheme, message.authority)
        if let latest, latest.authority == authority, latest.scheme == scheme { return latest }
        let key = Key(scheme: scheme, authority: authority)
        if known[key] == nil, known.count >= Self.limit { known.removeAll() }
        let origin = if let origin = known[key] { origin } else { try ParsedOrigin(scheme, authority) }
        known[key] = origin
        latest = origin
        return origin
    }
}
