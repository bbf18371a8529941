import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Bandwidth limits and minimum speed of bodies.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct SpeedTests {
    let transport = CurlTransport()

    // MARK: bandwidth

    /// The server's send stalls only if the client reads more slowly than the server sends.
    @Test func receivingIsThrottled() async throws {
        let server = try LoopbackServer(.response(200, [:], Data(count: 32 << 20)))
        var options = TransferOptions(timeouts: TransferOptions.Timeouts(total: nil))
        options.bandwidth.receive = 10_000
        let completion = Completion()
        let token = transport.perform(try server.request(options: options), completion: completion.complete)
        await server.until { $0.stalledSends == 1 || $0.responses == 1 }
        #expect(server.record.responses == 0)
        token.cancel()
        #expect(await completion.result.failure?.isCancelled == true)
    }

    /// The limit also applies at the beginning: libcurl 7.88 alone would receive a megabyte immediately.
    @Test(arguments: [TransferRequest.Delivery.collect, .stream])
    func receivingTakesTheTimeOfTheLimit(_ delivery: TransferRequest.Delivery) async throws {
        let body = StreamTests.pattern(300_000)
        let server = try LoopbackServer(.response(200, [:], body))
        var options = TransferOptions.limited
        options.bandwidth.receive = 300_000
        var received = Data()
        let time = try await ContinuousClock().measure {
            let request = try server.request(options: options, delivery: delivery)
            received = try await transport.perform(request).body.collect()
        }
        #expect(received == body)
        #expect(time >= .milliseconds(800), "\(time)")
    }

    @Test func sendingIsThrottled() async throws {
        let server = try LoopbackServer(.response(200))
        var options = TransferOptions(timeouts: TransferOptions.Timeouts(total: .milliseconds(500)))
        options.bandwidth.send = 100_000
        let body = HTTPBody(Data(count: 16 << 20))
        let error = try await transport.failure(of: server.request(.post, body: body, options: options))
        #expect(error.isTimeout && error.phase == .send, "\(error)")
        let metrics = try #require(error.metrics)
        #expect(metrics.bytesSent < 1 << 20)
        try await transport.proveHealth()
    }

    /// libcurl sends at most 64 KiB at a time. Then it waits for longer than the second after which a server counts as
    /// one that reads nothing more. The response is there after the first wait.
    @Test func throttledUploadIsCompleteAfterTheResponse() async throws {
        let server = try LoopbackServer(readsBodies: false) { _ in
            .sequence([.response(200, [:], "early"), .stall])
        }
        var options = TransferOptions.limited
        options.bandwidth.send = 50 << 10
        let body = HTTPBody(Data(count: 150 << 10))
        let response = try await transport.perform(server.request(.put, body: body, options: options))
        #expect(try await response.text() == "early")
        #expect(response.metrics.bytesSent >= Int64(150 << 10))
    }

    @Test(arguments: [false, true])
    func throttledBodyIsCompleteWithAPausedReader(onThePortableLoop isPortable: Bool) async throws {
        let body = StreamTests.pattern(3 << 20)
        let server = try LoopbackServer(.response(200, [:], body))
        var options = TransferOptions.limited
        options.bandwidth.receive = 4 << 20
        let transport = CurlTransport(isPortable: isPortable)
        let response = try await transport.perform(server.request(options: options, delivery: .stream))
        await server.until { $0.stalledSends == 1 || $0.responses == 1 }
        #expect(try await response.body.collect() == body)
    }

    @Test func prefetchIsThrottledUntilItsPriorityIsRaised() async throws {
        let body = StreamTests.pattern(16 << 20)
        let server = try LoopbackServer(.response(200, [:], body))
        var configuration = CurlTransport.Configuration()
        configuration.prefetchBytesPerSecond = 50_000
        let transport = CurlTransport(configuration)
        var options = TransferOptions(timeouts: TransferOptions.Timeouts(total: nil))
        options.priority = .prefetch
        let completion = Completion()
        let token = transport.perform(try server.request(options: options), completion: completion.complete)
        await server.until { $0.stalledSends == 1 || $0.responses == 1 }
        #expect(server.record.responses == 0)
        token.raise(to: .normal)
        #expect(try await completion.result.get().body.collect() == body)
    }

    // MARK: minimum speed

    private func options(_ minimum: TransferOptions.MinimumSpeed, firstByte: Duration = .seconds(20)) -> TransferOptions
    {
        var options = TransferOptions(
            timeouts: TransferOptions.Timeouts(firstByte: firstByte, idle: nil, total: .seconds(30))
        )
        options.minimumSpeed = minimum
        return options
    }

    @Test func slowDownloadTimesOut() async throws {
        let head = LoopbackServer.Response.raw("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
        let server = try LoopbackServer(
            .sequence([head, .dribble(Data(repeating: 0x41, count: 10_000), every: .milliseconds(10))])
        )
        let slow = options(TransferOptions.MinimumSpeed(bytesPerSecond: 10_000, over: .milliseconds(200)))
        let error = try await transport.failure(of: server.request(options: slow))
        #expect(error.isTimeout && error.phase == .body, "\(error)")
        #expect(error.message.contains("10000 bytes per second"))
        #expect(error.advice?.hasPrefix("decrease TransferOptions.minimumSpeed") == true)
        try await transport.proveHealth()
    }

    @Test func bodyAboveTheMinimumSpeedIsReceived() async throws {
        let head = LoopbackServer.Response.raw("HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n")
        let server = try LoopbackServer(
            .sequence([head, .dribble(Data(repeating: 0x41, count: 40), every: .milliseconds(10))])
        )
        let limited = options(TransferOptions.MinimumSpeed(bytesPerSecond: 1, over: .milliseconds(100)))
        #expect(try await transport.perform(server.request(options: limited)).text().count == 40)
    }

    @Test func slowUploadTimesOut() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(readsBodies: false) { _ in .gate(gate) }
        let slow = options(TransferOptions.MinimumSpeed(bytesPerSecond: 10_000, over: .milliseconds(200)))
        let body = HTTPBody(Data(count: 32 << 20))
        let error = try await transport.failure(of: server.request(.post, body: body, options: slow))
        #expect(error.isTimeout && error.phase == .send, "\(error)")
        #expect(error.advice?.hasPrefix("decrease TransferOptions.minimumSpeed") == true)
    }

    @Test func minimumSpeedIgnoresTheWaitForTheResponse() async throws {
        let server = try LoopbackServer(.stall)
        let slow = options(
            TransferOptions.MinimumSpeed(bytesPerSecond: 1_000, over: .milliseconds(50)),
            firstByte: .milliseconds(300)
        )
        let error = try await transport.failure(of: server.request(.post, body: HTTPBody("x"), options: slow))
        #expect(error.isTimeout && error.phase == .firstByte, "\(error)")
        #expect(error.advice?.contains("Timeouts.firstByte") == true)
    }

    @Test func minimumSpeedIgnoresAPausedReader() async throws {
        let body = Data(repeating: 1, count: 16 << 20)
        let server = try LoopbackServer(.response(200, [:], body))
        let slow = options(TransferOptions.MinimumSpeed(bytesPerSecond: 1_000, over: .milliseconds(100)))
        let response = try await transport.perform(server.request(options: slow, delivery: .stream))
        // The pipe is full for longer than the window before the reader begins.
        await server.until { $0.stalledSends == 1 }
        #expect(try await response.body.collect().count == body.count)
    }
}
