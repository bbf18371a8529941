@testable import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Whether libcurl and python3 support HTTP/3. If `scripts/soak http3` says so, the tests fail without it.
private let isAvailable =
    ProcessInfo.processInfo.environment["BEAGLENET_HTTP3"] != nil
    || CurlTransport.capabilities.contains(.http3) && (try? HTTP3Peer.shared.get()) != nil

/// HTTP/3, if libcurl supports it and python3 has aioquic.
@Suite(.leavesNothing, .serialized, .timeLimit(.minutes(5)), .enabled(if: isAvailable, "there is no HTTP/3"))
struct HTTP3Tests {
    let store: AltSvcStore
    let transport: CurlTransport
    let peer: HTTP3Peer

    /// A long time limit, because a server on a busy machine may respond late.
    init() throws {
        store = AltSvcStore(connectTimeout: .seconds(30))
        var configuration = CurlTransport.Configuration()
        configuration.altSvc = store
        transport = CurlTransport(configuration)
        peer = try HTTP3Peer.shared.get()
    }

    private static let connection = HTTPField.Name("x-connection")!

    // MARK: - Successful requests

    @Test func requestsShareOneConnection() async throws {
        let first = try await transport.perform(peer.request("/a?b"))
        #expect(first.metrics.protocolName == "HTTP/3" && !first.metrics.isConnectionReused)
        #expect(first.metrics.remoteAddress == "127.0.0.1:\(peer.ports["h3"] ?? 0)")
        #expect(first.metrics.tlsHandshake > .zero)
        #expect(try await first.text() == "GET /a?b alt-used=")
        let number = first.head.headerFields[Self.connection]
        try await withThrowingTaskGroup(of: TransferResponse.self) { group in
            for _ in 0..<50 { group.addTask { try await transport.perform(peer.request("/")) } }
            for try await response in group {
                #expect(response.metrics.isConnectionReused && response.metrics.protocolName == "HTTP/3")
                #expect(response.head.headerFields[Self.connection] == number)
            }
        }
    }

    static let bodies = [0, 5, 16 << 20]

    @Test(arguments: bodies, [HTTPRequest.Method.post, .put]) func bodiesAreCompleteInBothDirections(
        _ count: Int,
        _ method: HTTPRequest.Method
    ) async throws {
        let bytes = StreamTests.pattern(count)
        let response = try await transport.perform(peer.request("/echo", method, body: HTTPBody(bytes)))
        #expect(try await response.body.collect() == bytes)
        #expect(response.metrics.bytesSent == count && response.metrics.bytesReceived == count)
    }

    @Test func streamedBodyIsSent() async throws {
        let chunks = AsyncStream([Data("one ".utf8), Data("two".utf8)])
        let request = peer.request("/echo", .post, body: .stream { chunks }, delivery: .stream)
        #expect(try await transport.perform(request).text() == "one two")
    }

    @Test func headHasNoBody() async throws {
        let response = try await transport.perform(peer.request("/", .head))
        #expect(try await response.text().isEmpty)
    }

    @Test func fieldsAfterTheBodyAreTrailers() async throws {
        let response = try await transport.perform(peer.request("/trailer"))
        #expect(try await response.text() == "body")
        #expect(response.trailers.map(\.value) == ["yes"])
    }

    @Test func earlyHintsAreAnInterimResponse() async throws {
        let response = try await transport.perform(peer.request("/early"))
        #expect(response.interim.map(\.status.code) == [103])
        #expect(response.status == .ok)
    }

    @Test func pausedStreamDoesNotBlockOthersOnTheConnection() async throws {
        let paused = try await transport.perform(peer.request("/large?\(16 << 20)", delivery: .stream))
        for _ in 0..<20 { #expect(try await transport.perform(peer.request("/")).metrics.isConnectionReused) }
        #expect(try await paused.body.collect().count == 16 << 20)
    }

    @Test func cancelledStreamDoesNotAffectOthersOnTheConnection() async throws {
        let other = try await transport.perform(peer.request("/large?\(1 << 20)", delivery: .stream))
        let completion = Completion()
        let token = transport.perform(peer.request("/endless", delivery: .stream), completion: completion.complete)
        let cancelled = try await completion.result.get()
        token.cancel()
        await #expect(throws: NetworkError.self) { try await cancelled.body.collect() }
        #expect(try await other.body.collect().count == 1 << 20)
        #expect(try await transport.perform(peer.request("/")).metrics.isConnectionReused)
    }

    @Test func transportWorksAfterAStormOfCancels() async throws {
        await withTaskGroup { group in
            for number in 0..<600 {
                group.addTask {
                    let path = ["/", "/large?\(1 << 18)", "/silent"][number % 3]
                    let completion = Completion()
                    let token = transport.perform(peer.request(path), completion: completion.complete)
                    let isCancelled = number % 3 == 2 || number % 2 == 0
                    if isCancelled {
                        for _ in 0..<number % 100 { await Task.yield() }
                        token.cancel()
                    }
                    if case .failure(let error) = await completion.result {
                        #expect(isCancelled && error.isCancelled, "\(error)")
                    }
                }
            }
        }
        #expect(try await transport.perform(peer.request("/")).status == .ok)
        try await transport.proveHealth()
    }

    // MARK: - Lost connections

    static let losses = ["close", "reject"]

    /// Makes a request after another one has opened the connection. Its first attempt is refused or ends the
    /// connection.
    private func lost(_ loss: String, _ method: HTTPRequest.Method, key: String? = nil) async throws -> TransferRequest
    {
        #expect(try await transport.perform(peer.request("/")).metrics.protocolName == "HTTP/3")
        let body = method == .get ? nil : HTTPBody("pay")
        var request = peer.request("/\(loss)?\(UUID())", method, body: body)
        request.head.headerFields[.idempotencyKey] = key
        return request
    }

    private func count(_ request: TransferRequest) async throws -> String {
        try await transport.perform(peer.request("/count?\(request.head.path ?? "")")).text()
    }

    @Test(arguments: losses, [("GET", nil), ("PUT", nil), ("POST", "1")])
    func idempotentRequestIsResent(_ loss: String, _ method: (name: String, key: String?)) async throws {
        let request = try await lost(loss, #require(.init(rawValue: method.name)), key: method.key)
        let response = try await transport.perform(request)
        #expect(response.metrics.resends == 1 && response.metrics.protocolName == "HTTP/3")
        #expect(try await count(request) == "2")
    }

    @Test(arguments: losses) func postIsNotResent(_ loss: String) async throws {
        let request = try await lost(loss, .post)
        let error = try await transport.failure(of: request)
        #expect([.network, .protocol].contains(error.kind) && error.mayHaveReachedServer, "\(error)")
        #expect(try await count(request) == "1")
    }

    /// UDP has no connections, so a socket doesn't report an unreachable peer.
    @Test func silentServerCountsAsUnreachable() async throws {
        var request = peer.request("/", at: "silent")
        request.options.timeouts.total = .seconds(2)
        let error = try await transport.failure(of: request)
        #expect(error.isTimeout && error.isOffline && !error.mayHaveReachedServer, "\(error)")
    }

    // MARK: - Alternatives

    private func ask(_ path: String, _ method: HTTPRequest.Method = .get) async throws -> TransferResponse {
        try await transport.perform(peer.request(path, method, at: "origin", version: .automatic))
    }

    private func isNamed() -> Bool {
        let request = peer.request("/", at: "origin", version: .automatic)
        return ClientStores(transport.configuration)?.alternative(for: request) != nil
    }

    @Test func announcedAlternativeIsUsed() async throws {
        #expect(try await ask("/announce").text() == "origin /announce")
        for isFirst in [true, false] {
            let response = try await ask("/")
            #expect(try await response.text() == "GET / alt-used=\(peer.authority("h3"))")
            #expect(response.metrics.protocolName == "HTTP/3")
            #expect(response.metrics.isConnectionReused != isFirst)
        }
    }

    @Test func originIsUsedWhenTheAlternativeIsGone() async throws {
        let peer = try HTTP3Peer()
        func ask(_ path: String, by transport: CurlTransport) async throws -> TransferResponse {
            try await transport.perform(peer.request(path, at: "origin", version: .automatic))
        }
        _ = try await ask("/announce", by: transport)
        #expect(try await ask("/", by: transport).metrics.protocolName == "HTTP/3")
        _ = try await ask("/gone", by: CurlTransport())
        let response = try await ask("/after", by: transport)
        #expect(try await response.text() == "origin /after")
        #expect(response.metrics.resends >= 1)
    }

    @Test func alternativeIsSuspendedAfterAFallbackToTheOrigin() async throws {
        let origin = Origin(scheme: "https", host: "localhost", port: peer.ports["origin"] ?? 0)
        try store.add(.init(for: origin, .http3, host: "localhost", port: origin.port))
        #expect(isNamed())
        let response = try await ask("/")
        #expect(response.metrics.protocolName == "HTTP/1.1")
        #expect(!isNamed())
    }

    // MARK: - GnuTLS

    /// libcurl would accept these options, but not send the identity, or allow old versions of TLS.
    @Test(.enabled(if: CurlTransport.capabilities.tls.contains("GnuTLS"), "libcurl has another TLS library"))
    func optionsThatGnuTLSIgnoresAreRejected() async throws {
        func error(_ change: (inout TransferOptions) -> Void) async throws -> NetworkError {
            var request = peer.request("/", version: .automatic)
            change(&request.options)
            return try await transport.failure(of: request)
        }
        let identity = try await error { $0.identity = TLS.Identity(certificate: Data("a".utf8), key: Data("b".utf8)) }
        let ciphers = try await error { $0.ciphers.tls12 = ["NORMAL"] }
        for error in [identity, ciphers] {
            #expect(error.kind == .unsupported && !error.mayHaveReachedServer, "\(error)")
        }
    }
}
