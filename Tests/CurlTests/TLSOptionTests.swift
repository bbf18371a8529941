import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

@testable import BeagleNetCurl

/// Client certificates, pins, minimum versions and cipher suites, with nginx.
@Suite(.leavesNothing, .timeLimit(.minutes(5)), .enabled(if: NginxPeer.isAvailable, "nginx is not installed"))
struct TLSOptionTests {
    let transport = CurlTransport()
    let peer: NginxPeer

    init() throws {
        peer = try NginxPeer.shared.get()
    }

    private static func path(_ name: String) -> String { Peer.path("Certificates/\(name)") }
    private static func bytes(_ name: String) throws -> Data { try Data(contentsOf: path(name)) }

    private func request(
        port: any KeyPath<NginxPeer.Ports, UInt16> & Sendable = \.mutual,
        _ change: (inout TransferOptions) throws -> Void
    ) rethrows -> TransferRequest {
        var request = peer.request("/", port: port)
        try change(&request.options)
        return request
    }

    struct Identity: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable () throws -> TLS.Identity

        init(_ name: String, _ make: @escaping @Sendable () throws -> TLS.Identity) {
            testDescription = name
            self.make = make
        }
    }

    static let passphrase = "open sesame"

    static let good = [
        Identity("two files") { TLS.Identity(certificatePath: path("client.pem"), keyPath: path("client.key.pem")) },
        Identity("one file") { TLS.Identity(certificatePath: path("client.both.pem")) },
        Identity("encrypted key") {
            TLS.Identity(
                certificatePath: path("client.pem"),
                keyPath: path("client.encrypted.key.pem"),
                passphrase: passphrase
            )
        },
        Identity("bytes") { TLS.Identity(certificate: try bytes("client.pem"), key: try bytes("client.key.pem")) },
        Identity("bytes in one") { TLS.Identity(certificate: try bytes("client.both.pem")) },
        Identity("encrypted bytes") {
            TLS.Identity(
                certificate: try bytes("client.pem"),
                key: try bytes("client.encrypted.key.pem"),
                passphrase: passphrase
            )
        },
        Identity("PKCS #12") { TLS.Identity(pkcs12Path: path("client.p12"), passphrase: passphrase) },
        Identity("bytes of PKCS #12") { TLS.Identity(pkcs12: try bytes("client.p12"), passphrase: passphrase) },
    ]

    @Test(arguments: good) func serverReceivesTheClientCertificate(_ identity: Identity) async throws {
        let request = try request { $0.identity = try identity.make() }
        let sight = try await NginxPeer.ObservedClient(transport.perform(request))
        #expect(sight.certificate == "CN=BeagleNet test client")
        #expect(try await transport.perform(request).metrics.isConnectionReused)
    }

    /// nginx returns 400 if the client sends no certificate.
    @Test func identityIsNotUsedForOtherTransfers() async throws {
        let known = try request { $0.identity = try Self.good[0].make() }
        let unknown = request { _ in }
        for (request, status) in [(unknown, 400), (known, 200), (unknown, 400), (known, 200)] {
            #expect(try await transport.perform(request).status.code == status)
        }
        let inBytes = try request { $0.identity = try Self.good[3].make() }
        #expect(try await !transport.perform(inBytes).metrics.isConnectionReused)
    }

    /// nginx returns 400 to a client without a certificate.
    @Test func identityIsNotSentToARedirectedOrigin() async throws {
        let target = request { _ in }.head.urlText
        let elsewhere = try LoopbackServer(.response(307, ["Location": target]))
        var moved = try request { $0.identity = try Self.good[0].make() }
        #expect(try await transport.perform(moved).status == .ok)
        moved.head = try elsewhere.request(.get, "/").head
        #expect(try await transport.perform(moved).status.code == 400)
    }

    private static let connectionIsReusedOnlyWithTheSameIdentityArguments: [(String, Identity, Identity)] = [
        (
            "a passphrase in files",
            Identity("right") {
                TLS.Identity(
                    certificatePath: path("client.pem"),
                    keyPath: path("client.encrypted.key.pem"),
                    passphrase: passphrase
                )
            },
            Identity("wrong") {
                TLS.Identity(
                    certificatePath: path("client.pem"),
                    keyPath: path("client.encrypted.key.pem"),
                    passphrase: "s3same"
                )
            }
        ),
        (
            "a key in bytes",
            good[3],
            Identity("wrong") { TLS.Identity(certificate: try bytes("client.pem"), key: try bytes("good.key.pem")) }
        ),
        (
            "a passphrase of PKCS #12",
            good[7],
            Identity("wrong") { TLS.Identity(pkcs12: try bytes("client.p12"), passphrase: "s3same") }
        ),
    ]

    /// libcurl alone would reuse the connection of the first identity for all of these.
    @Test(arguments: Self.connectionIsReusedOnlyWithTheSameIdentityArguments)
    func connectionIsReusedOnlyWithTheSameIdentity(
        _ name: String,
        right: Identity,
        wrong: Identity
    ) async throws {
        let known = try request { $0.identity = try right.make() }
        let unknown = try request { $0.identity = try wrong.make() }
        for _ in 0..<2 {
            #expect(try await transport.perform(known).status == .ok)
            let error = try await transport.failure(of: unknown)
            #expect(error.kind == .badConfiguration && !error.mayHaveReachedServer, "\(error)")
        }
    }

    @Test func everyIdentityHasADistinctCertificateForLibcurl() throws {
        var identities = IdentityRegistry()
        let paths = ["/a/c.pem", "/./a/c.pem", "/a/./c.pem", "//a//c.pem", "c.pem", "./c.pem", "././c.pem"]
        let blobs = ["c", "c\n", "c\n\n"].map { Data($0.utf8) }
        let known = ["k", "l"].flatMap { key in
            paths.map { TLS.Identity(certificatePath: $0, keyPath: key) }
                + blobs.map { TLS.Identity(certificate: $0, key: Data(key.utf8)) }
        }
        let words = known.map { identities.certificate(of: $0) }
        #expect(Set(words).count == known.count && !words.contains(nil))
        #expect(known.map { identities.certificate(of: $0) } == words)
        for (identity, words) in zip(known, words) {
            guard case .pem(let certificate, _) = identity.form else { continue }
            switch (certificate, words) {
            case (.file(let path), .file(let other)):
                #expect(path.hasPrefix("/") == other.hasPrefix("/"))
                let paths = [path, other].map { $0.split(separator: "/").filter { $0 != "." } }
                #expect(paths[0] == paths[1])
            case (.bytes(let bytes), .bytes(let other)): #expect(other.starts(with: bytes))
            default: Issue.record("\(certificate) became \(String(describing: words))")
            }
        }
    }

    /// IdentityRegistry with rewritten paths or bytes also have their own pooled connections.
    @Test(arguments: ["in files", "in bytes"])
    func identityWithAnotherKeySourceHasItsOwnConnections(_ form: String) async throws {
        let closed = try request {
            $0.identity = try Self.good[form == "in files" ? 2 : 5].make()
        }
        let open = try request { $0.identity = try Self.good[form == "in files" ? 0 : 3].make() }
        for request in [closed, open] {
            let response = try await transport.perform(request)
            #expect(!response.metrics.isConnectionReused)
            #expect(try await NginxPeer.ObservedClient(response).certificate == "CN=BeagleNet test client")
            #expect(try await transport.perform(request).metrics.isConnectionReused)
        }
    }

    static let bad: [(identity: Identity, problem: String)] = [
        (
            Identity("missing file") { TLS.Identity(certificatePath: "/nowhere/client.pem") },
            "cannot read /nowhere/client.pem: No such file"
        ),
        (Identity("empty path") { TLS.Identity(certificatePath: "") }, "empty"),
        (
            Identity("another's key") {
                TLS.Identity(certificatePath: path("client.pem"), keyPath: path("good.key.pem"))
            },
            "the private key does not match the certificate"
        ),
        (
            Identity("another's key in bytes") {
                TLS.Identity(certificate: try bytes("client.pem"), key: try bytes("good.key.pem"))
            },
            "the private key does not match the certificate"
        ),
        (
            Identity("no passphrase") {
                TLS.Identity(certificatePath: path("client.pem"), keyPath: path("client.encrypted.key.pem"))
            },
            "the private key is encrypted, but there is no passphrase"
        ),
        (
            Identity("wrong passphrase") {
                TLS.Identity(
                    certificatePath: path("client.pem"),
                    keyPath: path("client.encrypted.key.pem"),
                    passphrase: "s3same"
                )
            },
            "the passphrase is wrong, or the private key does not match the certificate"
        ),
        (Identity("no certificate") { TLS.Identity(certificatePath: path("client.key.pem")) }, "no PEM certificate"),
        (Identity("no key") { TLS.Identity(certificatePath: path("client.pem")) }, "no PEM private key"),
        (Identity("nonsense") { TLS.Identity(certificate: Data("nonsense".utf8)) }, "no PEM certificate"),
        (Identity("closed PKCS #12") { TLS.Identity(pkcs12Path: path("client.p12")) }, "needs a passphrase"),
        (
            Identity("wrong passphrase of PKCS #12") {
                TLS.Identity(pkcs12Path: path("client.p12"), passphrase: "s3same")
            },
            "the passphrase is wrong, or it is not PKCS #12"
        ),
        (
            Identity("no PKCS #12") { TLS.Identity(pkcs12: try bytes("client.pem"), passphrase: "s3same") },
            "the passphrase is wrong, or it is not PKCS #12"
        ),
    ]

    @Test(arguments: bad) func errorExplainsAnInvalidIdentity(identity: Identity, problem: String) async throws {
        let error = try await transport.failure(of: request { $0.identity = try identity.make() })
        #expect(error.kind == .badConfiguration && error.phase == .build)
        #expect(error.message.hasPrefix("TransferOptions.identity: "), "\(error)")
        #expect(error.message.contains(problem), "\(error)")
        #expect(!error.mayHaveReachedServer)
        #expect(!"\(error)".contains("s3same"))
        #expect(try await transport.perform(request { $0.identity = try Self.good[0].make() }).status == .ok)
    }

    // MARK: pins

    private static func pin() throws -> TLS.PublicKeyPin {
        try TLS.PublicKeyPin(String(decoding: bytes("good.pin"), as: UTF8.self))
    }
    private static func wrongPin() throws -> TLS.PublicKeyPin {
        try TLS.PublicKeyPin(Data(count: 32).base64EncodedString())
    }

    @Test func serverWithAPinnedKeyIsAccepted() async throws {
        #expect(try await transport.perform(request(port: \.secure) { $0.pins = [try Self.pin()] }).status == .ok)
        let both = try request(port: \.secure) { $0.pins = [try Self.wrongPin(), try Self.pin()] }
        #expect(try await transport.perform(both).status == .ok)
    }

    @Test func serverWithAnotherKeyIsRejectedDespiteAnOpenConnection() async throws {
        _ = try await transport.perform(request(port: \.secure) { _ in })
        _ = try await transport.perform(request(port: \.secure) { $0.pins = [try Self.pin()] })
        let error = try await transport.failure(of: request(port: \.secure) { $0.pins = [try Self.wrongPin()] })
        #expect(error.kind == .tls && error.phase == .tls)
        #expect(error.advice?.contains("TransferOptions.pins") == true)
        #expect(!error.mayHaveReachedServer)
    }

    @Test(arguments: ["", "sha256//", "c2hvcnQ=", "sha256//****", String(repeating: "A", count: 44)])
    func invalidPinIsRejected(_ text: String) {
        let error = #expect(throws: NetworkError.self) { try TLS.PublicKeyPin(text) }
        #expect(error?.kind == .badConfiguration)
        #expect(error?.message.hasPrefix("TransferOptions.pins: ") == true)
    }

    // MARK: trust

    @Test func onlyTheGivenAuthoritiesAreTrusted() async throws {
        let own = try request(port: \.secure) { $0.trust = .authorities(try Self.bytes("ca.pem")) }
        #expect(try await transport.perform(own).status == .ok)
        #expect(try await transport.perform(own).metrics.isConnectionReused)
        let others = try request(port: \.secure) { $0.trust = .authorities(try Self.bytes("self-signed.pem")) }
        let error = try await transport.failure(of: others)
        #expect(error.kind == .tls && error.advice?.contains("TLS.Trust") == true, "\(error)")
    }

    @Test func nativeTrustIsRejectedIfUnsupported() async throws {
        guard !CurlTransport.capabilities.contains(.nativeTrust) else { return }
        let error = try await transport.failure(of: request { $0.trust = .native })
        #expect(error.kind == .unsupported && error.message.hasPrefix("TransferOptions.trust: libcurl "))
    }

    // MARK: versions and suites

    @Test func serverBelowTheMinimumVersionIsRejectedDespiteAConnection() async throws {
        #expect(try await NginxPeer.ObservedClient(transport.perform(request(port: \.old) { _ in })).tls == "TLSv1.2")
        let error = try await transport.failure(of: request(port: \.old) { $0.minimumTLS = .tls13 })
        #expect(error.kind == .tls && error.phase == .tls, "\(error)")
        let newer = try request {
            $0.minimumTLS = .tls13
            $0.identity = try Self.good[0].make()
        }
        #expect(try await NginxPeer.ObservedClient(transport.perform(newer)).tls == "TLSv1.3")
    }

    @Test(arguments: ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384"])
    func offeredCipherSuiteIsUsed(_ name: String) async throws {
        let request = request(port: \.old) { $0.ciphers.tls12 = [name] }
        #expect(try await NginxPeer.ObservedClient(transport.perform(request)).cipher == name)
    }

    @Test(arguments: ["TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"])
    func offeredTLS13CipherSuiteIsUsed(_ name: String) async throws {
        let request = try request {
            $0.ciphers.tls13 = [name]
            $0.identity = try Self.good[0].make()
        }
        #expect(try await NginxPeer.ObservedClient(transport.perform(request)).cipher == name)
    }

    @Test func errorNamesTheCipherOptionOfAnUnknownSuite() async throws {
        for ciphers in [TLS.Ciphers(tls12: ["NO-SUCH-SUITE"]), TLS.Ciphers(tls13: ["NO-SUCH-SUITE"])] {
            let error = try await transport.failure(of: request(port: \.old) { $0.ciphers = ciphers })
            #expect(error.kind == .badConfiguration && error.message.hasPrefix("TransferOptions.ciphers: "), "\(error)")
            #expect(!error.mayHaveReachedServer)
        }
    }

    // MARK: versions of HTTP, early data

    @Test func unsupportedFeatureIsReportedWithTheLibcurlVersion() async throws {
        let capabilities = CurlTransport.capabilities
        let asks: [(CurlTransport.Capabilities.Feature, @Sendable (inout TransferOptions) -> Void)] = [
            (.http3, { $0.version = .http3 }), (.earlyData, { $0.usesEarlyData = true }),
        ]
        for (feature, ask) in asks {
            let request = request(port: \.secure) { ask(&$0) }
            guard capabilities.contains(feature) else {
                let error = try await transport.failure(of: request)
                #expect(error.kind == .unsupported && error.message.hasPrefix("TransferOptions."))
                #expect(error.message.contains("libcurl \(capabilities.version) with \(capabilities.tls)"))
                #expect(error.advice?.hasPrefix("use ") == true)
                continue
            }
            #expect(try await transport.perform(request).status == .ok)
        }
    }
}
