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

/// Gets libcurl out of an HTTP/2 connection that it does not come back from.
///
/// libcurl 7.88 reads on as long as frames without content keep arriving: no callback, no timeout, no other transfer.
/// When the loop has been in one call for longer than `limit`, the socket that the call was about is shut, or all of
/// HTTP/2 where it was about libcurl's timer or about all sockets, and libcurl sees the end. Costs one timer a second
/// while such connections are in use, and nothing while the loop sleeps.
final class Watchdog: Sendable {
    /// Nanoseconds. Nothing else takes this long, unless a completion blocks.
    private static let limit: UInt64 = 3_000_000_000

    private struct State {
        /// Those that may hold libcurl up.
        var sockets = OpenSockets()
        /// What libcurl was called about; nil for its timer and for all sockets.
        var socket: Int32?
        /// When libcurl was called; nil while it is not.
        var since: UInt64?
        var isArmed = false
        /// Those that were shut since.
        var shut: [Int32] = []
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "beaglenet-watchdog")

    /// A socket that may hold libcurl up was opened.
    func opened(_ socket: Int32) {
        state.withLock { $0.sockets.insert(socket) }
    }

    /// The socket is about to be closed; its number may be another's then.
    func closing(_ socket: Int32) {
        state.withLock { _ = $0.sockets.remove(socket) }
    }

    /// libcurl is about to be called about a socket; nil: about its timer, or about all of them.
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

    /// libcurl came back. Gives the sockets that had to be shut for it.
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
