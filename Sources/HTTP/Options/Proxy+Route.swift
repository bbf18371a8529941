extension Proxy {
    /// The proxy through which servers are reached.
    public enum Route: Sendable, Hashable {
        /// The proxy named by the environment variables `http_proxy` (in lower case only), `https_proxy` or
        /// `all_proxy`, unless `no_proxy` names the host.
        ///
        /// The transport checks whether there is one when it starts to use a thread, which is usually at its first
        /// transfer and at its first stream. https://curl.se/libcurl/c/libcurl-env.html
        case environment
        /// The environment's proxy, except for these hosts, which are written as in `Proxy.exceptions`.
        ///
        /// `no_proxy` has no effect.
        case environmentExcept([String])
        /// No proxy, regardless of the environment.
        case direct
        /// The given proxy, regardless of the environment.
        case through(Proxy)
    }
}
