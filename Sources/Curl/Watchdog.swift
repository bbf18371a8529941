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
/// When the loop has been with one socket for longer than `limit`, the socket is shut, and libcurl sees its end. Costs
/// one timer a second while such connections are in use, and nothing while the loop sleeps.
final class Watchdog: Sendable {
    /// Nanoseconds. Nothing else takes this long, unless a completion blocks.
    private static let limit: UInt64 = 3_000_000_000

    private struct State {
        var socket: Int32?
        var since: UInt64 = 0
        var isArmed = false
        var hasShut = false
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "beaglenet-watchdog")

    /// libcurl is about to be given a socket.
    func enter(_ socket: Int32, at now: UInt64) {
        let isArmed = state.withLock { state in
            defer { state.isArmed = true }
            state.socket = socket
            state.since = now
            return state.isArmed
        }
        if !isArmed { arm() }
    }

    /// libcurl came back. Gives whether that took a shut socket.
    func leave() -> Bool {
        state.withLock { state in
            defer {
                state.socket = nil
                state.hasShut = false
            }
            return state.hasShut
        }
    }

    /// The socket is about to be closed; its number may be another's then.
    func closing(_ socket: Int32) {
        state.withLock { state in
            if state.socket == socket { state.socket = nil }
        }
    }

    private func arm() {
        queue.asyncAfter(deadline: .now() + 1) { [weak self] in self?.look() }
    }

    private func look() {
        let staysArmed = state.withLock { state in
            if let socket = state.socket, EventLoop.clock() &- state.since > Self.limit {
                shutdown(socket, Int32(SHUT_RDWR))
                state.hasShut = true
            }
            state.isArmed = state.socket != nil
            return state.isArmed
        }
        if staysArmed { arm() }
    }
}
