import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import Testing

@Suite(.leavesNothing)
struct CurlConfigurationTests {
    @Test(arguments: [0, -1, 100_001])
    func valueOutOfRangeFailsEachTransferAndNamesTheProperty(count: Int) async throws {
        var configuration = CurlConfiguration()
        configuration.maxIdleConnections = count
        let server = try LoopbackServer(.response(200, [:], "ok"))
        let transport = CurlTransport(configuration)
        for _ in 1...2 {
            let error = try await transport.failure(of: server.request())
            #expect(error.kind == .badConfiguration)
            #expect(error.message == "CurlConfiguration.maxIdleConnections is \(count)")
        }
        #expect(server.requests.isEmpty)
    }
}
