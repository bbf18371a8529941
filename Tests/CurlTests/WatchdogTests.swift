import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct WatchdogTests {
    /// A SETTINGS frame and the head of an unfinished response with status 200 (RFC 9113, 4.1).
    private static let head = Data([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88])

    /// libcurl reports the head of a stream in a callback: blocking that callback has the effect of a flood of empty
    /// frames.
    @Test(arguments: [false, true])
    func watchdogClosesAConnectionThatBlocksLibcurl(onThePortableLoop isPortable: Bool) async throws {
        let server = try LoopbackServer(readsBodies: false) { _ in .sequence([.raw(Self.head), .stall]) }
        let transport = CurlTransport(isPortable: isPortable)
        let options = TransferOptions(timeouts: TransferOptions.Timeouts(total: .seconds(40)), version: .http2)
        let completion = Completion()
        async let end = server.until { $0.connections == 1 && $0.openConnections == 0 }
        transport.perform(try server.request(options: options, delivery: .stream)) { result in
            // Checked here and not in a task, because on a busy machine the test's task may run much later.
            let start = ContinuousClock.now
            while server.record.openConnections > 0, start.duration(to: .now) < .seconds(30) { usleep(10_000) }
            #expect(server.record.openConnections == 0)
            completion.complete(result)
        }
        #expect(await end)
        let body = try await completion.result.get().body
        let error = await #expect(throws: NetworkError.self) { try await body.collect() }
        #expect(error?.kind != .timeout, "\(String(describing: error))")
        try await transport.proveHealth()
    }
}
