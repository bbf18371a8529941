import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Transfers that wait because of a limit, on the wire.
@Suite(.leavesNothing, .timeLimit(.minutes(1)))
struct QueueTests {
    private func transport(perOrigin: Int? = 256, total: Int? = 512) -> CurlTransport {
        var configuration = CurlConfiguration()
        configuration.maxConnectionsPerOrigin = perOrigin
        configuration.maxConnections = total
        return CurlTransport(configuration)
    }

    /// A server whose first answer waits at the gate.
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

    @Test func higherPriorityGoesFirstAndARaisedOneMovesUp() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try server(gate)
        let transport = transport(perOrigin: 1)
        let completions = (0..<5).map { _ in Completion() }
        transport.perform(try server.request(.get, "/first"), completion: completions[0].complete)
        await server.until { $0.requestCount == 1 }
        var tokens: [any RequestToken] = []
        for (index, priority) in [Priority.prefetch, .normal, .prefetch, .interactive].enumerated() {
            var options = TransferOptions.impatient
            options.priority = priority
            let request = try server.request(.get, "/\(priority)-\(index)", options: options)
            tokens.append(transport.perform(request, completion: completions[index + 1].complete))
        }
        try #require(tokens[2] as? any PrioritizedToken).raise(to: .interactive)
        // What the loop is told it takes in order: when this is answered, it knows.
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

    @Test func cancelledAndOverdueOnesHaveSentNothing() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try server(gate)
        let transport = transport(perOrigin: 1)
        async let first = transport.perform(server.request(.get, "/first"))
        await server.until { $0.requestCount == 1 }

        let cancelled = Completion()
        transport.perform(try server.request(), completion: cancelled.complete).cancel()
        #expect(await cancelled.result.failure?.phase == .queue)

        let options = TransferOptions(timeouts: Timeouts(total: .milliseconds(100)))
        let overdue = try await transport.failure(of: server.request(options: options))
        #expect(overdue.isTimeout && overdue.phase == .queue, "\(overdue)")
        #expect(!overdue.mayHaveReachedServer)
        let metrics = try #require(overdue.metrics)
        #expect(metrics.queued > .zero)
        gate.open()
        _ = try await first
        #expect(server.requests.count == 1)
    }

    @Test func metricsTellTheWait() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try server(gate)
        let transport = transport(perOrigin: 1)
        let completion = Completion()
        transport.perform(try server.request(.get, "/first"), completion: completion.complete)
        await server.until { $0.requestCount == 1 }
        let second = Completion()
        transport.perform(try server.request(), completion: second.complete)
        // What the loop is told it takes in order: the second one waits as long as this takes, and longer.
        let quick = try LoopbackServer(.response(200))
        let other = try await transport.perform(quick.request())
        gate.open()
        _ = try await completion.result.get()
        #expect(try await second.result.get().metrics.queued >= other.metrics.total)
    }

    /// A redirect gives its place at the old origin back, or two origins could wait for each other.
    @Test func redirectWaitsAtItsNewOriginOnly() async throws {
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
        await origin.until { $0.answers == 1 }
        _ = try await transport.perform(origin.request(.get, "/other"))
        gate.open()
        _ = try await first
        #expect(try await redirected.url == "\(url)/on")
        #expect(target.requests.map(\.target) == ["/first", "/on"])
    }

    @Test func endlessStreamOfEventsTakesNoPlace() async throws {
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

    @Test func placesComeBackAfterFailures() async throws {
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

/// Streams and connections of HTTP/2 are counted apart, with nginx where it is installed.
@Suite(.leavesNothing, .timeLimit(.minutes(1)), .enabled(if: NginxPeer.isAvailable, "nginx is not installed"))
struct HTTP2QueueTests {
    private func transport(connections: Int, streams: Int) -> CurlTransport {
        var configuration = CurlConfiguration()
        configuration.maxConnectionsPerOrigin = connections
        configuration.maxStreamsPerOrigin = streams
        return CurlTransport(configuration)
    }

    @Test func streamsDoNotWaitForEachOthersConnection() async throws {
        let peer = try NginxPeer.shared.get()
        let transport = transport(connections: 1, streams: 2)
        let paused = try await transport.perform(peer.request("/files/large", delivery: .stream))
        let other = try await transport.perform(peer.request("/other"))
        #expect(other.metrics.isConnectionReused)
        #expect(try await paused.body.collect().count == 16 << 20)
    }

    /// Also where the server takes fewer streams on a connection than libcurl would put there.
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
        // Streams that are on their way before the server has said how many it takes are refused, and libcurl lets their
        // connection go: there may be many one after another, though no more than two at once.
        if port == \.secure { #expect((1...2).contains(connections.count)) }
        #if COUNTS_LEFTOVERS
            #expect(try #require(Ledger.current).peak(.socket) <= 2)
        #endif
    }
}
