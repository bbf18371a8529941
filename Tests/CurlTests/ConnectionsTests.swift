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
