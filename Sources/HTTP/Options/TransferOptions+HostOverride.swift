extension TransferOptions {
    /// An address to connect to instead of the addresses that a host name resolves to.
    ///
    /// Everything else, such as the `Host` field and the certificate check, still uses the name.
    public struct HostOverride: Sendable, Hashable {
        /// The host of the URL, or `*` for every host.
        public var host: String
        /// The port of the URL, in 1...65,535, or `nil` for every port.
        public var port: Int?
        /// The IPv4 or IPv6 address to connect to, without brackets.
        public var address: String
        /// The port to connect to, in 1...65,535, or `nil` for the URL's port.
        public var addressPort: Int?

        /// Creates an override that connects to `address` for `host`.
        public init(host: String, port: Int? = nil, address: String, addressPort: Int? = nil) {
            self.host = host
            self.port = port
            self.address = address
            self.addressPort = addressPort
        }
    }
}
