import BeagleNetHTTP

#if canImport(Glibc)
    import Glibc
    private let streamType = Int32(SOCK_STREAM.rawValue)
#elseif canImport(Musl)
    import Musl
    private let streamType = SOCK_STREAM
#else
    import Darwin
    private let streamType = SOCK_STREAM
#endif

/// A port with a full backlog: the system drops the SYN of every new connection, as if the host were unreachable.
package struct FullBacklog: ~Copyable {
    package let port: UInt16
    private let descriptors: [Int32]

    /// Fills the backlog of a port of 127.0.0.1 that the system chooses.
    package init() throws {
        try self.init(on: .ipv4, port: 0)
    }

    /// Whether this machine has ::1.
    package static var hasIPv6: Bool {
        do {
            _ = try FullBacklog(ofIPv6: 0)
            return true
        } catch {
            return false
        }
    }

    /// Fills the backlog of a port of ::1.
    package init(ofIPv6 port: UInt16) throws {
        try self.init(on: .ipv6, port: port)
    }

    private init(on host: Loopback, port: UInt16) throws {
        let listener = socket(host.family, streamType, 0)
        descriptors = [listener] + (1...8).map { _ in socket(host.family, streamType, 0) }
        var port = port
        let isListening = host.with(port) { bind(listener, $0, $1) == 0 } && listen(listener, 0) == 0
        if isListening, port == 0 { port = boundPort(listener) }
        self.port = port
        // More connections than a backlog of length 0 can hold.
        for descriptor in descriptors.dropFirst() {
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            _ = host.with(port) { connect(descriptor, $0, $1) }
        }
        guard isListening else { throw NetworkError(.connect, during: .connect, String(cString: strerror(errno))) }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}

/// Connects a socket to a port of 127.0.0.1.
package func connectsTo(_ port: UInt16, _ descriptor: Int32) -> Bool {
    Loopback.ipv4.with(port) { connect(descriptor, $0, $1) == 0 }
}

private func boundPort(_ descriptor: Int32) -> UInt16 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    return UInt16(bigEndian: address.sin_port)
}

/// This machine's own addresses.
private enum Loopback {
    case ipv4, ipv6

    var family: Int32 { self == .ipv4 ? AF_INET : AF_INET6 }

    func with<Result>(_ port: UInt16, _ use: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch self {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return Self.with(&address, use)
        case .ipv6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            return Self.with(&address, use)
        }
    }

    private static func with<Address, Result>(
        _ address: inout Address,
        _ use: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                use(pointer, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }
}
