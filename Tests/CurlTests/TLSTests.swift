import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Certificates and handshakes with a Python server, if Python is installed.
@Suite(.leavesNothing, .timeLimit(.minutes(5)), .enabled(if: TLSPeer.isAvailable, "python3 is not installed"))
struct TLSTests {
    let transport = CurlTransport()
    let peer: TLSPeer

    init() throws {
        peer = try TLSPeer.shared.get()
    }

    private func expectRefusal(
        of request: TransferRequest,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = try await transport.failure(of: request, sourceLocation: sourceLocation)
        #expect(error.kind == .tls, "\(error)", sourceLocation: sourceLocation)
        #expect(error.phase == .tls, "\(error)", sourceLocation: sourceLocation)
        #expect(!error.mayHaveReachedServer, sourceLocation: sourceLocation)
        #expect(error.advice?.contains("TLS.Trust") == true, sourceLocation: sourceLocation)
    }

    @Test(arguments: ["localhost", "127.0.0.1"]) func goodCertificateIsAccepted(_ host: String) async throws {
        let response = try await transport.perform(peer.request("good", host: host))
        #expect(try await response.text() == "secret")
        #expect(response.metrics.tlsHandshake > .zero)
        #expect(response.metrics.tlsHandshake >= response.metrics.connect)
        #expect(try await transport.perform(peer.request("good", host: host)).metrics.isConnectionReused)
    }

    /// libcurl resends a request by itself after the server has ended a reused connection.
    @Test(arguments: [("one-connection", NetworkError.Phase.connect), ("one-handshake", .tls)])
    func timeoutOfAnotherConnectionNamesItsPhase(_ server: String, _ phase: NetworkError.Phase) async throws {
        _ = try await transport.perform(peer.request(server)).text()
        var request = peer.request(server)
        request.options.timeouts.connect = .seconds(1)
        async let failure = transport.failure(of: request)
        // The numbers of sockets that libcurl closes meanwhile are reused.
        let pair = try SocketPair()
        for _ in 0..<50 {
            pair.addDescriptor()
            try await Task.sleep(for: .milliseconds(10))
        }
        let error = try await failure
        #expect(error.kind == .timeout && error.phase == phase, "\(error)")
        #expect(error.advice?.contains("Timeouts.connect") == true)
        #expect(error.mayHaveReachedServer)
    }

    @Test func invalidCertificatesAreRejected() async throws {
        for name in ["expired", "wrong-host", "self-signed", "no-intermediate"] {
            try await expectRefusal(of: peer.request(name))
            try await expectRefusal(of: peer.request(name))
        }
        #expect(try await transport.perform(peer.request("good")).head.status.code == 200)
    }

    @Test func certificateOutsideItsAuthoritysNameConstraintsIsRejected() async throws {
        let trust = TLS.Trust.file(path: Peer.path("Certificates/constrained-ca.pem"))
        try await expectRefusal(of: peer.request("constrained", trust: trust))
    }

    @Test func systemTrustRejectsTheTestAuthority() async throws {
        try await expectRefusal(of: peer.request("good", trust: .system))
    }

    @Test func adviceNamesTheTrustedAuthorities() async throws {
        let own = try await transport.failure(of: peer.request("self-signed"))
        #expect(own.advice?.contains("only the authorities in \(Peer.path("Certificates/ca.pem"))") == true)
        #expect(own.advice?.contains("system") == false)
        let systems = try await transport.failure(of: peer.request("self-signed", trust: .system))
        #expect(systems.advice?.contains("the system's authorities were read from") == true)
    }

    /// A connection that was trusted with one set of authorities isn't reused with another.
    @Test func trustDoesNotApplyToOtherTransfers() async throws {
        _ = try await transport.perform(peer.request("good"))
        try await expectRefusal(of: peer.request("good", trust: .system))
        let selfSigned = TLS.Trust.file(path: Peer.path("Certificates/self-signed.pem"))
        try await expectRefusal(of: peer.request("good", trust: selfSigned))
        #expect(try await transport.perform(peer.request("self-signed", trust: selfSigned)).text() == "secret")
    }

    @Test func errorNamesTheMissingAuthorityFile() async throws {
        let error = try await transport.failure(of: peer.request("good", trust: .file(path: "/nowhere/ca.pem")))
        #expect(error.kind == .badConfiguration && error.phase == .build)
        #expect(error.message.hasPrefix("TransferOptions.trust: cannot read /nowhere/ca.pem: "), "\(error)")
        #expect(!error.mayHaveReachedServer)
    }

    @Test func oldTLSVersionIsRejected() async throws {
        try await expectRefusal(of: peer.request("tls-1.1"))
    }

    @Test func missingClientCertificateIsAnError() async throws {
        let error = try await transport.failure(of: peer.request("client-certificate"))
        #expect([.tls, .network].contains(error.kind), "\(error)")
    }

    @Test func connectionEndWithoutCloseNotifyInABodyIsAnError() async throws {
        let error = try await transport.failure(of: peer.request("cut"))
        #expect([.truncated, .network].contains(error.kind), "\(error)")
    }

    @Test(arguments: [TransferRequest.Delivery.collect, .stream])
    func bodyWithoutLengthRequiresCloseNotify(_ delivery: TransferRequest.Delivery) async throws {
        for name in ["end-without-length", "cut-behind-chunks"] {
            var request = peer.request(name)
            request.delivery = delivery
            #expect(try await transport.perform(request).text() == "whole")
        }
        var request = peer.request("cut-without-length")
        request.delivery = delivery
        let error = try await transport.failure(of: request)
        #expect(error.kind == .truncated && error.phase == .body, "\(error)")
        #expect(error.response?.status == .ok)
        if delivery == .collect { #expect(error.data == Data("half".utf8)) }
    }

    /// The end of an unwanted body doesn't matter.
    @Test func redirectIsFollowedDespiteATruncatedBody() async throws {
        let target = peer.request("good").head.urlText
        let response = try await transport.perform(peer.request("redirect-without-length", "/to?\(target)"))
        #expect(try await response.text() == "secret")
    }

    @Test func plainServerOnASecurePortIsAnError() async throws {
        let server = try LoopbackServer(onConnect: .response(200, [:], "plain")) { _ in .close }
        let head = HTTPRequest(method: .get, scheme: "https", authority: server.authority, path: "/")
        let error = try await transport.failure(of: TransferRequest(head, options: .limited))
        #expect(error.kind == .tls && error.phase == .tls)
        #expect(error.advice?.hasPrefix("if this port serves plain HTTP, ") == true)
        #expect(!error.message.contains("openSSL"), "\(error)")
    }

    @Test func closedHandshakeAdvisesTryingHTTP() async throws {
        let server = try LoopbackServer(onConnect: .close) { _ in .close }
        let head = HTTPRequest(method: .get, scheme: "https", authority: server.authority, path: "/")
        let error = try await transport.failure(of: TransferRequest(head, options: .limited))
        #expect(error.kind == .tls && error.phase == .tls)
        #expect(error.advice?.contains("begin the URL with http://") == true, "\(error)")
    }

    @Test func fatalAlertIsAnError() async throws {
        let alert = Data([21, 3, 3, 0, 2, 2, 40])
        let server = try LoopbackServer(onConnect: .sequence([.raw(alert), .finish])) { _ in .close }
        let head = HTTPRequest(method: .get, scheme: "https", authority: server.authority, path: "/")
        try await expectRefusal(of: TransferRequest(head, options: .limited))
    }

    @Test func redirectToPlainHTTPIsRejectedUnlessAllowed() async throws {
        let plain = try LoopbackServer(.response(200, [:], "plain"))
        var request = peer.request("good", "/to?\(plain.url)/")
        let error = try await transport.failure(of: request)
        #expect(error.kind == .insecureRedirect)
        #expect(plain.requests.isEmpty)

        request.options.redirects.allowsInsecure = true
        request.head.headerFields[.authorization] = "Bearer secret"
        #expect(try await transport.perform(request).text() == "plain")
        #expect(plain.requests.first?["Authorization"] == nil)
    }

    @Test func redirectToHTTPSIsFollowed() async throws {
        let secure = "https://localhost:\(try #require(peer.ports["good"]))/"
        let plain = try LoopbackServer(.response(301, ["Location": secure]))
        let request = try plain.request(options: TransferOptions(trust: .tests))
        let response = try await transport.perform(request)
        #expect(try await response.text() == "secret")
        #expect(response.url == secure)
    }
}
