import BeagleNetHTTP
import CBeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A record of the connections in libcurl's pool. Before a request is sent on one, it shows whether the connection is
/// dead or holds unsolicited bytes that would be mistaken for the response.
///
/// libcurl 7.88 treats a connection with pending bytes as healthy. A connection is identified by its ports and
/// addresses; at worst, a mix-up makes us open a new one.
struct Connections {
    struct Key: Hashable {
        let localPort: Int32
        private let remotePort: Int32
        /// A hash of both addresses as text.
        private let addresses: UInt64

        /// Creates a key from both ends of a connection, as libcurl writes them.
        init(
            _ local: UnsafePointer<CChar>?,
            _ localPort: Int32,
            _ remote: UnsafePointer<CChar>?,
            _ remotePort: Int32
        ) {
            self.localPort = localPort
            self.remotePort = remotePort
            addresses = Self.mix(Self.mix(0xCBF2_9CE4_8422_2325, local), remote)
        }

        /// Returns the FNV-1a hash (http://www.isthe.com/chongo/tech/comp/fnv/) of a text including its terminating
        /// NUL.
        private static func mix(_ seed: UInt64, _ text: UnsafePointer<CChar>?) -> UInt64 {
            var hash = seed
            var next = text
            while let byte = next?.pointee {
                hash = (hash ^ UInt64(UInt8(bitPattern: byte))) &* 0x100_0000_01B3
                next = byte == 0 ? nil : next.map { $0 + 1 }
            }
            return hash
        }
    }

    /// A connection in the pool, used only on the loop's thread.
    final class Connection {
        fileprivate let key: Key
        private let socket: Int32
        /// The server's address and port.
        let remoteAddress: String
        fileprivate(set) var isOpen = true
        private var users = 0
        fileprivate var isInUse: Bool { users > 0 }
        /// The poller's number of waits when the last request ended.
        private var idleSince = UInt64.max
        /// Whether it speaks HTTP/2 or 3, with which bytes may arrive at any time; `nil` before its first response.
        var isMultiplexed: Bool?
        /// Whether it speaks HTTP/3; false before its first response.
        var speaksHTTP3 = false
        /// The proxy whose shared tunnel it is: see `TunnelOwners`.
        var tunnel: Proxy?
        /// The negotiated TLS parameters.
        var session: TransferMetrics.Details?
        /// The address of its TLS session, while it is open and its end is watched.
        fileprivate var tls: UnsafeMutableRawPointer?
        /// Whether the server has sent close_notify; `nil` if this isn't watched.
        fileprivate var hasCloseNotify: Bool?
        /// Whether the connection ended without close_notify although this was watched.
        var wasTruncated: Bool { !isOpen && hasCloseNotify == false }

        fileprivate init(_ key: Key, _ socket: Int32, _ remoteAddress: String) {
            self.key = key
            self.socket = socket
            self.remoteAddress = remoteAddress
        }

        /// Shuts the connection down, so that libcurl drops it, if it is idle but must not be used. Returns whether it
        /// did.
        ///
        /// An HTTP/1.1 connection counts as idle even if its last user hasn't been reaped yet, because it serves one
        /// request at a time.
        ///
        /// - Parameter poller: The poller that has watched its socket in the meantime.
        func shutIfStale(after poller: (any Poller)? = nil) -> Bool {
            guard isOpen, isMultiplexed.map({ !$0 }) ?? (users == 0) else { return false }
            // Saves a system call per request.
            if let poller, users == 0, idleSince < poller.pollCount, poller.hadNoEvents(socket) { return false }
            guard beagle_socket_stirs(socket) != 0 else { return false }
            shutdown(socket, Int32(SHUT_RDWR))
            return true
        }

        /// Returns whether it is closed and was on one of these sockets.
        func wasOn(_ sockets: [Int32]) -> Bool {
            !isOpen && sockets.contains(socket)
        }

        /// Shuts the connection down if it is idle.
        func shutIfIdle() {
            if isOpen, users == 0 { shutdown(socket, Int32(SHUT_RDWR)) }
        }

        /// Notes that a request is sent on it.
        func begin() {
            users += 1
        }

        /// Notes that a request has ended.
        ///
        /// - Parameter pollCount: The poller's number of waits so far.
        func end(at pollCount: UInt64 = .max) {
            users = max(0, users - 1)
            idleSince = pollCount
        }
    }

    private var connections: [Key: Connection] = [:]
    private var bySocket: [Int32: Connection] = [:]
    /// The connections whose TLS end is watched.
    private var bySession: [UnsafeMutableRawPointer: Connection] = [:]

    subscript(key: Key) -> Connection? { connections[key] }

    /// Adds a connection that was opened on one of these sockets. Returns `nil` if the socket can't be identified.
    mutating func add(_ key: Key, _ sockets: [Int32], to remoteAddress: String) -> Connection? {
        guard key.localPort > 0,
            let socket = sockets.count == 1 ? sockets[0] : sockets.last(where: { localPort(of: $0) == key.localPort })
        else { return nil }
        let connection = Connection(key, socket, remoteAddress)
        connections[key] = connection
        bySocket[socket] = connection
        return connection
    }

    /// Removes the connection of a closed socket and returns it.
    @discardableResult
    mutating func remove(_ socket: Int32) -> Connection? {
        guard let connection = bySocket.removeValue(forKey: socket) else { return nil }
        connection.isOpen = false
        if let tls = connection.tls, bySession[tls] === connection { bySession[tls] = nil }
        if connections[connection.key] === connection { connections[connection.key] = nil }
        return connection
    }

    /// Starts watching the end of a connection's TLS session.
    mutating func note(_ tls: UnsafeMutableRawPointer, of connection: Connection?) {
        guard let connection, connection.hasCloseNotify == nil else { return }
        connection.tls = tls
        connection.hasCloseNotify = false
        bySession[tls] = connection
    }

    /// Notes that the server has sent close_notify.
    func noteCloseNotify(in tls: UnsafeMutableRawPointer) {
        bySession[tls]?.hasCloseNotify = true
    }

    /// The number of active and idle connections.
    var count: ConnectionCount {
        let active = bySocket.values.count(where: \.isInUse)
        return ConnectionCount(active: active, idle: bySocket.count - active)
    }

    /// Shuts all idle connections down.
    func shutIdle() {
        for connection in bySocket.values { connection.shutIfIdle() }
    }

    private func localPort(of socket: Int32) -> Int32? {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let port: in_port_t? = withUnsafeMutableBytes(of: &address) { bytes in
            guard let base = bytes.baseAddress,
                getsockname(socket, base.assumingMemoryBound(to: sockaddr.self), &size) == 0
            else { return nil }
            // sin_port and sin6_port have the same offset.
            return bytes.loadUnaligned(fromByteOffset: 2, as: in_port_t.self)
        }
        return port.map { Int32(UInt16(bigEndian: $0)) }
    }
}
