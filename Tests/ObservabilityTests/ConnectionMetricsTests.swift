import BeagleNet
import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetObservability
import BeagleNetTesting
import CurlPeers
import MetricsTestKit
import Testing

@Suite(.leavesNothing, .beagle(.live) { $0.logger = .off }, .timeLimit(.minutes(5))) struct ConnectionMetricsTests {
    private let metrics = TestMetrics()
    private let clock = ManualClock()
    private let transport = CurlTransport()

    private func values(_ state: String) throws -> [Double] {
        try metrics.expectMeter("http.client.open_connections", [("http.connection.state", state)]).values
    }

    @Test func connectionsAreMeasuredPeriodically() async throws {
        Beagle.dependencies.clock = clock
        let server = try LoopbackServer { request in
            request.target == "/slow" ? .response(200, ["Content-Length": "9"]) : .response(200, [:], "hello")
        }
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        let measuring = ConnectionMetrics(of: transport, factory: metrics)
        await clock.waitForSleepers(1)
        _ = try await client.executeRequest(raw("\(server.url)/a"))
        clock.advance(by: .seconds(10))
        await clock.waitForSleepers(1)
        let stream = try await client.stream(raw("\(server.url)/slow"))
        clock.advance(by: .seconds(10))
        await clock.waitForSleepers(1)
        #expect(try values("active") == [0, 0, 1])
        #expect(try values("idle") == [0, 1, 0])
        measuring.cancel()
        while clock.nextWait != nil { await Task.yield() }
        withExtendedLifetime((stream, client, server)) {}
    }

    @Test func releasingTheMetricsEndsTheMeasurement() async {
        Beagle.dependencies.clock = clock
        do {
            let measuring = ConnectionMetrics(of: transport, factory: metrics)
            await clock.waitForSleepers(1)
            withExtendedLifetime(measuring) {}
        }
        while clock.nextWait != nil { await Task.yield() }
    }

    @Test func shutDownTransportHasNoOpenConnections() async throws {
        let server = try LoopbackServer { _ in .response(200) }
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        #expect(await transport.openConnections() == ConnectionCount())
        _ = try await client.executeRequest(raw("\(server.url)/a"))
        #expect(await transport.openConnections() == ConnectionCount(idle: 1))
        let owned = transport
        async let counts = withTaskGroup { group in
            for _ in 0..<100 { group.addTask { await owned.openConnections() } }
            return await group.reduce(0) { count, _ in count + 1 }
        }
        transport.shutDown()
        #expect(await counts == 100)
        #expect(await transport.openConnections() == ConnectionCount())
        withExtendedLifetime((client, server)) {}
    }
}
