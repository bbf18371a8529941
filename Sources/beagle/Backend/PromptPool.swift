import FlyingSocks
import Foundation

/// Makes sockets send at once.
///
/// FlyingFox writes head and body apart. The kernel would hold the body back until the client acknowledges the head
/// (Nagle, RFC 896), which the client delays by 40 ms: every answer on an open connection would take that long.
struct PromptPool<Pool: AsyncSocketPool>: AsyncSocketPool {
    let pool: Pool

    func prepare() async throws {
        try await pool.prepare()
    }

    func run() async throws {
        try await pool.run()
    }

    /// A listening socket comes here before its first connection, which inherits the option.
    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        var isOn: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(socket.file.rawValue, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, size)
        try await pool.suspendSocket(socket, untilReadyFor: events)
    }
}
