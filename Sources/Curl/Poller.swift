import BeagleNetHTTP
import CBeagleNetCurl

/// Waits for sockets and for a wake-up, and drives libcurl with what stirred. Reached only on the loop's thread, but
/// for `wake`.
protocol Poller: AnyObject {
    /// Whether it has to be told which sockets libcurl waits for.
    var watchesSockets: Bool { get }
    /// Ends a wait, from any thread.
    func wake()
    /// libcurl wants to hear of a socket: one of the `CURL_POLL_` values.
    func watch(_ socket: Int32, _ what: Int32)
    /// We opened a socket for libcurl, and will see it closed.
    ///
    /// - Parameter mayHoldUp: whether it may speak HTTP/2.
    func opened(_ socket: Int32, mayHoldUp: Bool)
    /// The socket is about to be closed.
    func closing(_ socket: Int32)
    /// The socket was closed without a word to us. Its number may be another's by now, even one that libcurl waits for.
    func lost(_ socket: Int32)
    /// Makes good what `watch` put off.
    func applyChanges()
    /// Waits until a socket stirs, somebody wakes it, or the time is over; -1 waits for ever.
    func wait(milliseconds: Int32)
    /// Tells libcurl which sockets stirred. Gives whether one had to be shut to get libcurl out of it.
    func act() -> Bool
    /// Tells libcurl that its timer has run down. Gives what `act` gives.
    func timeIsUp() -> Bool
    /// The multi is about to be freed; a wake-up that comes later does nothing.
    func close()
}

func makePoller(_ multi: UnsafeMutableRawPointer, portable: Bool) throws(NetworkError) -> any Poller {
    #if os(Linux)
        if !portable { return try EpollPoller(multi) }
    #endif
    return PortablePoller(multi)
}

/// `curl_multi_poll`, for systems without epoll. Its cost grows with the number of parked connections.
final class PortablePoller: Poller {
    private let multi: UnsafeMutableRawPointer
    private var running: Int32 = 0
    private let isClosed = Lock(false)
    private let watchdog = Watchdog()

    init(_ multi: UnsafeMutableRawPointer) {
        self.multi = multi
    }

    let watchesSockets = false
    func watch(_ socket: Int32, _ what: Int32) {}
    func applyChanges() {}

    func opened(_ socket: Int32, mayHoldUp: Bool) {
        if mayHoldUp { watchdog.opened(socket) }
    }

    func closing(_ socket: Int32) {
        watchdog.closing(socket)
    }

    func lost(_ socket: Int32) {
        closing(socket)
    }

    func wake() {
        isClosed.withLock { isClosed in
            if !isClosed { curl_multi_wakeup(multi) }
        }
    }

    func close() {
        isClosed.withLock { $0 = true }
    }

    func wait(milliseconds: Int32) {
        // libcurl wants a time here; it ends the wait earlier when its own timer runs down.
        curl_multi_poll(multi, nil, 0, milliseconds < 0 ? 3_600_000 : milliseconds, nil)
    }

    func act() -> Bool {
        // libcurl looks at all sockets in one call: which of them holds it up is not to be seen.
        watchdog.enter(nil, at: EventLoop.clock())
        curl_multi_perform(multi, &running)
        return watchdog.leave()
    }

    func timeIsUp() -> Bool { act() }
}
