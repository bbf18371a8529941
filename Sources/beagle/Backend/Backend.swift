import BeagleNetHTTP
import FlyingFox
import FlyingSocks

/// A server-driven backend to try the tool and the library on, listening on the loopback interface only.
enum Backend {
    /// Runs `body` while the backend serves, and stops it afterwards.
    ///
    /// - Parameters:
    ///   - port: where to listen; 0 takes any free port.
    ///   - body: is given the backend's URL, which ends without a slash.
    static func serving<R: Sendable>(port: UInt16, _ body: (_ url: String) async throws -> R) async throws -> R {
        // A handler may take 60 s, longer than `/slow` does.
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: port),
            timeout: 60,
            pool: PromptPool(pool: HTTPServer.defaultPool()),
            logger: .disabled,
            handler: BackendRoutes()
        )
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask { try await server.waitUntilListening() }
            defer { group.cancelAll() }
            do {
                try await group.next()
            } catch let error as SocketError {
                throw NetworkError(
                    .connect,
                    during: .build,
                    "cannot listen on port \(port): \(error.reason)",
                    advice: "take another port, or 0 for any free one"
                )
            }
            guard case .ip4(let host, let port) = await server.listeningAddress else { throw SocketError.disconnected }
            let result = try await body("http://\(host):\(port)")
            await server.stop()
            return result
        }
    }
}

extension SocketError {
    fileprivate var reason: String {
        if case .failed(_, _, let message) = self { message } else { String(describing: self) }
    }
}
