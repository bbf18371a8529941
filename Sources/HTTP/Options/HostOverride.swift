/// Where a host is looked for instead of at the addresses of its name. Everything else, such as the `Host` field and the
/// check of the certificate, goes by the name.
public struct HostOverride: Sendable, Hashable {
    /// The host of a URL; `*` for every host.
    public var host: String
    /// The port of a URL, in 1...65,535; nil for every port.
    public var port: Int?
    /// The IPv4 or IPv6 address that is connected to, without brackets.
    public var address: String
    /// The port that is connected to, in 1...65,535; nil for that of the URL.
    public var addressPort: Int?

    /// Looks for `host` at `address`.
    public init(host: String, port: Int? = nil, address: String, addressPort: Int? = nil) {
        self.host = host
        self.port = port
        self.address = address
        self.addressPort = addressPort
    }
}
