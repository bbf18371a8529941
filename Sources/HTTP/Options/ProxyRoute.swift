/// Through which proxy servers are asked.
public enum ProxyRoute: Sendable, Hashable {
    /// The one that `http_proxy` (in lower case only), `https_proxy` or `all_proxy` of the environment names, unless
    /// `no_proxy` names the host. Whether there is one is looked at when a transport begins to use a thread: mostly with
    /// its first transfer, and with its first stream. https://curl.se/libcurl/c/libcurl-env.html
    case environment
    /// The one that the environment names, except for these hosts, which are written as `Proxy.exceptions` are. `no_proxy` doesn't
    /// count.
    case environmentExcept([String])
    /// None, whatever the environment says.
    case direct
    /// This one, whatever the environment says.
    case through(Proxy)
}
