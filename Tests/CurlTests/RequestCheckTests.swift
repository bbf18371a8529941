import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Invalid requests, which are rejected before anything is sent.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct RequestCheckTests {
    struct Message: Sendable, CustomTestStringConvertible {
        var scheme: String? = "http"
        var authority: String?
        var path: String? = "/"
        let kind: NetworkError.Kind
        var testDescription: String { "\(scheme ?? "nil")://\(authority ?? "nil")\(path ?? "nil")".debugDescription }
    }

    /// `HERE` stands for the authority of a server that must not receive the request.
    static let messages = [
        Message(scheme: nil, authority: "HERE", kind: .badURL),
        Message(scheme: "", authority: "HERE", kind: .badURL),
        Message(scheme: "ftp", authority: "HERE", kind: .unsupportedScheme),
        Message(scheme: "file", authority: "", path: "/etc/passwd", kind: .unsupportedScheme),
        Message(scheme: "gopher", authority: "HERE", kind: .unsupportedScheme),
        Message(scheme: "ht tp", authority: "HERE", kind: .unsupportedScheme),
        Message(authority: nil, kind: .badURL),
        Message(authority: "", kind: .badURL),
        Message(authority: ":80", kind: .badURL),
        Message(authority: "127.0.0.1:99999", kind: .badURL),
        Message(authority: "127.0.0.1:0", kind: .badURL),
        Message(authority: "127.0.0.1:-1", kind: .badURL),
        Message(authority: "127.0.0.1:http", kind: .badURL),
        Message(authority: "127.0.0.1:+80", kind: .badURL),
        Message(authority: "127.0.0.1:", kind: .badURL),
        Message(authority: "user:word@HERE", kind: .badURL),
        Message(authority: "HERE/path", kind: .badURL),
        Message(authority: "HERE?query", kind: .badURL),
        Message(authority: "HERE\r\nX: y", kind: .badURL),
        Message(authority: "a b", kind: .badURL),
        Message(authority: "a\u{0}b", kind: .badURL),
        Message(authority: "[::1", kind: .badURL),
        Message(authority: "HERE", path: "/ HTTP/1.1\r\nX: y", kind: .badURL),
        Message(authority: "HERE", path: "/a b", kind: .badURL),
        Message(authority: "HERE", path: "/a\u{0}b", kind: .badURL),
        Message(authority: "HERE", path: "/a\u{7F}b", kind: .badURL),
        Message(authority: "HERE", path: "/ä", kind: .badURL),
        Message(authority: "HERE", path: "/a#b", kind: .badURL),
        Message(authority: "HERE", path: "a", kind: .badURL),
        Message(authority: "HERE", path: "", kind: .badURL),
    ]

    @Test(arguments: messages) func invalidRequestIsRejectedBeforeItIsSent(_ message: Message) async throws {
        let server = try LoopbackServer(.response(200))
        let transport = CurlTransport()
        let head = HTTPRequest(
            method: .get,
            scheme: message.scheme,
            authority: message.authority?.replacing("HERE", with: server.authority),
            path: message.path
        )
        let error = try await transport.failure(of: TransferRequest(head, options: .limited))
        #expect(error.kind == message.kind, "\(error)")
        #expect(error.phase == .build)
        #expect(!error.mayHaveReachedServer)
        #expect(server.record.connections == 0)
        try await transport.proveHealth()
    }

    @Test(arguments: ["Content-Length", "Transfer-Encoding"])
    func framingFieldOfTheCallerIsRejected(_ name: String) async throws {
        let server = try LoopbackServer(.response(200))
        let request = try server.request(.post, "/", [name: "1"], body: HTTPBody("body"))
        #expect(try await CurlTransport().failure(of: request).kind == .badRequest)
        #expect(server.record.connections == 0)
    }

    @Test func hostWithTooLongLabelIsNotResolved() async throws {
        let host = String(repeating: "a", count: 70) + ".invalid"
        let head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/")
        let error = try await CurlTransport().failure(of: TransferRequest(head, options: .limited))
        #expect([.dns, .badURL].contains(error.kind), "\(error)")
        #expect(!error.mayHaveReachedServer)
    }

    @Test func connectingToAClosedPortIsAConnectError() async throws {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:1", path: "/")
        let error = try await CurlTransport().failure(of: TransferRequest(head, options: .limited))
        #expect(error.kind == .connect)
        #expect(error.phase == .connect)
        #expect(error.isOffline && !error.mayHaveReachedServer)
        #expect(error.transportCode == 7)
        #expect(error.advice != nil)
    }

    @Test func asteriskIsAValidTargetForOptions() async throws {
        let server = try LoopbackServer(.response(200))
        _ = try await CurlTransport().perform(server.request(.options, "*"))
        #expect(server.requests.map(\.target) == ["*"])
    }
}
