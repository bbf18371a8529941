import BeagleNetHTTP
import CurlPeers
import Foundation
import Testing

@testable import beagle

/// `beagle ws` with another project's server: PyPI's websockets.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: WebSocketPeer.isAvailable, "websockets is not installed: scripts/setup.sh --peers")
)
struct WebSocketServersTests {
    private let peer: WebSocketPeer

    init() throws {
        peer = try WebSocketPeer.shared.get()
    }

    private func started(
        _ way: WebSocketPeer.Way,
        _ path: String,
        _ flags: [String],
        input: Data = Data(),
        keepsInputOpen: Bool = false
    ) throws -> BeagleProcess {
        var arguments = ["ws", peer.request(way, path).head.urlText]
        if way.isSecure { arguments += ["--cacert", Peer.path("Certificates/ca.pem")] }
        if way.isTunnelled { arguments += ["-x", "127.0.0.1:\(peer.ports["proxy"] ?? 0)"] }
        return try BeagleProcess(arguments + flags, bytes: input, keepsInputOpen: keepsInputOpen)
    }

    private func run(
        _ way: WebSocketPeer.Way,
        _ path: String,
        _ flags: String...,
        input: Data = Data()
    ) async throws -> BeagleProcess.Outcome {
        try await started(way, path, flags, input: input).outcome()
    }

    /// `--json` distinguishes text from bytes. The server echoes each message with its type.
    @Test(arguments: WebSocketPeer.Way.allCases) func linesAreEchoedAsText(_ way: WebSocketPeer.Way) async throws {
        let run = try await run(way, "/echo", "--count", "3", "--json", input: Data("größer\n\nlast".utf8))
        #expect(run.exit == 0, "\(run.errors)")
        #expect(try run.json()["result"]?["messages"] == ["größer", "", "last"])
        #expect(try run.json()["result"]?["close"]?["code"] == 1000)
    }

    @Test(arguments: WebSocketPeer.Way.allCases) func linesAreEchoedAsBytes(_ way: WebSocketPeer.Way) async throws {
        let bytes = Data([0, 0x7F, 0xC3, 0xFF])
        let run = try await run(way, "/echo", "--binary", "--count", "2", "--json", input: bytes + [0x0A, 0x0A])
        #expect(run.exit == 0, "\(run.errors)")
        let messages = try run.json()["result"]?["messages"]
        #expect(messages == [["base64": .string(bytes.base64EncodedString())], ["base64": ""]])
    }

    @Test(arguments: WebSocketPeer.Way.allCases, [false, true])
    func messageOf16MiBIsEchoedCompletely(_ way: WebSocketPeer.Way, isBinary: Bool) async throws {
        // Without line feeds, and for text only ASCII.
        var message = Data((0x20..<(isBinary ? 0xFF : 0x7F)).map { UInt8($0) })
        while message.count < 16 << 20 { message += message.prefix(16 << 20 - message.count) }
        let flags = isBinary ? ["--binary"] : []
        let run = try await started(way, "/echo", flags + ["--count", "1"], input: message + [0x0A]).outcome()
        #expect(run.exit == 0, "\(run.errors)")
        #expect(run.output.count == message.count + 1)
        // `#expect` would take too long to find a difference in so much data.
        let isWhole = run.output == message + [0x0A]
        #expect(isWhole)
    }

    @Test(arguments: WebSocketPeer.Way.allCases, ["/fragments", "/pings"])
    func fragmentsAreJoinedIntoOneMessage(_ way: WebSocketPeer.Way, path: String) async throws {
        let run = try await run(way, path, "--count", "1", "--json")
        #expect(run.exit == 0, "\(run.errors)")
        #expect(try run.json()["result"]?["messages"] == ["one two three"])
    }

    @Test func countEndsTheCommandWhileTheServerHasMore() async throws {
        let run = try await started(.plain, "/flood?100", ["--count", "3"], keepsInputOpen: true).outcome()
        #expect(run.exit == 0, "\(run.errors)")
        #expect(run.lines == ["0", "1", "2"])
    }

    @Test func serverEndsTheCommandWithoutACount() async throws {
        let run = try await started(.plain, "/flood?3", [], keepsInputOpen: true).outcome()
        #expect(run.exit == 0, "\(run.errors)")
        #expect(run.lines == ["0", "1", "2"])
        let failed = try await started(.plain, "/close?1011", [], keepsInputOpen: true).outcome()
        #expect(failed.exit == 56)
        #expect(failed.errors.contains("1011: as asked"), "\(failed.errors)")
    }

    @Test func endOfInputClosesWithCode1000() async throws {
        let identity = UUID().uuidString
        let run = try await run(.plain, "/wait?\(identity)")
        #expect(run.exit == 0, "\(run.errors)")
        #expect(try await self.run(.plain, "/code?\(identity)", "--count", "1").lines == ["1000"])
    }

    @Test func serverPicksASubprotocol() async throws {
        let run = try await run(.plain, "/flood?1", "--subprotocol", "none", "--subprotocol", "superchat", "--json")
        #expect(run.exit == 0, "\(run.errors)")
        #expect(try run.json()["result"]?["subprotocol"] == "superchat")
    }

    @Test func untrustedServerIsRejected() async throws {
        let url = peer.request(.secure, "/echo").head.urlText
        for flags in [[], ["--cacert", Peer.path("Certificates/self-signed.pem")]] {
            let run = try await BeagleProcess(["ws", url, "--count", "1"] + flags, input: "a\n").outcome()
            #expect(run.exit == 60)
            #expect(run.errors.contains("--cacert"), "\(run.errors)")
            #expect(run.output.isEmpty)
        }
    }
}
