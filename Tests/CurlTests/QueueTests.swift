import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Transfers that wait because of a limit, on real sockets.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct QueueTests {
    private func transport(perOrigin: Int? = 256, total: Int? = 512) -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.maxConnectionsPerOrigin = perOrigin
        configuration.maxConnections = total
        return CurlTransport(configuration)
    }

    /// Makes a server whose response to `/first` waits for the gate.
    private func server(_ gate: LoopbackServer.Gate) throws -> LoopbackServer {
        try LoopbackServer { request in
            request.target == "/first" ? .sequence([.gate(gate), .response(200)]) : .response(200)
        }
    }

    @Test func connectionsToAnOriginStayWithinTheLimit() async throws {
        let server = try LoopbackServer(.response(200, [:], "ok"))
        let transport = transport(perOrigin: 3)
        try await withThrowingTaskGroup { group in
            for _ in 1...50 {
                group.addTask {
                    let text = try await transport.perform(server.request()).text()
                    #expect(text == "ok")
                }
            }
            try await group.waitForAll()
        }
        #expect(server.record.connections <= 3)
    }

    @Test func higherAndRaisedPrioritiesGoFirst() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try server(gate)
        let transport = transport(perOrigin: 1)
        let completions = (0..<5).map { _ in Completion() }
        transport.perform(try server.request(.get, "/first"), completion: completions[0].complete)
        await server.until { $0.requestCount == 1 }
        var tokens: [any RequestToken] = []
        for (index, priority) in [Priority.prefetch, .normal, .prefetch, .interactive].enumerated() {
            var options = TransferOptions.limited
            options.priority = priority
            let request = try server.request(.get, "/\(priority)-\(index)", options: options)
            tokens.append(transport.perform(request, completion: completions[index + 1].complete))
        }
        tokens[2].raise(to: .interactive)
        // The loop processes its commands in order: when this transfer completes, it knows the raised priority.
        try await transport.proveHealth()
        gate.open()
        for completion in completions { _ = try await completion.result.get() }
        #expect(
            server.requests.map(\.target) == ["/first", "/interactive-3", "/prefetch-2", "/normal-1", "/prefetch-0"]
        )
    }

    @Test func oneOriginDoesNotStarveAnother() async throws {
        let order = Lock<[String]>([])
        let gate = try LoopbackServer.Gate()
        let busy = try LoopbackServer { request in
            order.withLock { $0.append(request.target) }
            return request.target == "/first" ? .sequence([.gate(gate), .response(200)]) : .response(200)
        }
        let quiet = try LoopbackServer { request in
            order.withLock { $0.append("quiet") }
            return .response(200)
        }
        let transport = transport(total: 1)
        let requests = try ["/first", "/2", "/3", "/4"].map { try busy.request(.get, $0) } + [quiet.request()]
        let completions = requests.map { request in
            let completion = Completion()
            transport.perform(request, completion: completion.complete)
            return completion
        }
        await busy.until { $0.requestCount == 1 }
        gate.open()
        for completion in completions { _ = try await completion.result.get() }
        #expect(order.withLock { $0 } == ["/first", "/2", "quiet", "/3", "/4"])
    }

    @Test func cancelledAndTimedOutRequestsInTheQueueAreNotSent() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try server(gate)
        let transport = transport(perOrigin: 1)
        async let first = transport.perform(server.request(.get, "/first"))
        await server.until { $0.requestCount == 1 }

        let cancelled = Completion()
        transport.perform(try server.request(), completion: cancelled.complete).cancel()
        #expect(await cancelled.result.failure?.phase == .queue)

        let options = TransferOptions(timeouts: TransferOptions.Timeouts(total: .milliseconds(100)))
        let overdue = try await transport.failure(of: server.request(options: options))
        #expect(overdue.isTimeout && overdue.phase == .queue, "\(overdue)")
        #expect(!overdue.mayHaveReachedServer)
        let metrics = try #require(overdue.metrics)
        #expect(metrics.queued > .zero)
        gate.open()
        _ = try await first
        #expect(server.requests.count == 1)
    }

    @Test func metricsIncludeTheTimeInTheQueue() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try server(gate)
        let transport = transport(perOrigin: 1)
        let completion = Completion()
        transport.perform(try server.request(.get, "/first"), completion: completion.complete)
        await server.until { $0.requestCount == 1 }
        let second = Completion()
        transport.perform(try server.request(), completion: second.complete)
        // The loop processes its commands in order: the second request waits at least as long as this transfer takes.
        let quick = try LoopbackServer(.response(200))
        let other = try await transport.perform(quick.request())
        gate.open()
        _ = try await completion.result.get()
        #expect(try await second.result.get().metrics.queued >= other.metrics.total)
    }

    /// A redirect releases its place at the old origin. Otherwise two origins could wait for each other.
    @Test func redirectWaitsOnlyForItsNewOrigin() async throws {
        let gate = try LoopbackServer.Gate()
        let target = try server(gate)
        let url = target.url
        let origin = try LoopbackServer { request in
            request.target == "/away" ? .response(302, ["Location": "\(url)/on"]) : .response(200)
        }
        let transport = transport(perOrigin: 1)
        async let first = transport.perform(target.request(.get, "/first"))
        await target.until { $0.requestCount == 1 }
        async let redirected = transport.perform(origin.request(.get, "/away"))
        await origin.until { $0.responses == 1 }
        _ = try await transport.perform(origin.request(.get, "/other"))
        gate.open()
        _ = try await first
        #expect(try await redirected.url == "\(url)/on")
        #expect(target.requests.map(\.target) == ["/first", "/on"])
    }

    @Test func eventStreamDoesNotCountTowardsTheLimit() async throws {
        let server = try LoopbackServer { request in
            guard request.target == "/events" else { return .response(200) }
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
            return .sequence([.raw(head), .stall])
        }
        let transport = transport(perOrigin: 1)
        let stream = try await transport.perform(server.request(.get, "/events", delivery: .stream))
        _ = try await transport.perform(server.request(.get, "/other"))
        #expect(server.record.openConnections == 2)
        withExtendedLifetime(stream) {}
    }

    @Test func failedRequestsReleaseTheirPlaces() async throws {
        let server = try LoopbackServer { request in
            request.target == "/bad" ? .close : .response(200, [:], "ok")
        }
        let transport = transport(perOrigin: 2, total: 2)
        for _ in 1...10 {
            _ = try await transport.failure(of: server.request(.get, "/bad"))
            let unsent = try server.request(.get, "no slash")
            #expect(try await transport.failure(of: unsent).kind == .badURL)
        }
        #expect(try await transport.perform(server.request()).text() == "ok")
    }
}

/// HTTP/2 streams and connections are counted separately. Uses nginx, if it is installed.
@Suite(.leavesNothing, .timeLimit(.minutes(5)), .enabled(if: NginxPeer.isAvailable, "nginx is not installed"))
struct HTTP2QueueTests {
    private func transport(connections: Int, streams: Int) -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.maxConnectionsPerOrigin = connections
        configuration.maxStreamsPerOrigin = streams
        return CurlTransport(configuration)
    }

    @Test func streamsShareAConnectionWithoutWaiting() async throws {
        let peer = try NginxPeer.shared.get()
        let transport = transport(connections: 1, streams: 2)
        let paused = try await transport.perform(peer.request("/files/large", delivery: .stream))
        let other = try await transport.perform(peer.request("/other"))
        #expect(other.metrics.isConnectionReused)
        #expect(try await paused.body.collect().count == 16 << 20)
    }

    /// Also if the server allows fewer streams on a connection than libcurl would open.
    @Test(arguments: [\NginxPeer.Ports.secure, \.single])
    func connectionsStayWithinTheLimit(at port: any KeyPath<NginxPeer.Ports, UInt16> & Sendable) async throws {
        let peer = try NginxPeer.shared.get()
        let transport = transport(connections: 2, streams: 30)
        let connections = try await withThrowingTaskGroup { group in
            for number in 1...60 {
                group.addTask {
                    let words = try await transport.perform(peer.request("/\(number)", port: port)).text()
                    return words.split(separator: " ").first ?? ""
                }
            }
            return try await group.reduce(into: Set<Substring>()) { $0.insert($1) }
        }
        // The server refuses streams that were opened before it announced its limit, and libcurl then closes their
        // connection: there may be many connections in sequence, but at most two at a time.
        if port == \.secure { #expect((1...2).contains(connections.count)) }
        #if COUNTS_LEFTOVERS
            #expect(try #require(ResourceTracker.current).peak(.socket) <= 2)
        #endif
    }
}
