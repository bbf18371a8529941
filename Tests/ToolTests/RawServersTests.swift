import BeagleNetHTTP
import CurlPeers
import Foundation
import Testing

@testable import beagle

/// `beagle raw` with nginx: connections and trust.
@Suite(.timeLimit(.minutes(5)), .enabled(if: NginxPeer.isAvailable, "nginx is not installed"))
struct RawServersTests {
    private let ports: NginxPeer.Ports

    init() throws {
        ports = try NginxPeer.shared.get().ports
    }

    private static func certificate(_ name: String) -> String { Peer.path("Certificates/\(name)") }

    /// Sends a request over TLS to a server whose certificate authority is trusted.
    private func run(_ port: UInt16, _ flags: [String]) async throws -> BeagleProcess.Outcome {
        let trust = ["--cacert", Self.certificate("ca.pem")]
        return try await beagle(["raw", "https://localhost:\(port)/"] + trust + flags)
    }

    private static let pass = ["--pass", "open sesame"]

    private static let serverReceivesTheClientCertificateArguments: [[String]] = [
        ["--cert", certificate("client.pem"), "--key", certificate("client.key.pem")],
        ["--cert", certificate("client.pem"), "--key", certificate("client.encrypted.key.pem")] + pass,
        ["--cert", certificate("client.both.pem")],
        ["--cert", certificate("client.p12"), "--cert-type", "P12"] + pass,
    ]

    @Test(arguments: Self.serverReceivesTheClientCertificateArguments)
    func serverReceivesTheClientCertificate(_ flags: [String]) async throws {
        let run = try await run(ports.mutual, flags)
        #expect(run.exit == 0, "\(run.errors)")
        #expect(try NginxPeer.ObservedClient(run.text).certificate == "CN=BeagleNet test client")
    }

    /// nginx returns 400 to clients without a certificate.
    @Test func serverRejectsClientsWithoutACertificate() async throws {
        let run = try await run(ports.mutual, [])
        #expect(run.exit == 22)
        #expect(run.text.contains("No required SSL certificate was sent"))
    }

    @Test func mismatchedKeyIsReported() async throws {
        let flags = ["--cert", Self.certificate("client.pem"), "--key", Self.certificate("good.key.pem")]
        let run = try await run(ports.mutual, flags)
        #expect(run.exit == 58)
        #expect(run.errors.contains("--cert: the private key does not match the certificate"), "\(run.errors)")
    }

    @Test func untrustedServerIsRejected() async throws {
        let url = "https://localhost:\(ports.secure)/"
        for flags in [[], ["--cacert", Self.certificate("self-signed.pem")]] {
            let run = try await beagle(["raw", url] + flags)
            #expect(run.exit == 60)
            #expect(run.errors.contains("--cacert"), "\(run.errors)")
            #expect(run.output.isEmpty)
        }
    }

    @Test func onlyAPinnedKeyIsAccepted() async throws {
        let right = "sha256//\(try String(contentsOfFile: Self.certificate("good.pin"), encoding: .utf8))"
        let wrong = "sha256//\(Data(count: 32).base64EncodedString())"
        for pins in [right, "\(wrong);\(right)"] {
            let run = try await run(ports.secure, ["--pinned", pins])
            #expect(run.exit == 0, "\(run.errors)")
            #expect(run.text.hasSuffix("HTTP/2.0 /"))
        }
        let run = try await run(ports.secure, ["--pinned", wrong])
        #expect(run.exit == 90)
        #expect(
            run.errors.contains("the server's public key does not match any pinned key (--pinned)"),
            "\(run.errors)"
        )
        #expect(run.output.isEmpty)
    }

    @Test func unixSocketIsUsed() async throws {
        let run = try await beagle("raw", "http://host.invalid/", "--unix-socket", ports.socket)
        #expect(run.exit == 0, "\(run.errors)")
        let sight = try NginxPeer.ObservedClient(run.text)
        #expect(sight.address == "unix:")
        #expect(sight.host == "host.invalid")
    }

    /// Negotiated over TLS, otherwise with prior knowledge. nginx returns the version that it received.
    @Test(arguments: [("--http2", "HTTP/2", "HTTP/2.0"), ("--http1.1", "HTTP/1.1", "HTTP/1.1")])
    func flagSelectsTheHTTPVersion(_ flag: String, shown: String, seen: String) async throws {
        let secure = try await run(ports.secure, [flag, "-i", "-v"])
        #expect(secure.exit == 0, "\(secure.errors)")
        #expect(secure.text.hasPrefix("\(shown) 200 "), "\(secure.text)")
        #expect(secure.text.hasSuffix(" \(seen) /"))
        #expect(secure.errors.contains("\n< \(shown) "), "\(secure.errors)")
        let port = flag == "--http2" ? ports.plain : ports.simple
        let plain = try await beagle("raw", "http://localhost:\(port)/", flag, "--json")
        #expect(try plain.json()["result"]?["protocol"] == .string(shown), "\(plain.errors)")
    }

    @Test func timeToConnectIsLimited() async throws {
        let backlog = try FullBacklog()
        let url = "http://127.0.0.1:\(backlog.port)/"
        // No other limit ends it before the test's time limit.
        let run = try await beagle("raw", url, "--connect-timeout", "0.5", "--max-time", "600", "--json")
        #expect(run.exit == 28)
        let error = try #require(try run.json()["error"])
        #expect(error["code"] == "timeout")
        #expect(error["phase"] == "connect")
        #expect(error["advice"] == "increase --connect-timeout")
    }
}

/// `beagle raw --netrc` with lighttpd, which requires credentials.
@Suite(.timeLimit(.minutes(5)), .enabled(if: LighttpdPeer.isAvailable, "lighttpd is not installed"))
struct NetrcTests {
    private static let netrcOfTheHomeFolderHasTheCredentialsArguments: [(String, Bool)] = [
        ("machine 127.0.0.1 login user password \"open sesame\"", true),
        ("default login user password \"open sesame\"", true),
        ("machine 127.0.0.1 login user password s3same", false),
        ("machine host.invalid login user password \"open sesame\"", false),
    ]

    @Test(arguments: Self.netrcOfTheHomeFolderHasTheCredentialsArguments)
    func netrcOfTheHomeFolderHasTheCredentials(_ text: String, isRight: Bool) async throws {
        let url = "http://\(try LighttpdPeer.shared.get().authority)/basic/file"
        try await withDirectory { home in
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(home)/.netrc"))
            let run = try await beagle("raw", url, "--netrc", environment: ["HOME": home])
            #expect(run.exit == (isRight ? 0 : 22), "\(run.errors)")
            #expect((run.text == "in\n") == isRight)
            #expect(run.errors.contains("401") == !isRight)
            #expect(!run.errors.contains("same"))
            #expect(try await beagle("raw", url, environment: ["HOME": home]).exit == 22)
        }
    }

    @Test func missingNetrcIsAnError() async throws {
        try await withDirectory { home in
            let run = try await beagle("raw", "http://127.0.0.1:1/", "--netrc", environment: ["HOME": home])
            #expect(run.exit == 26)
            #expect(run.errors.contains("cannot open \(home)/.netrc"), "\(run.errors)")
        }
    }
}
