public import BeagleNet
import BeagleNetHTTP

/// A server to which recorded requests are sent instead of the original one: scheme, host and port.
public struct ReissueTarget: Sendable, Hashable, CustomStringConvertible {
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

/// The routes from recorded servers to targets.
struct ReissueRoutes {
    /// The target for hosts that are not in `hosts`.
    let fallback: ReissueTarget?
    /// The targets by recorded host, with or without its port, in lower case.
    let hosts: [String: ReissueTarget]

    /// Returns the target for a URL; `nil` if its host has no target.
    func target(of url: RecordedURL) -> ReissueTarget? { hostTarget(of: url) ?? fallback }

    /// Returns the target that is set for the host in particular.
    func hostTarget(of url: RecordedURL) -> ReissueTarget? {
        hosts[url.host] ?? hosts[String(url.host.prefix { $0 != ":" })]
    }

    /// Returns whether requests are sent to an origin.
    func include(_ origin: Origin) -> Bool {
        fallback?.origin == origin || hosts.values.contains { $0.origin == origin }
    }

    /// Returns a URL with the origin of its target; returns it unchanged if it has no scheme or no target.
    func mapped(_ url: String) -> String {
        guard let parts = RecordedURL(url), let target = target(of: parts) else { return url }
        return "\(target)\(parts.target)"
    }
}
