import BeagleNetHTTP
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A server-driven backend for trying out the tool and the library, which listens on the loopback interface only.
///
/// Each connection has a thread of its own, so that a slow or endless request doesn't delay other clients.
final class Backend: Sendable {
    /// The maximum number of concurrent connections. Further ones are closed immediately.
    private static let maxConnections = 1024

    private let listener: BackendSocket
    /// A pipe whose closing ends the accepting thread.
    private let waker: (read: Int32, write: Int32)
    private let headTime: Duration
    private let routes = BackendRoutes()
    private let state = Lock(State())
    private let end = Promise<Void>()

    private struct State {
        var connections: [Int32: BackendSocket] = [:]
        var threads = 1
        var isStopped = false
    }

    /// Runs `body` while the backend serves requests, and then stops the backend.
    ///
    /// - Parameters:
    ///   - port: The port to listen on, or 0 for any free port.
    ///   - headTime: The maximum time for receiving a request head.
    ///   - body: Receives the backend's URL, which doesn't end with a slash.
    static func serving<R: Sendable>(
        port: UInt16,
        headTime: Duration = .seconds(10),
        _ body: (_ url: String) async throws -> R
    ) async throws -> R {
        let backend = try Backend(port: port, headTime: headTime)
        do {
            let result = try await body("http://127.0.0.1:\(backend.listener.port)")
            await backend.stop()
            return result
        } catch {
            await backend.stop()
            throw error
        }
    }

    private init(port: UInt16, headTime: Duration) throws {
        self.headTime = headTime
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw NetworkError(.connect, during: .build, "cannot start the backend: no file descriptors are left")
        }
        waker = (ends[0], ends[1])
        do {
            listener = try BackendSocket.listening(on: port)
        } catch {
            for end in ends { BackendSocket(descriptor: end).close() }
            throw error
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        Thread.detachNewThread { self.accept() }
    }

    private func accept() {
        while awaitConnection() {
            guard let socket = listener.accept() else {
                // Either the process has no file descriptors left or the client has disconnected. Wait, so that this
                // isn't a busy loop.
                usleep(1000)
                continue
            }
            let isTaken = state.withLock { state in
                guard !state.isStopped, state.connections.count < Self.maxConnections else { return false }
                state.connections[socket.descriptor] = socket
                state.threads += 1
                return true
            }
            guard isTaken else {
                socket.close()
                continue
            }
            Thread.detachNewThread { self.serve(socket) }
        }
        listener.close()
        BackendSocket(descriptor: waker.read).close()
        endThread()
    }

    /// Waits for a connection. Returns `false` if the backend is stopped.
    private func awaitConnection() -> Bool {
        var entries = [listener.descriptor, waker.read].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        repeat {
            entries[0].revents = 0
            entries[1].revents = 0
            poll(&entries, 2, -1)
        } while entries[0].revents == 0 && entries[1].revents == 0
        return entries[1].revents == 0
    }

    private func serve(_ socket: BackendSocket) {
        BackendConnection(socket, headTime: headTime, respond: routes.respond).serve()
        // Removed before closing, because a new connection may get the same descriptor immediately afterwards.
        state.withLock { $0.connections[socket.descriptor] = nil }
        socket.close()
        endThread()
    }

    private func endThread() {
        let isLast = state.withLock { state in
            state.threads -= 1
            return state.threads == 0
        }
        if isLast { end.complete() }
    }

    /// Ends all connections, and returns when all of its threads have ended.
    private func stop() async {
        BackendSocket(descriptor: waker.write).close()
        state.withLock { state in
            state.isStopped = true
            for socket in state.connections.values { socket.stop() }
        }
        await end.value
    }
}
