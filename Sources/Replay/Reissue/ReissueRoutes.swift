import BeagleNet
import BeagleNetHTTP

/// The routes from recorded servers to targets.
struct ReissueRoutes {
    /// The target for hosts that are not in `hosts`.
    let fallback: Reissuer.Target?
    /// The targets by recorded host, with or without its port, in lower case.
    let hosts: [String: Reissuer.Target]

    /// Returns the target for a URL; `nil` if its host has no target.
    func target(of url: RecordedURL) -> Reissuer.Target? { hostTarget(of: url) ?? fallback }

    /// Returns the target that is set for the host in particular.
    func hostTarget(of url: RecordedURL) -> Reissuer.Target? {
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
