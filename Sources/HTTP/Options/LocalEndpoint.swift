/// This end of a connection.
public struct LocalEndpoint: Sendable, Hashable {
    /// The interface's name, such as `eth0`, or one of this machine's addresses; nil for the system's choice.
    public var interface: String?
    /// The ports, in 1...65,535, of which the first free one is taken; nil for the system's choice. A closed
    /// connection keeps its port taken for a minute.
    public var ports: ClosedRange<Int>?

    /// This end on an interface, on one of these ports, or both.
    public init(interface: String? = nil, ports: ClosedRange<Int>? = nil) {
        self.interface = interface
        self.ports = ports
    }
}
