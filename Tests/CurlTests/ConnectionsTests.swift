import CBeagleNetCurl
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

    private static let unsolicitedBytesMakeAnHTTP1ConnectionStaleArguments:
        [(isMultiplexed: Bool?, isReaped: Bool, isStale: Bool)] = [
            (isMultiplexed: nil, isReaped: true, isStale: true),
            (isMultiplexed: nil, isReaped: false, isStale: false),
            (isMultiplexed: false, isReaped: true, isStale: true),
            (isMultiplexed: false, isReaped: false, isStale: true),
            (isMultiplexed: true, isReaped: true, isStale: false),
            (isMultiplexed: true, isReaped: false, isStale: false),
        ]

    @Test(arguments: Self.unsolicitedBytesMakeAnHTTP1ConnectionStaleArguments)
    func unsolicitedBytesMakeAnHTTP1ConnectionStale(isMultiplexed: Bool?, isReaped: Bool, isStale: Bool) throws {
        let pair = try SocketPair()
        var connections = Connections()
        let added = connections.add(key, [pair.ours], to: "127.0.0.1:80")
        let connection = try #require(added)
        connection.begin()
        connection.isMultiplexed = isMultiplexed
        if isReaped { connection.end() }

        #expect(write(pair.theirs, "x", 1) == 1)

        #expect(connection.shutIfStale() == isStale)
    }

    @Test func connectionIsIdentifiedByBothItsEndpoints() throws {
        let (silent, stirring) = (try SocketPair(), try SocketPair())
        let other = Connections.Key("127.0.0.1", 4_711, "127.0.0.2", 80)
        var connections = Connections()
        _ = connections.add(key, [silent.ours], to: "127.0.0.1:80")
        _ = connections.add(other, [stirring.ours], to: "127.0.0.2:80")
        #expect(write(stirring.theirs, "x", 1) == 1)

        #expect(connections[key]?.shutIfStale() == false)
        #expect(connections[other]?.shutIfStale() == true)
    }

    @Test func silentConnectionIsNotStale() throws {
        let pair = try SocketPair()
        var connections = Connections()
        let added = connections.add(key, [pair.ours], to: "127.0.0.1:80")
        let connection = try #require(added)
        connection.begin()
        connection.isMultiplexed = false
        connection.end()

        #expect(!connection.shutIfStale())
    }

    #if os(Linux)
        /// The last wait has seen all bytes that arrived before it, but not those that arrived after it.
        @Test(arguments: [true, false]) func bytesSeenByAWaitAreNotPolledForAgain(hasWaited: Bool) throws {
            let multi = try #require(curl_multi_init())
            defer { curl_multi_cleanup(multi) }
            let poller = try EpollPoller(multi)
            let pair = try SocketPair()
            poller.opened(pair.ours, mayHang: false)
            poller.watch(pair.ours, CURL_POLL_IN)
            poller.applyChanges()
            poller.wait(milliseconds: 0)
            var connections = Connections()
            let added = connections.add(key, [pair.ours], to: "127.0.0.1:80")
            let connection = try #require(added)
            connection.begin()
            connection.isMultiplexed = false
            connection.end(at: poller.pollCount)
            if hasWaited { poller.wait(milliseconds: 0) }
            #expect(write(pair.theirs, "x", 1) == 1)

            #expect(connection.shutIfStale(after: poller) == !hasWaited)
            if hasWaited { poller.wait(milliseconds: 0) }
            #expect(connection.shutIfStale(after: poller))
        }
    #endif

    @Test func closedConnectionIsRemovedAndNotShutDown() throws {
        let pair = try SocketPair()
        var connections = Connections()
        let added = connections.add(key, [pair.ours], to: "127.0.0.1:80")
        let connection = try #require(added)
        #expect(write(pair.theirs, "x", 1) == 1)

        connections.remove(pair.ours)

        #expect(!connection.isOpen)
        #expect(!connection.shutIfStale())
        #expect(connections[key] == nil)
    }
}
