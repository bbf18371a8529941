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

/// A port whose queue of connections is full: the system drops the SYN of who comes next, as if the host were away.
package struct FullBacklog: ~Copyable {
    package let port: UInt16
    private let descriptors: [Int32]

    package init() throws {
        let listener = socket(AF_INET, streamType, 0)
        var address = loopbackAddress(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, size) == 0 && listen(listener, 0) == 0
                    && getsockname(listener, pointer, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        descriptors = [listener] + Self.fill(port)
        guard isListening else { throw NetworkError(.connect, during: .connect, String(cString: strerror(errno))) }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }

    /// Begins more connections than the queue of length 0 can take.
    private static func fill(_ port: UInt16) -> [Int32] {
        (1...8).map { _ in
            let descriptor = socket(AF_INET, streamType, 0)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            _ = connectsTo(port, descriptor)
            return descriptor
        }
    }
}

/// Connects a socket to a port of 127.0.0.1.
package func connectsTo(_ port: UInt16, _ descriptor: Int32) -> Bool {
    var address = loopbackAddress(port: port)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
    }
}

private func loopbackAddress(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}
