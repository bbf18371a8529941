// This uses internal types: `Benchmarks/subscriptions` builds it with -enable-testing.
#if SOCKET
    import BeagleNetCurl
    @testable import BeagleNetGraphQL
    @testable import BeagleNetHTTP
    import Foundation

    extension BenchSubscriptions {
        /// Creates the WebSocket that operations share, without a client.
        private static func socket(at port: Int) -> GraphQLSocket {
            let head = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:\(port)", path: "/graphql")
            let opening = WebSocketConnector(
                GraphQLSocketOptions(),
                TransferRequest(head),
                hasParameters: false,
                over: CurlTransport()
            )
            return GraphQLSocket(opening, GraphQLSocketOptions(), clock: ContinuousClock()) { _, _ in nil }
        }

        private static let parameters = Data(#"{"query":"subscription Ticks { tick { number price symbol } }"}"#.utf8)

        /// The events of the endpoint's connection.
        static func readSocket(_ count: Int, at port: Int) async throws -> Int {
            let events = Lock(0)
            let operation = SocketOperation(parameters) { event in
                if case .payload = event { events.withLock { $0 += 1 } }
            }
            let socket = socket(at: port)
            guard let id = socket.join(operation) else { return 0 }
            try await operation.wait { socket.leave(id) }
            return events.withLock { $0 }
        }

        /// The same for many subscriptions that receive results in turn.
        static func readManyOfSocket(at port: Int) async throws -> Int {
            let events = Lock(0)
            let socket = socket(at: port)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<many {
                    let operation = SocketOperation(parameters) { event in
                        if case .payload = event { events.withLock { $0 += 1 } }
                    }
                    guard let id = socket.join(operation) else { continue }
                    group.addTask { try await operation.wait { socket.leave(id) } }
                }
                try await group.waitForAll()
            }
            return events.withLock { $0 }
        }

        static func holdSocket(_ count: Int, at port: Int, inTasks: Bool) async throws {
            let socket = socket(at: port)
            try await reportBytes(count) { _, opened in
                let operation = SocketOperation(parameters) { event in
                    if case .open = event { opened() }
                }
                guard let id = socket.join(operation) else { return {} }
                if inTasks { Task { try await operation.wait { socket.leave(id) } } }
                return { socket.leave(id) }
            }
        }
    }
#endif
