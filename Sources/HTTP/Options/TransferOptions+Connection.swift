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

    /// The local interface and port of a connection.
    public struct LocalEndpoint: Sendable, Hashable {
        /// The name of an interface, such as `eth0`, or an address of this machine; `nil` lets the system choose.
        public var interface: String?
        /// The ports to choose from, in 1...65,535; `nil` lets the system choose.
        ///
        /// The first free port is used. A closed connection occupies its port for another minute.
        public var ports: ClosedRange<Int>?

        /// Creates a local endpoint with an interface, a range of ports, or both.
        public init(interface: String? = nil, ports: ClosedRange<Int>? = nil) {
            self.interface = interface
            self.ports = ports
        }
    }

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
