import BeagleNetTesting
import Foundation
import TestPrograms
import Testing

/// A transport in a process that forks. The process of the tests must not fork.
@Suite(.timeLimit(.minutes(5)))
struct ForkTests {
    private typealias Request = LoopbackServer.Request

    @Test func forkedChildOpensItsOwnConnections() async throws {
        let gate = try LoopbackServer.Gate()
        let message = LoopbackServer.Response.sequence([.gate(gate), .raw(Data([0x81, 1, 0x61])), .stall])
        let server = try LoopbackServer { request in
            if let key = request["Sec-WebSocket-Key"] { return .webSocket(key, message) }
            if request.target == "/body" {
                return .sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"), .gate(gate), .raw("b")])
            }
            if request.target == "/parent-again" { gate.open() }
            return .response(200)
        }
        #expect(try await Program(Program.probe, [server.authority]).ending == .exit(0))
        // The probe replaces a child that hangs, so that there can be several requests.
        let (children, parent) = server.requests.reduce(into: ([Request](), [Request]())) {
            if $1.target == "/child" { $0.0.append($1) } else { $0.1.append($1) }
        }
        try #require(parent.map(\.target) == ["/parent", "/talk", "/body", "/parent-again"])
        #expect(parent[0].connection == parent[2].connection)
        #expect(Set(parent.map(\.connection)).count == 3)
        #expect(!children.isEmpty)
        #expect(Set(children.map(\.connection)).isDisjoint(with: parent.map(\.connection)))
    }
}

extension Program {
    /// The path of the helper program of the tests.
    static var probe: String {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
        let folder = bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
        return folder.appending(path: "ForkProbe").path
    }
}
