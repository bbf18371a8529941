import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

@Suite(.leavesNothing)
struct CurlConfigurationTests {
    struct Value: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout CurlTransport.Configuration) -> Void

        init(_ name: String, _ set: @escaping @Sendable (inout CurlTransport.Configuration) -> Void) {
            testDescription = name
            self.set = set
        }
    }

    static let values = [
        Value("maxIdleConnections is 0") { $0.maxIdleConnections = 0 },
        Value("maxIdleConnections is -1") { $0.maxIdleConnections = -1 },
        Value("maxIdleConnections is 100001") { $0.maxIdleConnections = 100_001 },
        Value("maxConnectionsPerOrigin is 0") { $0.maxConnectionsPerOrigin = 0 },
        Value("maxStreamsPerOrigin is 0") { $0.maxStreamsPerOrigin = 0 },
        Value("maxConnections is 0") { $0.maxConnections = 0 },
        Value("prefetchBytesPerSecond is 0") { $0.prefetchBytesPerSecond = 0 },
    ]

    @Test(arguments: values)
    func valueOutOfRangeFailsEachTransferAndNamesTheProperty(value: Value) async throws {
        var configuration = CurlTransport.Configuration()
        value.set(&configuration)
        let server = try LoopbackServer(.response(200, [:], "ok"))
        let transport = CurlTransport(configuration)
        for _ in 1...2 {
            let error = try await transport.failure(of: server.request())
            #expect(error.kind == .badConfiguration)
            #expect(error.message == "CurlTransport.Configuration.\(value.testDescription)")
        }
        #expect(server.requests.isEmpty)
    }
}
