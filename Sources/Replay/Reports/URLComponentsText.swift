import BeagleNet
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The host and path of a URL, found in its text, because a log may contain invalid URLs.
package struct URLComponentsText: Hashable {
    /// The host in lower case, without a port or the brackets of an IPv6 address.
    package let host: String
    /// The path as it is written; `/` if it is empty.
    package let path: String

    package init(_ url: String) {
        // Compares scalars, because a delimiter and a combining character after it form a single `Character`.
        let all = url.unicodeScalars
        let start = all.firstRange(of: "://".unicodeScalars)?.upperBound ?? all.startIndex
        let place = all[start...].prefix { $0 != "?" && $0 != "#" }
        let authority = place.prefix { $0 != "/" }
        let path = String(place[authority.endIndex...])
        self.path = path.isEmpty ? "/" : path
        let site = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        let host = site.first == "[" ? site.dropFirst().prefix { $0 != "]" } : site.prefix { $0 != ":" }
        self.host = String(host).lowercased()
    }
}
