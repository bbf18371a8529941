import BeagleNet
import BeagleNetObservability
import BeagleNetTesting
import CoreMetrics
import CurlPeers
import MetricsTestKit
import Testing

/// Measurements of the default client over libcurl and real sockets.
@Suite(.leavesNothing, .beagle(.live) { $0.logger = .off }, .timeLimit(.minutes(5))) struct MetricsInterceptorTests {
    private let metrics = TestMetrics()

    private func measure(servers: Int = 100, templates: Int = 100) {
        Beagle.dependencies.interceptors.add(
            MetricsInterceptor(factory: metrics, servers: servers, templates: templates)
        )
    }

    private func dimensions(_ server: LoopbackServer, _ others: [String: String] = [:]) -> [(String, String)] {
        let own = [
            "http.request.method": "GET", "server.address": "127.0.0.1", "server.port": "\(server.port)",
            "url.template": "",
        ]
        return own.merging(others) { $1 }.map { ($0.key, $0.value) }
    }

    private func answered(_ server: LoopbackServer, _ status: String, _ version: String = "1.1") -> [(String, String)] {
        dimensions(
            server,
            ["http.response.status_code": status, "network.protocol.version": version, "error.type": ""]
        )
    }

    private var durations: [TestTimer] { metrics.timers(label: "http.client.request.duration") }

    /// Returns the distinct values of a dimension of the durations.
    private func values(of name: String) -> Set<String> {
        Set(durations.flatMap { $0.dimensions.filter { $0.0 == name }.map(\.1) })
    }

    @Test func attemptIsMeasured() async throws {
        let server = try serve { _ in .response(200, [:], "hello") }
        measure()
        _ = try await client().executeRequest(raw("/a"))
        let answered = answered(server, "200")
        let duration = try metrics.expectTimer("http.client.request.duration", answered)
        #expect(duration.values.count == 1 && duration.displayUnit == .seconds)
        #expect(try metrics.expectRecorder("http.client.request.body.size", answered).values == [0])
        #expect(try metrics.expectRecorder("http.client.response.body.size", answered).values == [5])
        #expect(try metrics.expectMeter("http.client.active_requests", dimensions(server)).values == [1, 0])
        #expect(try metrics.expectTimer("beagle.request.queue.duration", dimensions(server)).values.count == 1)
        #expect(metrics.counterTotal(label: "beagle.request.retries") == 0)
    }

    @Test func newAndReusedConnectionsAreCounted() async throws {
        let server = try serve { _ in .response(200) }
        measure()
        for _ in 1...3 { _ = try await client().executeRequest(raw("/a")) }
        func count(reused: Bool) throws -> Int64 {
            let dimensions = dimensions(server, ["beagle.connection.reused": "\(reused)"])
            return try metrics.expectCounter("beagle.request.connections", dimensions).totalValue
        }
        #expect(try count(reused: false) == 1 && count(reused: true) == 2)
    }

    @Test func durationUsesTheClientsClock() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try serve { _ in .sequence([.gate(gate), .response(200)]) }
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        measure()
        let client = try client()
        let request = try raw("/a")
        async let answer = client.executeRequest(request)
        await server.until { $0.requestCount == 1 }
        clock.advance(by: .milliseconds(1500))
        gate.open()
        _ = try await answer
        #expect(durations.map(\.values) == [[1_500_000_000]])
    }

    @Test func everyAttemptIsMeasuredAndRetriesAreCounted() async throws {
        let server = try serve { _ in .response(503) }
        measure()
        Beagle.dependencies.interceptors.replace(with: RetryInterceptor(backoff: Backoff(base: .zero, limit: 3)))
        await #expect(throws: NetworkError.self) { try await client().executeRequest(raw("/a")) }
        #expect(durations.map(\.values.count) == [3])
        #expect(values(of: "error.type") == ["503"])
        #expect(try metrics.expectCounter("beagle.request.retries", dimensions(server)).totalValue == 2)
    }

    @Test func everyRedirectIsMeasured() async throws {
        let other = try LoopbackServer(.response(200))
        let server = try serve { _ in .response(302, ["Location": "\(other.url)/b"]) }
        measure()
        _ = try await client().executeRequest(raw("/a"))
        for answered in [answered(server, "302", ""), answered(other, "200")] {
            #expect(try metrics.expectTimer("http.client.request.duration", answered).values.count == 1)
        }
        #expect(try metrics.expectMeter("http.client.active_requests", dimensions(server)).values == [1, 0])
    }

    @Test func streamIsActiveUntilItsBodyHasEnded() async throws {
        let server = try serve { _ in .response(200, [:], "abc") }
        measure()
        let stream = try await client().stream(raw("/a"))
        let active = try metrics.expectMeter("http.client.active_requests", dimensions(server))
        #expect(active.values == [1] && durations.isEmpty)
        _ = try await stream.collect()
        #expect(active.values == [1, 0] && durations.map(\.values.count) == [1])
    }

    @Test func failureIsMeasuredWithItsKind() async throws {
        let server = try serve { _ in .close }
        measure()
        await #expect(throws: NetworkError.self) { try await client().executeRequest(raw("/a", "POST")) }
        #expect(values(of: "error.type") == ["network"])
        #expect(values(of: "http.response.status_code") == [""])
        server.stop()
    }

    @Test func measurementsOfAMetricHaveTheSameDimensions() async throws {
        let server = try serve { request in
            switch request.target {
            case "/moved": .response(302, ["Location": "/a"])
            case "/broken": .close
            default: .response(200)
            }
        }
        measure()
        let client = try client()
        for path in ["/a", "/moved"] { _ = try await client.executeRequest(raw(path)) }
        for path in ["/broken", "http://127.0.0.1:1/"] {
            await #expect(throws: NetworkError.self) { try await client.executeRequest(raw(path, "POST")) }
        }
        var operation = try NetworkOperation(raw("/users/7"))
        operation.urlTemplate = "/users/{id}"
        _ = try await client.run(operation) { _ in }
        var names: [String: Set<[String]>] = [:]
        for timer in metrics.timers { names[timer.label, default: []].insert(timer.dimensions.map(\.0)) }
        for recorder in metrics.recorders { names[recorder.label, default: []].insert(recorder.dimensions.map(\.0)) }
        for counter in metrics.counters { names[counter.label, default: []].insert(counter.dimensions.map(\.0)) }
        for meter in metrics.meters { names[meter.label, default: []].insert(meter.dimensions.map(\.0)) }
        #expect(names.count == 7)
        for (name, found) in names { #expect(found.count == 1, "\(name): \(found)") }
        server.stop()
    }

    @Test func incompleteBodyHasNoSize() async throws {
        let server = try serve { request in
            .sequence([
                .raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"), request.target == "/stall" ? .stall : .close,
            ])
        }
        measure()
        do {
            let stream = try await client().stream(raw("/stall"))
            withExtendedLifetime(stream) {}
        }
        await #expect(throws: NetworkError.self) { try await client().executeRequest(raw("/close", "POST")) }
        #expect(durations.map(\.values.count) == [1, 1])
        #expect(metrics.recorders(label: "http.client.response.body.size").flatMap(\.values).isEmpty)
        #expect(metrics.recorders(label: "http.client.request.body.size").map(\.values) == [[0], [0]])
        server.stop()
    }

    @Test func unfollowedRedirectIsMeasuredAsOneRequest() async throws {
        let server = try serve { _ in .response(302, ["Location": "/b"]) }
        measure()
        let request = try raw("/a", redirects: .follow.deciding { _ in .refuse("no") })
        await #expect(throws: NetworkError.self) { try await client().executeRequest(request) }
        #expect(durations.map(\.values.count) == [1])
        #expect(values(of: "error.type") == ["blocked"])
        server.stop()
    }

    @Test func unsentRequestIsNotMeasured() async throws {
        measure()
        let client = try client()
        await #expect(throws: NetworkError.self) {
            try await client.run(NetworkOperation(raw("http://127.0.0.1:1/"), kind: .subscription)) { _ in }
        }
        #expect(durations.isEmpty && metrics.meters.isEmpty)
    }

    @Test func serversBeyondTheLimitAreGroupedExceptTheAppsOwn() async throws {
        let others = try (1...4).map { _ in try LoopbackServer(.response(200)) }
        let server = try serve { _ in .response(200) }
        measure(servers: 2)
        for other in others { _ = try await client().executeRequest(raw("\(other.url)/a")) }
        _ = try await client().executeRequest(raw("/a"))
        let named = [others[0], others[1], server].map { "\($0.port)" }
        #expect(values(of: "server.port") == Set(named + ["_OTHER"]))
        #expect(values(of: "server.address") == ["127.0.0.1", "_OTHER"])
    }

    @Test func templatesAndMethodsBeyondTheLimitAreGrouped() async throws {
        let server = try serve { _ in .response(200) }
        measure(templates: 1)
        for template in ["/a/{id}", "/b/{id}", "/c/{id}"] {
            var operation = try NetworkOperation(raw("/a", template == "/c/{id}" ? "BREW" : "GET"))
            operation.urlTemplate = template
            _ = try await client().run(operation) { _ in }
        }
        #expect(values(of: "url.template") == ["/a/{id}", "_OTHER"])
        #expect(durations.count == 3)
        #expect(values(of: "http.request.method") == ["GET", "_OTHER"])
        server.stop()
    }

    @Test func tracingAndMetricsInterceptorsWorkTogether() async throws {
        let server = try serve { request in
            request.target == "/a" ? .response(302, ["Location": "/b"]) : .response(200)
        }
        let tracer = W3CTracer()
        Beagle.dependencies.interceptors.add(TracingInterceptor(tracer: tracer))
        measure()
        _ = try await client().executeRequest(raw("/a"))
        #expect(tracer.spans.count == 2 && durations.count == 2)
        #expect(server.requests.map { $0["traceparent"] } == tracer.spans.map(\.traceparent))
    }
}
