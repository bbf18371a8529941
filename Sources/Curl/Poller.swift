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
    /// libcurl has left the socket to us: it is watched as `watch` says, and told of by `takeStirred`.
    func own(_ socket: Int32)
    /// Our own sockets that stirred since the last call.
    func takeStirred() -> [Int32]
    /// The socket is about to be closed.
    func closing(_ socket: Int32)
    /// The socket was closed without a word to us. Its number may be another's by now, even one that libcurl waits for.
    func lost(_ socket: Int32)
    /// Makes good what `watch` put off.
    func applyChanges()
    /// Waits until a socket stirs, somebody wakes it, or the time is over; -1 waits for ever.
    func wait(milliseconds: Int32)
    /// Counts the waits.
    var looks: UInt64 { get }
    /// Whether the last wait looked at the socket and found nothing: what came before would have been seen. No where it
    /// is not known.
    func wasQuiet(_ socket: Int32) -> Bool
    /// Whether the last wait found what `act` has yet to tell of.
    var hasFound: Bool { get }
    /// Whether the last wait found all that had stirred.
    var hasFoundAll: Bool { get }
    /// How much one wait finds at most.
    var roomOfLook: Int { get }
    /// Tells libcurl which sockets stirred. Gives those that had to be shut to get libcurl out of them.
    func act() -> [Int32]
    /// Tells libcurl that its timer has run down. Gives what `act` gives.
    func timeIsUp() -> [Int32]
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
    /// What our own sockets are watched for: `CURL_POLL_` bits.
    private var own: [Int32: Int16] = [:]
    private var stirred: [Int32] = []

    init(_ multi: UnsafeMutableRawPointer) {
        self.multi = multi
    }

    let watchesSockets = false
    func applyChanges() {}

    func watch(_ socket: Int32, _ what: Int32) {
        own[socket] = Int16(truncatingIfNeeded: what)
    }

    func own(_ socket: Int32) {
        own[socket] = 0
    }

    func takeStirred() -> [Int32] {
        defer { stirred = [] }
        return stirred
    }

    func opened(_ socket: Int32, mayHoldUp: Bool) {
        if mayHoldUp { watchdog.opened(socket) }
    }

    func closing(_ socket: Int32) {
        watchdog.closing(socket)
        own[socket] = nil
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
        // CURL_POLL_ bits are CURL_WAIT_POLLIN, and CURL_WAIT_POLLOUT shifted by one.
        var extra = own.filter { $0.value != 0 }.map { socket, what in
            curl_waitfd(fd: socket, events: what & 1 | (what & 2) << 1, revents: 0)
        }
        // libcurl wants a time here; it ends the wait earlier when its own timer runs down.
        curl_multi_poll(multi, &extra, UInt32(extra.count), milliseconds < 0 ? 3_600_000 : milliseconds, nil)
        stirred = extra.filter { $0.revents != 0 }.map(\.fd)
    }

    let looks: UInt64 = 0
    func wasQuiet(_ socket: Int32) -> Bool { false }
    let hasFound = false
    let hasFoundAll = true
    let roomOfLook = Int.max

    func act() -> [Int32] {
        // libcurl looks at all sockets in one call: which of them holds it up is not to be seen.
        watchdog.enter(nil, at: EventLoop.clock())
        curl_multi_perform(multi, &running)
        return watchdog.leave()
    }

    func timeIsUp() -> [Int32] { act() }
}
