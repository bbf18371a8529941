import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Two connected sockets.
final class SocketPair {
    let ours: Int32
    let theirs: Int32
    private var others: [Int32] = []

    init() throws {
        var sockets: [Int32] = [-1, -1]
        #if canImport(Darwin)
            let kind = SOCK_STREAM
        #else
            let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        try #require(socketpair(AF_UNIX, kind, 0, &sockets) == 0)
        (ours, theirs) = (sockets[0], sockets[1])
    }

    /// Adds another descriptor of `ours`, which gets the lowest free number.
    func addDescriptor() {
        others.append(dup(ours))
    }

    deinit {
        for socket in others + [ours, theirs] { close(socket) }
    }
}
