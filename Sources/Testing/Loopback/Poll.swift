#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Waits for a socket, a flag, or the time.
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

    /// - Parameters:
    ///   - interest: what makes the socket `.ready`.
    ///   - socket: the socket.
    ///   - stop: ends the waiting with `.stopped`.
    ///   - pause: ends the waiting with `.timedOut`; nil waits as long as it takes.
    ///   - pass: ends the waiting with `.passed`.
    static func wait(
        for interest: Interest,
        on socket: Socket,
        or stop: Latch,
        at pause: Duration? = nil,
        orPass pass: Latch? = nil
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
