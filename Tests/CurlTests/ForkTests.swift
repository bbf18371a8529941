import BeagleNetTesting
import Foundation
import Testing

/// A transport in a process that forks, which the tests' own must not.
@Suite(.timeLimit(.minutes(1)))
struct ForkTests {
    @Test func childHasConnectionsOfItsOwnAndLeavesTheParentsAlone() async throws {
        let server = try LoopbackServer(.response(200))
        let probe = Process()
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
        let folder = bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
        probe.executableURL = folder.appending(path: "ForkProbe")
        probe.arguments = [server.authority]
        let (endings, continuation) = AsyncStream.makeStream(of: Int32.self)
        probe.terminationHandler = {
            continuation.yield($0.terminationStatus)
            continuation.finish()
        }
        try probe.run()
        #expect(await endings.first { _ in true } == 0)
        #expect(server.requests.map(\.target) == ["/parent", "/child", "/parent-again"])
        #expect(server.requests.map(\.connection) == [1, 2, 1])
    }
}
