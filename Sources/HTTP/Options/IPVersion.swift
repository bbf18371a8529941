/// The version of IP that a server is reached over.
public enum IPVersion: String, Sendable, Hashable, CaseIterable {
    /// Both, IPv6 with a head start (RFC 8305): see `CurlConfiguration.happyEyeballsDelay`.
    case any
    /// IPv4 only.
    case v4
    /// IPv6 only.
    case v6
}
