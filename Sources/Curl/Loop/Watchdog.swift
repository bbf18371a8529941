import BeagleNetHTTP
import CBeagleNetCurl
import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A watchdog that rescues libcurl from an HTTP/2 connection that it never returns from.
///
/// libcurl 7.88 keeps reading while frames without content arrive. In that time it calls no callback, checks no timeout
/// and serves no other transfer. When a call into libcurl lasts longer than `limit`, the watchdog shuts down the socket
/// of the call, or all HTTP/2 sockets if the call was for libcurl's timer or for all sockets. libcurl then sees the end
/// of the connection. The watchdog uses one timer a second while such connections are in use, and costs nothing while
/// the loop sleeps.
final class Watchdog: Sendable {
    /// The longest time for a call into libcurl, in nanoseconds. No call takes this long unless a completion blocks.
    private static let limit: UInt64 = 3_000_000_000

    private struct State {
        /// The sockets on which libcurl may hang.
        var sockets = OpenSockets()
        /// The socket of the current call; `nil` if the call is for libcurl's timer or for all sockets.
        var socket: Int32?
        /// The time at which libcurl was called; `nil` while no call is running.
        var since: UInt64?
        var isArmed = false
        /// The sockets that were shut down during the current call.
        var shut: [Int32] = []
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "beaglenet-watchdog")

    /// Adds a socket on which libcurl may hang.
    func watch(_ socket: Int32) {
        state.withLock { _ = $0.sockets.insert(socket) }
    }

    /// Removes a socket before it is closed, as its number may be reused.
    func unwatch(_ socket: Int32) {
        state.withLock { _ = $0.sockets.remove(socket) }
    }

    /// Notes that libcurl is about to be called for a socket, or if `nil`, for its timer or for all sockets.
    func enter(_ socket: Int32?, at now: UInt64) {
        let isArmed = state.withLock { state in
            if state.sockets.isEmpty { return true }
            defer { state.isArmed = true }
            state.socket = socket
            state.since = now
            return state.isArmed
        }
        if !isArmed { arm() }
    }

    /// Notes that libcurl has returned, and returns the sockets that were shut down during the call.
    func leave() -> [Int32] {
        state.withLock { state in
            state.since = nil
            guard !state.shut.isEmpty else { return [] }
            defer { state.shut = [] }
            return state.shut
        }
    }

    private func arm() {
        queue.asyncAfter(deadline: .now() + 1) { [weak self] in self?.look() }
    }

    private func look() {
        let staysArmed = state.withLock { state in
            if let since = state.since, EventLoop.clock() &- since > Self.limit {
                for socket in state.sockets.open where state.socket == nil || state.socket == socket {
                    shutdown(socket, Int32(SHUT_RDWR))
                    state.shut.append(socket)
                }
            }
            state.isArmed = state.since != nil
            return state.isArmed
        }
        if staysArmed { arm() }
    }
}
