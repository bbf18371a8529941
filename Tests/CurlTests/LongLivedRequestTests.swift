@testable import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// The choice of the loop that a request runs on.
struct LongLivedRequestTests {
    private let memory = LongLivedRequestHistory()

    private func request(
        _ path: String = "/",
        _ accept: String? = nil,
        host: String = "host",
        delivery: TransferRequest.Delivery = .stream
    ) -> TransferRequest {
        var head = HTTPRequest(method: .get, scheme: "http", authority: host, path: path)
        head.headerFields[.accept] = accept
        return TransferRequest(head, delivery: delivery)
    }

    @Test func declaredLongLivedRequestsAreLasting() {
        var poll = request(delivery: .collect)
        poll.options.isLongLived = true
        #expect(memory.role(of: poll) == .longLived)
        #expect(memory.role(of: request("/", "text/event-stream, text/html")) == .longLived)
        #expect(memory.role(of: request("/", "text/html, text/event-stream")) == .ordinary)
        #expect(memory.role(of: request("/", "text/event-stream", delivery: .collect)) == .ordinary)
        #expect(memory.role(of: request()) == .ordinary)
    }

    @Test func pathOfAKnownStreamIsLastingWithAnyQuery() {
        memory.note(request("/events?a=1"), on: .ordinary)
        #expect(memory.role(of: request("/events")) == .longLived)
        #expect(memory.role(of: request("/events?b=2", delivery: .collect)) == .longLived)
        #expect(memory.role(of: request("/event")) == .spare)
        #expect(memory.role(of: request("/events", host: "other")) == .ordinary)
        #expect(memory.role(of: request("/events", host: "host:81")) == .ordinary)
    }

    @Test func streamFoundOnASpareLoopDoesNotAffectOtherPaths() {
        memory.note(request("/events"), on: .spare)
        #expect(memory.role(of: request("/events")) == .longLived)
        #expect(memory.role(of: request("/")) == .ordinary)
    }

    @Test func originWithManyStreamsTreatsAllStreamsAsLasting() {
        for number in 1...17 {
            #expect(memory.role(of: request("/rooms/\(number)")) != .longLived)
            memory.note(request("/rooms/\(number)"), on: .ordinary)
        }
        #expect(memory.role(of: request("/rooms/18")) == .longLived)
        #expect(memory.role(of: request("/rooms/18", delivery: .collect)) == .spare)
    }

    @Test func leastRecentlySeenOriginIsRemoved() {
        for number in 0..<64 { memory.note(request("/", host: "host\(number)"), on: .ordinary) }
        memory.note(request("/", host: "host0"), on: .ordinary)
        memory.note(request("/", host: "new"), on: .ordinary)
        #expect(memory.role(of: request("/", host: "host0")) == .longLived)
        #expect(memory.role(of: request("/", host: "host1")) == .ordinary)
        #expect(memory.role(of: request("/", host: "new")) == .longLived)
    }
}

/// The loops of a transport and the requests that run on them.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct LoopRoleTests {
    /// A server that sends an endless stream for `/events` and the number of the connection for other paths.
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer { request in
            guard request.target == "/events" else { return .response(200, [:], "\(request.connection)") }
            return .sequence([.raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n"), .stall])
        }
    }

    /// Performs a short request and returns the number of its connection.
    private func connection(_ transport: CurlTransport) async throws -> String {
        try await transport.perform(server.request()).text()
    }

    #if COUNTS_LEFTOVERS
        private var loops: Int { ResourceTracker.current?.inUse[.loop] ?? 0 }

        @Test func streamsRunOnTheirOwnLoop() async throws {
            let transport = CurlTransport()
            let first = try await connection(transport)
            #expect(loops == 1)
            let fields: KeyValuePairs = ["Accept": "text/event-stream"]
            let streams = [
                try await transport.perform(server.request(.get, "/events", fields, delivery: .stream)),
                try await transport.perform(server.request(.get, "/events", fields, delivery: .stream)),
            ]
            #expect(loops == 2)
            #expect(try await connection(transport) == first)
            #expect(loops == 2)
            withExtendedLifetime(streams) {}
        }

        @Test func detectedStreamRunsOnItsOwnLoopTheNextTime() async throws {
            let transport = CurlTransport()
            let first = try await connection(transport)
            let stream = try await transport.perform(server.request(.get, "/events", delivery: .stream))
            #expect(loops == 1)
            let another = try await transport.perform(server.request(.get, "/events", delivery: .stream))
            #expect(loops == 2)
            // Short requests no longer share a loop with the first stream.
            #expect(try await connection(transport) != first)
            #expect(loops == 3)
            withExtendedLifetime((stream, another)) {}
        }

        @Test func longRunningRequestIsDetected() async throws {
            var configuration = CurlTransport.Configuration()
            configuration.longLivedAfter = .milliseconds(1)
            let transport = CurlTransport(configuration)
            let gate = try LoopbackServer.Gate()
            let slow = try LoopbackServer { request in
                request.target == "/poll" ? .sequence([.gate(gate), .response(200)]) : .response(200)
            }
            async let poll = transport.perform(slow.request(.get, "/poll"))
            while loops < 2 { _ = try await transport.perform(slow.request()) }
            gate.open()
            #expect(try await poll.status == .ok)
        }

        @Test func shutDownEndsAllLoops() async throws {
            let transport = CurlTransport()
            _ = try await connection(transport)
            let stream = try await transport.perform(server.request(.get, "/events", delivery: .stream))
            let another = try await transport.perform(server.request(.get, "/events", delivery: .stream))
            _ = try await connection(transport)
            #expect(loops == 3)
            transport.shutDown()
            for response in [stream, another] {
                let error = await #expect(throws: NetworkError.self) { try await response.body.collect() }
                #expect(error?.kind == .shutdown)
            }
            #expect(Int(try await connection(transport)) != nil)
        }
    #endif

    /// The time in the queue doesn't count.
    @Test func requestIsOpenEndedOnlyAfterItWasSent() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maxConnectionsPerOrigin = 1
        let transport = CurlTransport(configuration)
        let gates = try ["/first": LoopbackServer.Gate(), "/second": LoopbackServer.Gate()]
        let server = try LoopbackServer { request in
            gates[request.target].map { .sequence([.gate($0), .response(200)]) } ?? .response(404)
        }
        async let first = transport.perform(server.request(.get, "/first"))
        await server.until { $0.requestCount == 1 }
        let completion = Completion()
        let token = transport.perform(try server.request(.get, "/second"), completion: completion.complete)
        let second = try #require(token as? Transfer)
        let limit = configuration.longLivedAfter
        let dequeued = EventLoop.clock()
        gates["/first"]?.open()
        _ = try await first
        await server.until { $0.requestCount == 2 }
        let isOpenEnded = await Task(executorPreference: transport) {
            [dequeued, dequeued.advanced(by: .seconds(60))].map {
                second.isOpenEnded(after: limit, at: $0.advanced(by: limit))
            }
        }.value
        #expect(isOpenEnded == [false, true])
        gates["/second"]?.open()
        #expect(try await completion.result.get().status == .ok)
    }

    @Test func zeroDurationIsRejected() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.longLivedAfter = .zero
        let error = try await CurlTransport(configuration).failure(of: server.request())
        #expect(error.kind == .badConfiguration)
        #expect(error.message.contains("longLivedAfter"))
    }
}
