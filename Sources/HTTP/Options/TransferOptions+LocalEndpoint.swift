extension TransferOptions {
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
}
