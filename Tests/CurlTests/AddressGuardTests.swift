import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// No connection to an address that the app doesn't allow, however the address was determined.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct AddressGuardTests {
    let transport = CurlTransport()

    private func guarded(_ addressGuard: TransferOptions.AddressGuard) -> TransferOptions {
        var options = TransferOptions.limited
        options.addressGuard = addressGuard
        return options
    }

    private func request(_ server: LoopbackServer, host: String) throws -> TransferRequest {
        var request = try server.request(options: guarded(.publicOnly))
        request.head.authority = "\(host):\(server.port)"
        return request
    }

    /// Spellings of the loopback address, including the numeric forms that libcurl accepts.
    @Test(arguments: [
        "127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0", "[::1]", "[::ffff:127.0.0.1]",
    ])
    func loopbackHostIsBlockedBeforeConnecting(_ host: String) async throws {
        let server = try LoopbackServer(.response(200))
        let error = try await transport.failure(of: request(server, host: host))
        #expect(error.kind == .blocked, "\(error)")
        #expect(error.phase == .connect)
        #expect(!error.mayHaveReachedServer)
        #expect(!error.isRetryable)
        #expect(error.message.contains(host), "\(error)")
        #expect(server.record.connections == 0)
        try await transport.proveHealth()
    }

    @Test func errorMessageNamesTheAddressAndTheRule() async throws {
        let server = try LoopbackServer(.response(200))
        let error = try await transport.failure(of: request(server, host: "127.0.0.1"))
        #expect(
            error.message
                == "127.0.0.1, the address of 127.0.0.1, is loopback, which AddressGuard.publicOnly does not allow"
        )
    }

    @Test func guardBlocksReuseOfAnOpenConnection() async throws {
        let server = try LoopbackServer(.response(200, [:], "open"))
        #expect(try await transport.perform(server.request()).text() == "open")
        let error = try await transport.failure(of: request(server, host: "127.0.0.1"))
        #expect(error.kind == .blocked)
        #expect(!error.mayHaveReachedServer)
        #expect(server.record.requestCount == 1)
        try await transport.proveHealth()
    }

    @Test func unixSocketIsBlockedBecauseItHasNoAddress() async throws {
        let server = try LoopbackServer(.response(200))
        var request = try request(server, host: "127.0.0.1")
        request.options.addressGuard = .custom { _, _ in true }
        request.options.unixSocket = "/nowhere/socket"
        let error = try await transport.failure(of: request)
        #expect(error.kind == .blocked, "\(error)")
        #expect(error.message == "the AddressGuard cannot check a Unix socket, which has no IP address")
    }

    /// A blocked address doesn't end the attempt at another address, even if the priority is raised meanwhile.
    @Test func requestWithRaisedPriorityTriesItsOtherAddress() async throws {
        let backlog = try FullBacklog()
        let refused = IPAddress("127.0.0.2")
        let isRefused = Lock(false)
        var configuration = CurlTransport.Configuration()
        configuration.resolver = { _, _ in ["127.0.0.2", "127.0.0.1"].compactMap { IPAddress($0) } }
        let transport = CurlTransport(configuration)
        var options = guarded(
            .custom { address, _ in
                isRefused.withLock { $0 = $0 || address == refused }
                return address != refused
            }
        )
        options.priority = .prefetch
        let head = HTTPRequest(method: .get, scheme: "http", authority: "two.example:\(backlog.port)", path: "/")
        let completion = Completion()
        let token = transport.perform(TransferRequest(head, options: options), completion: completion.complete)
        while !isRefused.withLock({ $0 }) { await Task.yield() }
        token.raise(to: .interactive)
        // The loop processes its commands in order.
        token.cancel()
        #expect(await completion.result.failure?.kind == .cancelled)
    }

    @Test func redirectDoesNotBypassTheGuard() async throws {
        let inside = try LoopbackServer(.response(200, [:], "secret"))
        let server = try LoopbackServer(.response(302, ["Location": "http://localhost:\(inside.port)/"]))
        let outside = TransferOptions.AddressGuard.custom { _, host in host == "127.0.0.1" }
        let error = try await transport.failure(of: server.request(options: guarded(outside)))
        #expect(error.kind == .blocked)
        #expect(error.metrics?.hops.map(\.status) == [302])
        #expect(inside.record.connections == 0)
    }

    @Test func customGuardReceivesTheAddressAndTheHost() async throws {
        let hosts = Lock<[String]>([])
        let all = TransferOptions.AddressGuard.custom { address, host in
            hosts.withLock { $0.append("\(address) \(host)") }
            return true
        }
        let server = try LoopbackServer(.response(200, [:], "in"))
        var request = try server.request(options: guarded(all))
        request.head.authority = "LocalHost:\(server.port)"
        #expect(try await transport.perform(request).text() == "in")
        // Once before connecting and once before the connection is used. ::1 may have been tried, too.
        #expect(hosts.withLock { $0.filter { $0 == "127.0.0.1 localhost" } }.count == 2)

        let none = TransferOptions.AddressGuard.custom { _, _ in false }
        let error = try await transport.failure(of: server.request(options: guarded(none)))
        #expect(error.message.hasSuffix("is not allowed by the app's AddressGuard"))
        #expect(server.record.requestCount == 1)
    }

    @Test func guardAppliesOnlyToItsOwnTransfer() async throws {
        let server = try LoopbackServer(.response(200, [:], "open"))
        _ = try await transport.failure(of: request(server, host: "127.0.0.1"))
        #expect(try await transport.perform(server.request()).text() == "open")
    }
}
