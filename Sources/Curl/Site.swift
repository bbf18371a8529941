import BeagleNetHTTP
import CBeagleNetCurl

/// Where messages go, as their URLs write it: checked and taken apart once, not for each message. libcurl gets the path
/// by itself, so that it does not look through that either, and sends it as it is.
final class Site {
    let isSecure: Bool
    fileprivate let scheme: String
    fileprivate let authority: String
    /// Scheme and authority with the path `/`.
    let url: String
    let parsedURL: ParsedURL
    /// The host's address, if the URL has it in the place of a name.
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

/// The sites that were asked last.
struct Sites {
    private struct Key: Hashable {
        let scheme: String
        let authority: String
    }

    private static let limit = 256

    private var latest: Site?
    private var known: [Key: Site] = [:]

    /// Where a message goes.
    ///
    /// - Throws: `NetworkError` where it must not go out: see `MessageCheck`.
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
