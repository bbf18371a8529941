import BeagleNet
import BeagleNetHTTP

/// The components of a recorded URL.
struct RecordedURL {
    /// The scheme in lower case.
    let scheme: String
    /// The host and port, with the user if there is one.
    let authority: String
    /// The path and the query.
    let target: String

    /// Splits a URL; returns `nil` if it has no scheme or no authority.
    init?(_ url: String) {
        let marks = url.utf8
        var colon = marks.startIndex
        while !marks[colon...].starts(with: "://".utf8) {
            guard colon < marks.endIndex else { return nil }
            colon = marks.index(after: colon)
        }
        let rest = marks[marks.index(colon, offsetBy: 3)...].prefix { $0 != UInt8(ascii: "#") }
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard !authority.isEmpty, colon > marks.startIndex else { return nil }
        scheme = String(Substring(marks[..<colon])).lowercased()
        self.authority = String(Substring(authority))
        let target = String(Substring(rest[authority.endIndex...]))
        self.target = target.hasPrefix("/") ? target : "/\(target)"
    }

    /// The host and port in lower case, without the user.
    var host: String {
        (authority.split(separator: "@", omittingEmptySubsequences: false).last.map(String.init) ?? authority)
            .lowercased()
    }
}

extension RecordedURL {
    /// The host without its port.
    var hostName: String {
        if host.hasPrefix("[") { return host.firstIndex(of: "]").map { String(host[...$0]) } ?? host }
        return String(host.prefix { $0 != ":" })
    }
}
