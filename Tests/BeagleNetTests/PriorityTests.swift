import BeagleNet
import BeagleNetCurl
import BeagleNetTesting
import CurlPeers
import Testing

/// The order in which the default client sends what waits, over libcurl and real sockets.
@Suite(.leavesNothing, .beagle(.live), .timeLimit(.minutes(5))) struct PriorityTests {
    private let gate: LoopbackServer.Gate
    private let server: LoopbackServer
    private let client: NetworkClientDefault
    private let transport: CountingTransport

    init() throws {
        let gate = try LoopbackServer.Gate()
        self.gate = gate
        server = try LoopbackServer { request in
            request.target == "/first" ? .sequence([.gate(gate), .response(200)]) : .response(200, [:], request.target)
        }
        transport = CountingTransport()
        client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
    }

    private func request(_ path: String, _ priority: Priority = .normal, _ type: Request.RequestType = .fetchImage)
        throws -> Request
    {
        var request = Request(url: try #require(URL(string: server.url + path)), type: type)
        request.options = TransferOptions()
        request.options?.priority = priority
        return request
    }

    /// Occupies the only connection.
    private func occupy() async throws {
        client.executeRequest(try request("/first", .normal, .rawRequest(.init()))) { _ in }
        await server.until { $0.requestCount == 1 }
    }

    /// Waits until the transport has this many requests, and lets it send them.
    private func targets(of count: Int) async throws -> [String] {
        while transport.count < count { await Task.yield() }
        // The loop processes its commands in order: when this request has ended, it knows the priorities.
        let other = try LoopbackServer(.response(200))
        _ = try await client.executeRequest(Request(url: try #require(URL(string: other.url)), type: .fetchImage))
        gate.open()
        await server.until { $0.requestCount == 3 }
        return server.requests.map(\.target)
    }

    @Test(arguments: [
        Request.RequestType.rawRequest(.init()), .fetchImage, .submitForm(.init(method: .post, values: [:])),
    ])
    func tokenOfTheClientRaisesThePriority(_ type: Request.RequestType) async throws {
        try await occupy()
        let token = client.executeRequest(try request("/low", .prefetch, type)) { _ in }
        client.executeRequest(try request("/normal")) { _ in }
        try #require(token).raise(to: .high)
        #expect(try await targets(of: 3) == ["/first", "/low", "/normal"])
    }

    @Test func callerThatJoinsRaisesThePriority() async throws {
        try await occupy()
        client.executeRequest(try request("/a", .prefetch)) { _ in }
        client.executeRequest(try request("/b")) { _ in }
        client.executeRequest(try request("/a", .interactive)) { _ in }
        #expect(try await targets(of: 3) == ["/first", "/a", "/b"])
    }

    @Test func controlRaisesThePriorityOfAStream() async throws {
        try await occupy()
        let control = Priority.Control(.prefetch)
        var operation = NetworkOperation.stream(try request("/a"))
        operation.priorityControl = control
        let stream = Task { [operation] in try await client.run(operation) }
        while transport.count < 2 { await Task.yield() }
        client.executeRequest(try request("/b")) { _ in }
        control.raise(to: .interactive)
        #expect(try await targets(of: 3) == ["/first", "/a", "/b"])
        _ = try await stream.value
        #expect(control.priority == .interactive)
    }

    @Test func controlOfACallerThatJoinedRaisesThePriorityLater() async throws {
        try await occupy()
        client.executeRequest(try request("/a", .prefetch)) { _ in }
        client.executeRequest(try request("/b")) { _ in }
        let control = Priority.Control(.low)
        var operation = NetworkOperation(try request("/a"))
        operation.priorityControl = control
        let joined = Task { [operation] in try await client.run(operation) }
        while client.activeSubscribers < 3 { await Task.yield() }
        control.raise(to: .interactive)
        #expect(try await targets(of: 3) == ["/first", "/a", "/b"])
        _ = try await joined.value
    }
}

/// A transport with one connection for each origin, which counts requests.
private final class CountingTransport: CookieTransport {
    private let transport: CurlTransport = {
        var configuration = CurlTransport.Configuration()
        configuration.maxConnectionsPerOrigin = 1
        return CurlTransport(configuration)
    }()
    private let performed = Lock(0)
    let storesCookies = false

    var count: Int { performed.withLock { $0 } }

    func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        let token = transport.perform(request, completion: completion)
        performed.withLock { $0 += 1 }
        return token
    }
}
