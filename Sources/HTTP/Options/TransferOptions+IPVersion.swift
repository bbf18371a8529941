extension TransferOptions {
    /// The IP versions that may be used to connect to a server.
    public enum IPVersion: String, Sendable, Hashable, CaseIterable {
        /// Both, with a head start for IPv6 (RFC 8305): see `CurlTransport.Configuration.happyEyeballsDelay`.
        case any
        /// IPv4 only.
        case v4
        /// IPv6 only.
        case v6
    }
}
