import Testing

@testable import BeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

struct OpenSocketsTests {
    @Test func reusedDescriptorIsLost() {
        let (first, second) = (open("/dev/null", O_RDONLY), open("/dev/zero", O_RDONLY))
        var sockets = OpenSockets()
        sockets.insert(first)
        sockets.insert(second)
        #expect(!sockets.isLost(first) && sockets.open.count == 2)

        // The first descriptor now refers to the file of the second.
        #expect(dup2(second, first) == first)
        #expect(sockets.isLost(first) && sockets.open == [second])

        close(first)
        close(second)
        #expect(sockets.open.isEmpty)
        #expect(sockets.remove(first) && !sockets.remove(first))
    }

    @Test func reusedNumberDoesNotCountAsConnected() throws {
        let (pair, other) = (try SocketPair(), try SocketPair())
        let number = dup(pair.ours)
        var sockets = OpenSockets()
        let early = sockets.insert(number)
        #expect(sockets.wasConnected(early))

        // The number now refers to the other socket, at first without our knowledge.
        #expect(dup2(other.ours, number) == number)
        #expect(!sockets.wasConnected(early))
        let late = sockets.insert(number)
        #expect(!sockets.wasConnected(early) && sockets.wasConnected(late))

        sockets.willClose(number)
        close(number)
        #expect(!sockets.wasConnected(early) && sockets.wasConnected(late))
    }
}
