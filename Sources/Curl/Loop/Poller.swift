import BeagleNetHTTP
import CBeagleNetCurl

/// A poller that waits for socket events and wake-ups, and passes the events to libcurl. Used only on the loop's
/// thread, except for `wake`.
protocol Poller: AnyObject {
    /// Whether `watch` must be called with the sockets that libcurl waits for.
    var watchesSockets: Bool { get }
    /// Ends a wait. Call it from any thread.
    func wake()
    /// Watches a socket for the events that libcurl requests: one of the `CURL_POLL_` values.
    func watch(_ socket: Int32, _ what: Int32)
    /// Notes that we opened a socket for libcurl; `closing` or `lost` will be called for it.
    ///
    /// - Parameter mayHang: Whether the connection may speak HTTP/2, on which libcurl may hang.
    func opened(_ socket: Int32, mayHang: Bool)
    /// Takes a socket over from libcurl: `watch` selects its events, and `takeReady` returns them.
    func own(_ socket: Int32)
    /// Returns our own sockets that have had events since the last call.
    func takeReady() -> [Int32]
    /// Notes that the socket is about to be closed.
    func closing(_ socket: Int32)
    /// Notes that the socket was closed without a callback. Its number may have been reused, even for one that libcurl
    /// waits for.
    func lost(_ socket: Int32)
    /// Applies changes that `watch` deferred.
    func applyChanges()
    /// Waits for a socket event, a wake-up or the timeout; -1 waits indefinitely.
    func wait(milliseconds: Int32)
    /// The number of waits so far.
    var pollCount: UInt64 { get }
    /// Returns whether the last wait covered the socket and found no event, so that no bytes had arrived before it.
    /// Returns false if this isn't known.
    func hadNoEvents(_ socket: Int32) -> Bool
    /// Whether the last wait found events that `act` hasn't processed yet.
    var hasFound: Bool { get }
    /// Whether the last wait found all pending events.
    var hasFoundAll: Bool { get }
    /// The maximum number of events that one wait finds.
    var maxEventsPerPoll: Int { get }
    /// Passes the events to libcurl. Returns the sockets that had to be shut down because libcurl hung on them.
    func dispatchEvents() -> [Int32]
    /// Notifies libcurl that its timer has expired. Returns the same as `act`.
    func timerExpired() -> [Int32]
    /// Notes that the multi handle is about to be freed; later wake-ups have no effect.
    func close()
}

func makePoller(_ multi: UnsafeMutableRawPointer, portable: Bool) throws(NetworkError) -> any Poller {
    #if os(Linux)
        if !portable { return try EpollPoller(multi) }
    #endif
    return PortablePoller(multi)
}

/// A poller that uses `curl_multi_poll`, for systems without epoll. Its cost grows with the number of idle connections.
final class PortablePoller: Poller {
    private let multi: UnsafeMutableRawPointer
    private var running: Int32 = 0
    private let isClosed = Lock(false)
    private let watchdog = Watchdog()
    /// The `CURL_POLL_` bits for which our own sockets are watched.
    private var own: [Int32: Int16] = [:]
    private var ready: [Int32] = []

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

    func takeReady() -> [Int32] {
        defer { ready = [] }
        return ready
    }

    func opened(_ socket: Int32, mayHang: Bool) {
        if mayHang { watchdog.watch(socket) }
    }

    func closing(_ socket: Int32) {
        watchdog.unwatch(socket)
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
        // CURL_WAIT_POLLIN equals the CURL_POLL_ bit, and CURL_WAIT_POLLOUT is the bit shifted by one.
        var extra = own.filter { $0.value != 0 }.map { socket, what in
            curl_waitfd(fd: socket, events: what & 1 | (what & 2) << 1, revents: 0)
        }
        // libcurl requires a timeout here; it returns earlier when its own timer expires.
        curl_multi_poll(multi, &extra, UInt32(extra.count), milliseconds < 0 ? 3_600_000 : milliseconds, nil)
        ready = extra.filter { $0.revents != 0 }.map(\.fd)
    }

    let pollCount: UInt64 = 0
    func hadNoEvents(_ socket: Int32) -> Bool { false }
    let hasFound = false
    let hasFoundAll = true
    let maxEventsPerPoll = Int.max

    func dispatchEvents() -> [Int32] {
        // libcurl checks all sockets in one call, so the one on which it hangs is unknown.
        watchdog.enter(nil, at: EventLoop.clock())
        curl_multi_perform(multi, &running)
        return watchdog.leave()
    }

    func timerExpired() -> [Int32] { dispatchEvents() }
}
