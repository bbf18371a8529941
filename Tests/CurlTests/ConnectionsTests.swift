import Testing

@testable import BeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

struct ConnectionsTests {
    private let key = Connections.Key("127.0.0.1", 4_711, "127.0.0.1", 80)

    @Test(
        arguments: [
            (isMultiplexed: nil, isReaped: true, isStale: true),
            (isMultiplexed: nil, isReaped: false, isStale: false),
            (isMultiplexed: false, isReaped: true, isStale: true),
            (isMultiplexed: false, isReaped: false, isStale: true),
            (isMultiplexed: true, isReaped: true, isStale: false),
            (isMultiplexed: true, isReaped: false, isStale: false),
        ] as [(isMultiplexed: Bool?, isReaped: Bool, isStale: Bool)]
    )
    func unaskedBytesMakeAConnectionStaleUnlessItSpeaksHTTP2(isMultiplexed: Bool?, isReaped: Bool, isStale: Bool) throws
    {
        let pair = try SocketPair()
        var connections = Connections()
        connections.add(key, [pair.ours])
        connections.begin(key)
        if let isMultiplexed { connections.answered(key, isMultiplexed: isMultiplexed) }
        if isReaped { connections.end(key) }

        #expect(write(pair.theirs, "x", 1) == 1)

        #expect(connections.isStale(key) == isStale)
    }

    @Test func aConnectionIsKnownByBothItsEnds() throws {
        let (silent, stirring) = (try SocketPair(), try SocketPair())
        let other = Connections.Key("127.0.0.1", 4_711, "127.0.0.2", 80)
        var connections = Connections()
        connections.add(key, [silent.ours])
        connections.add(other, [stirring.ours])
        #expect(write(stirring.theirs, "x", 1) == 1)

        #expect(!connections.isStale(key))
        #expect(connections.isStale(other))
    }

    @Test func aSilentConnectionIsNotStale() throws {
        let pair = try SocketPair()
        var connections = Connections()
        connections.add(key, [pair.ours])
        connections.begin(key)
        connections.answered(key, isMultiplexed: false)
        connections.end(key)

        #expect(!connections.isStale(key))
    }
}

private final class SocketPair {
    let ours: Int32
    let theirs: Int32

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

    deinit {
        close(ours)
        close(theirs)
    }
}
