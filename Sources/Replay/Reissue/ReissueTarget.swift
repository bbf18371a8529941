public import BeagleNet
import BeagleNetHTTP

/// A server that recorded messages are sent to instead of the one that they went to: scheme, host and port.
public struct ReissueTarget: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    let scheme: String
    /// Host, and port where one was given.
    let authority: String
    /// Both as a browser compares them.
    let origin: Origin

    /// Reads `https://HOST:PORT`.
    ///
    /// - Throws: `NetworkError` of kind `.badURL` where it is something else, or has more than that.
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

    /// `https://HOST:PORT`
    public var description: String { "\(scheme)://\(authority)" }
}

/// The parts of a URL as it was recorded.
struct RecordedURL {
    /// In lower case.
    let scheme: String
    /// Host and port, with a user where there is one.
    let authority: String
    /// Path and query.
    let target: String

    /// Takes a URL apart; nil where it has no scheme or no authority.
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

    /// The authority in lower case, without a user.
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

/// Which server messages go to.
struct ReissueRoutes {
    /// Where all go whose host is not among `hosts`.
    let fallback: ReissueTarget?
    /// Targets by recorded host, with or without its port, in lower case.
    let hosts: [String: ReissueTarget]

    /// Where a message goes; nil where nothing is said of its host.
    func target(of url: RecordedURL) -> ReissueTarget? { own(url) ?? fallback }

    /// The target that is said of its host in particular.
    func own(_ url: RecordedURL) -> ReissueTarget? {
        hosts[url.host] ?? hosts[String(url.host.prefix { $0 != ":" })]
    }

    /// Whether messages go there.
    func lead(to origin: Origin) -> Bool {
        fallback?.origin == origin || hosts.values.contains { $0.origin == origin }
    }

    /// A URL as it would be at the target; as it is where it has no scheme or goes nowhere.
    func mapped(_ url: String) -> String {
        guard let parts = RecordedURL(url), let target = target(of: parts) else { return url }
        return "\(target)\(parts.target)"
    }
}
