import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Requests with `Expect: 100-continue` (RFC 9110, 10.1.1).
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct ExpectTests {
    let transport = CurlTransport()

    private func options(_ expect: TransferOptions.ExpectPolicy) -> TransferOptions {
        var options = TransferOptions.limited
        options.expect = expect
        return options
    }

    @Test func bodyWaitsFor100Continue() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(readsBodies: false) { _ in
            .sequence([.gate(gate), .raw("HTTP/1.1 100 Continue\r\n\r\n"), .stall])
        }
        let size = 4 << 20
        let options = options(.ask(from: 0, timeout: .seconds(600)))
        let completion = Completion()
        let request = try server.request(.put, body: HTTPBody(Data(count: size)), options: options)
        let token = transport.perform(request, completion: completion.complete)
        await server.until { $0.requestCount == 1 }
        #expect(server.requests[0]["Expect"] == "100-continue")
        #expect(server.record.bytesReceived == server.requests[0].raw.count)
        gate.open()
        #expect(await server.until { $0.bytesReceived > size })
        token.cancel()
        #expect(await completion.result.failure?.phase == .firstByte)
    }

    @Test func bodyIsNotSentAfterARejection() async throws {
        let server = try LoopbackServer(readsBodies: false) { _ in .response(413, ["Connection": "close"], "too much") }
        let options = options(.ask(from: 0, timeout: .seconds(600)))
        let request = try server.request(.post, body: HTTPBody(Data(count: 1 << 20)), options: options)
        let response = try await transport.perform(request)
        #expect(response.status.code == 413)
        #expect(response.metrics.bytesSent == 0)
        #expect(try await response.text() == "too much")
    }

    struct Body: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: HTTPBody
        var asks = true
    }

    static let bodies = [
        Body(testDescription: "as large as the threshold", body: HTTPBody("12345")),
        Body(testDescription: "smaller", body: HTTPBody("1234"), asks: false),
        Body(testDescription: "of unknown length", body: .stream { AsyncStream([Data("1".utf8)]) }),
    ]

    @Test(arguments: bodies) func expectIsSentForBodiesFromTheThreshold(_ body: Body) async throws {
        let server = try LoopbackServer(.response(200))
        let options = options(.ask(from: 5, timeout: .milliseconds(1)))
        let response = try await transport.perform(server.request(.post, body: body.body, options: options))
        #expect(response.status.code == 200)
        #expect(server.requests[0].values(of: "Expect") == (body.asks ? ["100-continue"] : []))
    }

    @Test func expectIsNotSentByDefault() async throws {
        let server = try LoopbackServer(.response(200))
        _ = try await transport.perform(server.request(.post, body: HTTPBody(Data(count: 4 << 20))))
        #expect(server.requests[0]["Expect"] == nil)
    }

    /// A 417 response means that the server doesn't support `Expect`, not that it rejects the request.
    @Test(arguments: [true, false]) func requestIsResentWithoutExpectAfter417(isStreamed: Bool) async throws {
        let server = try LoopbackServer(readsBodies: false) { request in
            let status = request["Expect"] == nil ? 200 : 417
            return .response(status, ["Connection": "close"], "ok")
        }
        let body = isStreamed ? .stream { AsyncStream([Data("pay".utf8)]) } : HTTPBody("pay")
        let options = options(.ask(from: 0, timeout: .seconds(600)))
        let response = try await transport.perform(server.request(.post, body: body, options: options))
        #expect(response.status.code == 200)
        #expect(response.metrics.resends == 1)
        // The rest of an unread body looks like another request if the server is slow to see the end.
        #expect(server.requests.filter { $0.method == "POST" }.map { $0["Expect"] } == ["100-continue", nil])
    }

    /// A stream that waits for its first bytes was started, and can't be started again.
    @Test func startedBodyStreamIsNotStartedAgain() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(readsBodies: false) { request in
            let status = request["Expect"] == nil ? 200 : 417
            return .sequence([.gate(gate), .response(status, ["Connection": "close"], "ok")])
        }
        let (chunks, producer) = AsyncStream.makeStream(of: Data.self)
        let begun = Lock(0)
        let body = HTTPBody.stream {
            begun.withLock { $0 += 1 }
            gate.open()
            return chunks
        }
        let options = options(.ask(from: 0, timeout: .milliseconds(1)))
        let error = try await transport.failure(of: server.request(.post, body: body, options: options))
        #expect(error.kind == .status && error.response?.status.code == 417, "\(error)")
        #expect(begun.withLock { $0 } == 1)
        producer.finish()
    }

    @Test func status417WithoutExpectIsReturned() async throws {
        let server = try LoopbackServer(.response(417))
        let response = try await transport.perform(server.request(.post, body: HTTPBody("x")))
        #expect(response.status.code == 417)
        #expect(server.requests.count == 1)
    }
}
