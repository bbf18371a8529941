import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Streamed bodies of requests and responses.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct StreamTests {
    let transport = CurlTransport()

    /// Returns bytes that vary by position, so that lost, duplicated or swapped pieces are detected.
    static func pattern(_ count: Int) -> Data {
        // The period is a prime, so that pieces of a common size differ.
        var bytes = Data((0..<min(count, 65_521)).map { UInt8(truncatingIfNeeded: ($0 &* 0x9E37_79B1) >> 13) })
        while bytes.count < count { bytes += bytes.prefix(count - bytes.count) }
        return bytes
    }

    @Test func headIsReturnedBeforeTheBody() async throws {
        let gate = try LoopbackServer.Gate()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
        let server = try LoopbackServer(.sequence([.raw(head), .gate(gate), .raw("body")]))
        let response = try await transport.perform(server.request(delivery: .stream))
        #expect(response.head.status.code == 200)
        #expect(response.body.length == 4)
        gate.open()
        #expect(try await response.text() == "body")
    }

    private static let lengthIsThatOfTheActualBodyArguments: [(HTTPRequest.Method, String, Int64?)] = [
        (.get, "200 OK\r\nContent-Length: 4\r\n\r\nbody", 4),
        (.head, "200 OK\r\nContent-Length: 4\r\n\r\n", 0),
        (.get, "204 No Content\r\nContent-Length: 4\r\n\r\n", 0),
        (.get, "200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", nil),
    ]

    @Test(arguments: Self.lengthIsThatOfTheActualBodyArguments)
    func lengthIsThatOfTheActualBody(_ method: HTTPRequest.Method, _ answer: String, _ length: Int64?) async throws {
        let server = try LoopbackServer(.raw("HTTP/1.1 \(answer)"))
        let response = try await transport.perform(server.request(method, delivery: .stream))
        #expect(response.body.length == length)
        let count = try await response.body.collect().count
        if let length { #expect(count == Int(length)) }
    }

    @Test func metricsCoverTheWholeTransferAfterTheBodyHasEnded() async throws {
        let gate = try LoopbackServer.Gate()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
        let server = try LoopbackServer(.sequence([.raw(head), .gate(gate), .raw("body")]))
        let response = try await transport.perform(server.request(delivery: .stream))
        #expect(response.metrics.decodedBytes == 0)
        #expect(response.metrics.total >= response.metrics.firstByte)
        gate.open()
        #expect(try await response.text() == "body")
        #expect(response.metrics.decodedBytes == 4)
        #expect(response.metrics.bytesReceived == 4)
        #expect(response.metrics.total >= response.metrics.firstByte)
        #expect(response.metrics.protocolName == "HTTP/1.1")
    }

    @Test func metricsOfATruncatedStreamEndAtItsFailure() async throws {
        let server = try LoopbackServer(.sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .close]))
        let response = try await transport.perform(server.request(delivery: .stream))
        let error = await #expect(throws: NetworkError.self) { try await response.body.collect() }
        #expect(error?.metrics?.decodedBytes == 4)
        #expect(response.metrics == error?.metrics)
    }

    @Test func chunksAreDeliveredOnArrival() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(
            .sequence([
                .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n"), .gate(gate),
                .raw("3\r\ntwo\r\n0\r\n\r\n"),
            ])
        )
        let response = try await transport.perform(server.request(delivery: .stream))
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("one".utf8))
        gate.open()
        #expect(try await chunks.next() == Data("two".utf8))
        #expect(try await chunks.next() == nil)
        #expect(try await chunks.next() == nil)
    }

    @Test func slowReaderThrottlesTheServerAndReceivesEverything() async throws {
        let body = Self.pattern(64 << 20)
        let server = try LoopbackServer(.response(200, [:], body))
        let response = try await transport.perform(server.request(delivery: .stream))
        var chunks = response.body.makeAsyncIterator()
        var received = Data()
        while received.count < 1 << 20 { received += try #require(try await chunks.next()) }

        #expect(await server.until { $0.stalledSends > 0 })
        #expect(server.record.bytesSent < 32 << 20)
        #expect(server.record.responses == 0)

        while let chunk = try await chunks.next() { received += chunk }
        #expect(received == body)
        #expect(await server.until { $0.responses == 1 })
    }

    @Test func pausedStreamDoesNotBlockOtherTransfers() async throws {
        let server = try LoopbackServer(.response(200, [:], Data(count: 16 << 20)))
        let paused = try await transport.perform(server.request(delivery: .stream))
        await server.until { $0.stalledSends > 0 }
        for _ in 1...20 { try await transport.proveHealth() }
        #expect(try await paused.body.collect().count == 16 << 20)
    }

    /// Each stream could buffer a megabyte if it were the only one.
    @Test func unreadStreamsShareTheirBufferSpace() async throws {
        let server = try LoopbackServer(.response(200, [:], Data(count: 16 << 20)))
        let request = try server.request(delivery: .stream)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask { [transport] in
                    // With the first piece the reader takes all buffered bytes.
                    for try await _ in try await transport.perform(request).body {
                        #expect(await server.until { $0.stalledSends >= 64 })
                        break
                    }
                }
            }
            try await group.waitForAll()
        }
        #if COUNTS_LEFTOVERS
            let peak = try #require(ResourceTracker.current).peak(.buffered)
            #expect(peak >= 8 << 20 && peak <= 28 << 20)
        #endif
        #expect(try await transport.perform(request).body.collect().count == 16 << 20)
    }

    @Test func truncatedStreamEndsInAnError() async throws {
        let server = try LoopbackServer(.sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .close]))
        let response = try await transport.perform(server.request(delivery: .stream))
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("half".utf8))
        let error = await #expect(throws: NetworkError.self) { try await chunks.next() }
        #expect(error?.kind == .truncated)
        #expect(error?.response?.status.code == 200)
    }

    @Test func emptyStreamEndsImmediately() async throws {
        let server = try LoopbackServer { .response($0.target == "/none" ? 204 : 200) }
        for target in ["/none", "/empty"] {
            let response = try await transport.perform(server.request(.get, target, delivery: .stream))
            #expect(try await response.body.collect().isEmpty)
        }
    }

    @Test func retainedChunkKeepsOnlyItsOwnMemory() async throws {
        let server = try LoopbackServer(.response(200, [:], Self.pattern(4 << 20)))
        let response = try await transport.perform(server.request(delivery: .stream))
        var kept: Data?
        for try await chunk in response.body where kept == nil && chunk.count >= 16 << 10 { kept = chunk }
        #expect(kept != nil)
        #if COUNTS_LEFTOVERS
            #expect(try #require(ResourceTracker.current).inUse[.slab] == 1)
        #endif
        withExtendedLifetime((response, kept)) {}
    }

    // MARK: - Progress

    @Test func progressIsReportedPeriodicallyAndAtTheEnd() async throws {
        let body = Data(repeating: 7, count: 300)
        let head = Data("HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n".utf8)
        let server = try LoopbackServer(.sequence([.raw(head), .dribble(body, every: .milliseconds(1))]))
        let reports = Lock<[TransferRequest.Progress]>([])
        var request = try server.request()
        request.onProgress = { report in reports.withLock { $0.append(report) } }
        let start = ContinuousClock.now
        _ = try await transport.perform(request)
        let most = Int(start.duration(to: .now) / ProgressPace.interval) + 2
        let counts = reports.withLock { $0.map(\.bytesReceived) }
        #expect(counts.count <= most)
        #expect(counts == counts.sorted() && Set(counts).count == counts.count)
        #expect(counts.last == 300)
        #expect(reports.withLock { $0.allSatisfy { $0.bytesToReceive == 300 } })
    }

    /// Bytes that arrive between two reports are reported even if no more bytes follow.
    @Test func progressIsReportedWhileTheServerIsSilent() async throws {
        let gate = try LoopbackServer.Gate()
        let head = Data("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".utf8)
        let eight = LoopbackServer.Response.dribble(Data("eight888".utf8), every: .milliseconds(1))
        let server = try LoopbackServer { request in
            request.target == "/" ? .response(200) : .sequence([.raw(head), eight, .gate(gate), .raw("9")])
        }
        // A reused connection has no libcurl timers that would wake the loop.
        _ = try await transport.perform(server.request())
        var request = try server.request(.get, "/nine", options: .limited)
        request.onProgress = { if $0.bytesReceived == 8 { gate.open() } }
        #expect(try await transport.perform(request).text() == "eight8889")
    }

    // MARK: - Uploads

    @Test func uploadOfUnknownLengthIsChunked() async throws {
        let server = try LoopbackServer(.response(200))
        let chunks = (0..<100).map { Data("chunk \($0);".utf8) }
        let body = HTTPBody.stream { AsyncStream(chunks) }
        let response = try await transport.perform(server.request(.post, body: body))
        let request = try #require(server.requests.first)
        #expect(request["Transfer-Encoding"] == "chunked")
        #expect(request["Content-Length"] == nil)
        #expect(request["Expect"] == nil)
        #expect(request.body == chunks.reduce(Data(), +))
        #expect(response.metrics.bytesSent == Int64(request.body.count))
    }

    @Test func uploadOfKnownLengthSendsContentLength() async throws {
        let server = try LoopbackServer(.response(200))
        let body = HTTPBody.stream(length: 6) { AsyncStream([Data("abc".utf8), Data(), Data("def".utf8)]) }
        _ = try await transport.perform(server.request(.put, body: body))
        #expect(server.requests.first?["Content-Length"] == "6")
        #expect(server.requests.first?["Transfer-Encoding"] == nil)
        #expect(server.requests.first?.body == Data("abcdef".utf8))
    }

    @Test(arguments: [0, 1]) func emptyUploadIsSent(_ emptyChunks: Int) async throws {
        let server = try LoopbackServer(.response(200))
        let body = HTTPBody.stream { AsyncStream(Array(repeating: Data(), count: emptyChunks)) }
        _ = try await transport.perform(server.request(.post, body: body))
        #expect(server.requests.first?.body == Data())
    }

    /// A complete request is never sent, regardless of the order in which the server and the body proceed.
    @Test(arguments: [["short"], ["too long"], ["0123456789", "!"], ["01234", "56789", "0"], []], [false, true])
    func uploadWithAWrongLengthFails(_ chunks: [String], answeredFirst: Bool) async throws {
        let server = try LoopbackServer(readsBodies: !answeredFirst) { .response(200, [:], $0.target) }
        let bytes = chunks.map { Data($0.utf8) }
        let body = HTTPBody.stream(length: bytes == [Data("too long".utf8)] ? 3 : 10) { AsyncStream(bytes) }
        let error = try await transport.failure(of: server.request(.post, "/wrong", body: body))
        #expect(error.kind == .badRequest, "\(error)")
        #expect(error.message.contains(" \(bytes.joined().count)"), "\(error)")
        #expect(answeredFirst || server.requests.isEmpty)
        #expect(try await transport.perform(server.request(.get, "/next")).text() == "/next")
        #expect(server.requests.allSatisfy { ["/wrong", "/next"].contains($0.target) })
    }

    /// The response arrives before the byte that exceeds the length.
    @Test func uploadThatBecomesTooLongAfterTheResponseFails() async throws {
        let server = try LoopbackServer(readsBodies: false) { _ in .response(200) }
        let body = HTTPBody.stream(length: 3) {
            AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("abc".utf8))
                Task {
                    await server.until { $0.responses == 1 }
                    continuation.yield(Data("d".utf8))
                    continuation.finish()
                }
            }
        }
        let error = try await transport.failure(of: server.request(.post, body: body))
        #expect(error.kind == .badRequest, "\(error)")
        #expect(error.message.contains("at least 4 bytes, but 3 bytes"), "\(error)")
    }

    struct Broken: Error {}

    @Test func errorOfTheBodyStreamEndsTheTransfer() async throws {
        let server = try LoopbackServer(.response(200))
        let body = HTTPBody.stream {
            AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("some".utf8))
                continuation.finish(throwing: Broken())
            }
        }
        let error = try await transport.failure(of: server.request(.post, body: body))
        #expect(error.underlying is Broken, "\(error)")
        #expect(await server.until { $0.connections == 1 && $0.openConnections == 0 })
        #expect(server.requests.isEmpty)
    }

    enum Source: CaseIterable { case data, file, stream, streamOfKnownLength }

    @Test(arguments: Source.allCases) func largeUploadIsSentCompletely(_ source: Source) async throws {
        let bytes = Self.pattern(20 << 20)
        let pieces = stride(from: 0, to: bytes.count, by: 100_000).map { bytes[$0..<min($0 + 100_000, bytes.count)] }
        let server = try LoopbackServer(.response(200))
        let progress = Lock<[TransferRequest.Progress]>([])
        try await withTemporaryFolder { folder in
            let body: HTTPBody
            switch source {
            case .data: body = HTTPBody(bytes)
            case .file:
                try bytes.write(to: URL(fileURLWithPath: folder + "/large"))
                body = .file(path: folder + "/large")
            case .stream: body = .stream { AsyncStream(pieces) }
            case .streamOfKnownLength: body = .stream(length: Int64(bytes.count)) { AsyncStream(pieces) }
            }
            var request = try server.request(.post, body: body)
            request.onProgress = { report in progress.withLock { $0.append(report) } }
            _ = try await transport.perform(request)
        }
        #expect(server.requests.first?.body == bytes)
        let sent = progress.withLock { $0.map(\.bytesSent) }
        #expect(sent == sent.sorted())
        #expect(sent.last == Int64(bytes.count))
    }

    @Test func rejectionDuringTheUploadIsReturned() async throws {
        let server = try LoopbackServer(readsBodies: false) { _ in
            .sequence([.response(413, ["Connection": "close"], "too large"), .finish])
        }
        let request = try server.request(.post, body: HTTPBody(Data(count: 8 << 20)), options: .limited)
        let response = try await transport.perform(request)
        #expect(response.head.status.code == 413)
        #expect(try await response.text() == "too large")
    }

    /// The server responds and resets the connection before the upload is complete: the response is returned.
    @Test func responseToAPartialUploadIsReturned() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(readsBodies: false) { _ in
            .sequence([.response(200, [:], "ok"), .gate(gate), .reset])
        }
        let body = HTTPBody.stream {
            AsyncStream<Data> { continuation in
                continuation.yield(Data("half".utf8))
                Task {
                    await server.until { $0.connections == 1 && $0.openConnections == 0 }
                    continuation.yield(Data(count: 8 << 20))
                    continuation.finish()
                }
            }
        }
        var request = try server.request(.put, body: body, options: .limited)
        request.onProgress = { if $0.bytesReceived == 2 { gate.open() } }
        let response = try await transport.perform(request)
        #expect(response.status == .ok)
        #expect(try await response.text() == "ok")
        #expect(response.metrics.bytesSent < 8 << 20)
        #expect(response.metrics.requestEnd == .zero)
    }

    @Test func rejectionAndCloseDuringTheUploadEndTheTransfer() async throws {
        let server = try LoopbackServer(readsBodies: false) { _ in .sequence([.response(413), .close]) }
        let request = try server.request(.post, body: HTTPBody(Data(count: 8 << 20)), options: .limited)
        do throws(NetworkError) {
            let response = try await transport.perform(request)
            #expect(response.head.status.code == 413)
        } catch {
            #expect([.network, .truncated].contains(error.kind), "\(error)")
        }
        try await transport.proveHealth()
        #expect(server.record.requestCount == 1)
    }

    @Test func ignoredExpectationOnlyDelaysTheBody() async throws {
        let server = try LoopbackServer(.response(200))
        let request = try server.request(.post, "/", ["Expect": "100-continue"], body: HTTPBody("body"))
        _ = try await transport.perform(request)
        #expect(server.requests.first?.body == Data("body".utf8))
    }
}
