#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A wait for a socket, a latch, or a timeout.
enum Poll {
    enum Interest {
        case input, output, hangUp
    }

    enum Event {
        case ready, passed, stopped, timedOut
    }

    #if os(Linux)
        private static let peerFinished: Int16 = 0x2000  // POLLRDHUP, which the module map does not export
    #else
        private static let peerFinished: Int16 = 0
    #endif

    /// Waits for the first of several events.
    ///
    /// - Parameters:
    ///   - interest: The socket event that returns `.ready`.
    ///   - socket: The socket.
    ///   - stop: A latch that returns `.stopped`.
    ///   - pause: A timeout that returns `.timedOut`, or `nil` for no timeout.
    ///   - pass: A latch that returns `.passed`.
    static func wait(
        for interest: Interest,
        on socket: Socket,
        or stop: Latch,
        at pause: Duration? = nil,
        orUntil pass: Latch? = nil
    ) -> Event {
        let events: Int16 =
            switch interest {
            case .input: Int16(POLLIN)
            case .output: Int16(POLLOUT)
            case .hangUp: peerFinished
            }
        var waited = [
            pollfd(fd: stop.reader, events: Int16(POLLIN), revents: 0),
            pollfd(fd: pass?.reader ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket.descriptor, events: events, revents: 0),
        ]
        let milliseconds = pause.map { Int32($0 / .milliseconds(1)) } ?? -1
        var count: Int32 = -1
        repeat { count = poll(&waited, 3, milliseconds) } while count < 0 && errno == EINTR
        if waited[0].revents != 0 { return .stopped }
        if waited[1].revents != 0 { return .passed }
        return waited[2].revents != 0 ? .ready : .timedOut
    }
}
