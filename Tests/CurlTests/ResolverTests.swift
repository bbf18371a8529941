import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Hosts that the app's resolver looks up.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct ResolverTests {
    private struct NotFound: Error { let secret = "hunter2" }

    private func transport(_ resolver: @escaping CurlTransport.Configuration.Resolver) -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.resolver = resolver
        return CurlTransport(configuration)
    }

    private func request(_ server: LoopbackServer, host: String = "app.test") throws -> TransferRequest {
        var request = try server.request(options: .limited)
        request.head.authority = "\(host):\(server.port)"
        return request
    }

    private func loopback() throws -> IPAddress { try #require(IPAddress("127.0.0.1")) }

    @Test func connectionUsesTheResolvedAddress() async throws {
        let address = try loopback()
        let hosts = Lock<[String]>([])
        let transport = transport { host, port in
            hosts.withLock { $0.append("\(host):\(port)") }
            return [address]
        }
        let server = try LoopbackServer(.response(200, [:], "found"))
        #expect(try await transport.perform(request(server, host: "App.test")).text() == "found")
        #expect(hosts.withLock { $0 } == ["app.test:\(server.port)"])
        #expect(server.requests.first?["Host"] == "App.test:\(server.port)")
    }

    @Test func newConnectionIsResolvedAgain() async throws {
        let addresses = Lock([try #require(IPAddress("127.0.0.2")), try loopback()])
        let transport = transport { _, _ in [addresses.withLock { $0.removeFirst() }] }
        let server = try LoopbackServer(.response(200, [:], "found"))
        #expect(try await transport.failure(of: request(server)).kind == .connect)
        #expect(try await transport.perform(request(server)).text() == "found")
    }

    @Test func oneReachableAddressOfSeveralIsEnough() async throws {
        let addresses = try ["::1", "127.0.0.2", "127.0.0.1"].map { try #require(IPAddress($0)) }
        let server = try LoopbackServer(.response(200, [:], "found"))
        #expect(try await transport { _, _ in addresses }.perform(request(server)).text() == "found")
    }

    /// Happy Eyeballs (RFC 8305): one address is silent, and the other one is tried before the connect timeout.
    @Test(arguments: [Duration.milliseconds(50), .seconds(10)])
    func nextAddressIsTriedAfterTheDelay(_ delay: Duration) async throws {
        // Two addresses of one family would be tried one after the other.
        guard FullBacklog.hasIPv6 else { return }
        let server = try LoopbackServer(.response(200, [:], "found"))
        let silent = try FullBacklog(ofIPv6: server.port)
        let addresses = try ["::1", "127.0.0.1"].map { try #require(IPAddress($0)) }
        var configuration = CurlTransport.Configuration()
        configuration.resolver = { _, _ in addresses }
        configuration.happyEyeballsDelay = delay
        var request = try request(server)
        request.options.timeouts.connect = .seconds(2)
        if delay < .seconds(2) {
            let response = try await CurlTransport(configuration).perform(request)
            #expect(response.metrics.remoteAddress == "127.0.0.1:\(silent.port)")
        } else {
            #expect(try await CurlTransport(configuration).failure(of: request).kind == .timeout)
        }
    }

    @Test func addressInTheURLIsNotLookedUp() async throws {
        let transport = transport { _, _ in throw NotFound() }
        let server = try LoopbackServer(.response(200, [:], "found"))
        #expect(try await transport.perform(server.request()).text() == "found")
    }

    @Test func hostOfARedirectIsLookedUp() async throws {
        let address = try loopback()
        let hosts = Lock<[String]>([])
        let other = try LoopbackServer(.response(200, [:], "there"))
        let server = try LoopbackServer(.response(302, ["Location": "http://other.test:\(other.port)/"]))
        let transport = transport { host, _ in
            hosts.withLock { $0.append(host) }
            return [address]
        }
        #expect(try await transport.perform(request(server)).text() == "there")
        #expect(hosts.withLock { $0 } == ["app.test", "other.test"])
    }

    @Test func resolverErrorIsReportedWithoutItsContents() async throws {
        let server = try LoopbackServer(.response(200))
        let thrown = try await transport { _, _ in throw NotFound() }.failure(of: request(server))
        #expect(thrown.kind == .dns)
        #expect(thrown.phase == .resolve)
        #expect(thrown.underlying is NotFound)
        #expect(!thrown.description.contains("hunter2"))
        let empty = try await transport { _, _ in [] }.failure(of: request(server))
        #expect(empty.message == "the app's resolver returned no address for app.test")
        #expect(!empty.mayHaveReachedServer)
        #expect(server.record.connections == 0)
    }

    @Test func resolverReceivesTheASCIIFormOfTheHost() async throws {
        let server = try LoopbackServer(.response(200))
        let error = try await transport { _, _ in [] }.failure(of: request(server, host: "bücher.test"))
        #expect(error.message == "the app's resolver returned no address for xn--bcher-kva.test")
    }

    @Test(arguments: ["app.test.", "app%2Etest"])
    func hostThatLibcurlWouldNormalizeIsRejected(_ host: String) async throws {
        let server = try LoopbackServer(.response(200))
        let error = try await transport { _, _ in [] }.failure(of: request(server, host: host))
        #expect(error.kind == .badURL, "\(error)")
    }

    @Test func guardChecksTheResolvedAddress() async throws {
        let address = try loopback()
        let server = try LoopbackServer(.response(200))
        var request = try request(server)
        request.options.addressGuard = .publicOnly
        let error = try await transport { _, _ in [address] }.failure(of: request)
        #expect(error.kind == .blocked)
        #expect(error.message.contains("app.test"))
        #expect(server.record.connections == 0)
    }

    /// Makes a transport whose resolver suspends until its task is cancelled, and records the cancellation.
    private func untilCancelled(_ hosts: AsyncStream<Void>.Continuation, _ cancelled: Lock<Bool>) -> CurlTransport {
        transport { _, _ in
            hosts.yield()
            defer { hosts.finish() }
            do {
                try await Task.sleep(for: .seconds(60))
            } catch {
                cancelled.withLock { $0 = true }
                throw error
            }
            return []
        }
    }

    @Test func resolverIsCancelledWithTheTransfer() async throws {
        let (hosts, continuation) = AsyncStream.makeStream(of: Void.self)
        let cancelled = Lock(false)
        let transport = untilCancelled(continuation, cancelled)
        let server = try LoopbackServer(.response(200))
        let request = try request(server)
        let task = Task { try await transport.perform(request) }
        var events = hosts.makeAsyncIterator()
        _ = await events.next()
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        #expect(error?.phase == .resolve)
        _ = await events.next()
        #expect(cancelled.withLock { $0 })
    }

    @Test func resolverIsLimitedByTheConnectTimeout() async throws {
        let (_, continuation) = AsyncStream.makeStream(of: Void.self)
        let transport = untilCancelled(continuation, Lock(false))
        let server = try LoopbackServer(.response(200))
        var request = try request(server)
        request.options.timeouts.connect = .milliseconds(20)
        let error = try await transport.failure(of: request)
        #expect(error.kind == .timeout)
        #expect(error.phase == .resolve)
        #expect(error.message == "the app's resolver did not return within 0.02 seconds")
        #expect(!error.mayHaveReachedServer)
        try await CurlTransport().proveHealth()
    }
}
