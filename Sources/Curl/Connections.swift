import BeagleNetHTTP
import CBeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What we know of the connections in libcurl's pool: enough to see, before a message goes out on one, that it is
/// dead or holds bytes which nobody asked for and which would be taken for the answer.
///
/// libcurl 7.88 takes a connection with bytes waiting for a healthy one. A connection is known by its local port; two
/// of the same port on different addresses make us open a new one at worst.
struct Connections {
    struct Key: Hashable {
        let localPort: Int32
        private let remotePort: Int32
        /// Of both addresses' texts.
        private let addresses: UInt64

        /// The two ends of a connection, as libcurl writes them.
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

        /// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/) of a text with its end.
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

    /// A connection in the pool, reached only on the loop's thread.
    final class Connection {
        fileprivate let key: Key
        private let socket: Int32
        /// The server's address and port.
        let remoteAddress: String
        fileprivate(set) var isOpen = true
        private var users = 0
        fileprivate var isInUse: Bool { users > 0 }
        /// The poller's waits when the last message ended.
        private var idleSince = UInt64.max
        /// Whether it speaks HTTP/2 or 3, where bytes may come at any time; nil before its first answer.
        var isMultiplexed: Bool?
        /// Whether it speaks HTTP/3; not known before its first answer.
        var speaksHTTP3 = false
        /// The proxy whose shared tunnel it is: see `TunnelOwners`.
        var tunnel: Proxy?
        /// What was agreed on with TLS.
        var session: TransferMetrics.Details?
        /// Where libcurl keeps its TLS session, while it is open and its end is watched for.
        fileprivate var tls: UnsafeMutableRawPointer?
        /// Whether the server has said that nothing more comes (close_notify); `nil` if that is not watched for.
        fileprivate var hasGoodbye: Bool?
        /// Whether the connection ended without a word of the server's.
        var hasLostPeer: Bool { !isOpen && hasGoodbye == false }

        fileprivate init(_ key: Key, _ socket: Int32, _ remoteAddress: String) {
            self.key = key
            self.socket = socket
            self.remoteAddress = remoteAddress
        }

        /// Whether it is idle and must not be used; then it is shut, so that libcurl drops it.
        ///
        /// One that speaks HTTP/1.1 is idle although its last user has not been reaped yet: it serves one at a time.
        ///
        /// - Parameter poller: what has waited for its socket meanwhile.
        func shutIfStale(after poller: (any Poller)? = nil) -> Bool {
            guard isOpen, isMultiplexed.map({ !$0 }) ?? (users == 0) else { return false }
            // A call of the system less for each message.
            if let poller, users == 0, idleSince < poller.looks, poller.wasQuiet(socket) { return false }
            guard beagle_socket_stirs(socket) != 0 else { return false }
            shutdown(socket, Int32(SHUT_RDWR))
            return true
        }

        /// Whether it has ended, and was on one of these sockets.
        func wasOn(_ sockets: [Int32]) -> Bool {
            !isOpen && sockets.contains(socket)
        }

        /// Ends it where nobody uses it.
        func shutIfIdle() {
            if isOpen, users == 0 { shutdown(socket, Int32(SHUT_RDWR)) }
        }

        /// A message goes out on it.
        func begin() {
            users += 1
        }

        /// A message has been answered, or given up.
        ///
        /// - Parameter looks: the waits so far: see `Poller`.
        func end(at looks: UInt64 = .max) {
            users = max(0, users - 1)
            idleSince = looks
        }
    }

    private var connections: [Key: Connection] = [:]
    private var bySocket: [Int32: Connection] = [:]
    /// Those whose end is watched for.
    private var bySession: [UnsafeMutableRawPointer: Connection] = [:]

    subscript(key: Key) -> Connection? { connections[key] }

    /// A connection was made, on one of these sockets; nil where it is not to be told which.
    mutating func add(_ key: Key, _ sockets: [Int32], to remoteAddress: String) -> Connection? {
        guard key.localPort > 0,
            let socket = sockets.count == 1 ? sockets[0] : sockets.last(where: { localPort(of: $0) == key.localPort })
        else { return nil }
        let connection = Connection(key, socket, remoteAddress)
        connections[key] = connection
        bySocket[socket] = connection
        return connection
    }

    /// The socket was closed. Gives the connection that it was.
    @discardableResult
    mutating func remove(_ socket: Int32) -> Connection? {
        guard let connection = bySocket.removeValue(forKey: socket) else { return nil }
        connection.isOpen = false
        if let tls = connection.tls, bySession[tls] === connection { bySession[tls] = nil }
        if connections[connection.key] === connection { connections[connection.key] = nil }
        return connection
    }

    /// The end of a connection's TLS session is watched for.
    mutating func note(_ tls: UnsafeMutableRawPointer, of connection: Connection?) {
        guard let connection, connection.hasGoodbye == nil else { return }
        connection.tls = tls
        connection.hasGoodbye = false
        bySession[tls] = connection
    }

    /// A server has said that nothing more comes.
    func noteGoodbye(in tls: UnsafeMutableRawPointer) {
        bySession[tls]?.hasGoodbye = true
    }

    /// How many there are.
    var count: ConnectionCount {
        let active = bySocket.values.count(where: \.isInUse)
        return ConnectionCount(active: active, idle: bySocket.count - active)
    }

    /// Ends the connections that nobody uses.
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
            // sin_port and sin6_port stand at the same place.
            return bytes.loadUnaligned(fromByteOffset: 2, as: in_port_t.self)
        }
        return port.map { Int32(UInt16(bigEndian: $0)) }
    }
}
