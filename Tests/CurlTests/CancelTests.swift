import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Cancelling in every phase: the transfer completes once and immediately, and its connection is closed.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct CancelTests {
    let transport = CurlTransport()

    @Test func tokenCancelsATransferThatHasJustBegun() async throws {
        let server = try LoopbackServer(.stall)
        let completion = Completion()
        transport.perform(try server.request(), completion: completion.complete).cancel()
        #expect(await completion.result.failure?.isCancelled == true)
        try await expectOnce(completion)
    }

    @Test func taskCancelledBeforeItBeginsFails() async throws {
        let server = try LoopbackServer(.stall)
        let request = try server.request()
        let task = Task { [transport] () -> NetworkError? in
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(NetworkError) {
                _ = try await transport.perform(request)
                return nil
            } catch {
                return error
            }
        }
        #expect(await task.value?.isCancelled == true)
    }

    @Test func transferIsCancelledWhileConnecting() async throws {
        let backlog = try FullBacklog()
        let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(backlog.port)", path: "/")
        let completion = Completion()
        let token = transport.perform(TransferRequest(head), completion: completion.complete)
        // The loop processes its commands in order: when this transfer completes, the connection attempt has begun.
        try await transport.proveHealth()
        token.cancel()
        let error = await completion.result.failure
        #expect(error?.isCancelled == true)
        #expect(error?.phase == .connect)
        #expect(error?.mayHaveReachedServer == false)
        try await expectOnce(completion)
    }

    @Test func transferIsCancelledDuringTheHandshake() async throws {
        let server = try LoopbackServer(onConnect: .stall) { _ in .close }
        let head = HTTPRequest(method: .get, scheme: "https", authority: server.authority, path: "/")
        // libcurl has seen the connection once it has sent its ClientHello.
        let error = try await expectCancel(of: TransferRequest(head), at: server) { $0.bytesReceived > 0 }
        #expect(error?.phase == .tls)
    }

    @Test func transferIsCancelledWhileWaitingForTheResponse() async throws {
        let server = try LoopbackServer(.stall)
        let error = try await expectCancel(of: server.request(), at: server) { $0.requestCount == 1 }
        #expect(error?.phase == .firstByte)
        #expect(error?.mayHaveReachedServer == true)
    }

    @Test func transferIsCancelledWhileCollectingTheBody() async throws {
        let half = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
        let server = try LoopbackServer(.sequence([.raw(half), .stall]))
        try await expectCancel(of: server.request(), at: server) { $0.bytesSent == half.utf8.count }
    }

    @Test func transferIsCancelledWhileTheServerDoesNotReadTheBody() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(readsBodies: false) { _ in .sequence([.gate(gate), .stall]) }
        let completion = Completion()
        let request = try server.request(.post, body: HTTPBody(Data(count: 32 << 20)))
        let token = transport.perform(request, completion: completion.complete)
        await server.until { $0.requestCount == 1 }
        token.cancel()
        let error = await completion.result.failure
        #expect(error?.isCancelled == true)
        #expect(error?.phase == .send)
        // The server sees the end of the connection after the bytes that it has not read yet.
        gate.open()
        #expect(await server.until { $0.openConnections == 0 })
        try await expectOnce(completion)
    }

    @Test func transferIsCancelledWhileTheBodyStreamHasNoData() async throws {
        let server = try LoopbackServer(readsBodies: false) { _ in .stall }
        let (chunks, _) = AsyncStream<Data>.makeStream()
        try await expectCancel(of: server.request(.post, body: .stream { chunks }), at: server) {
            $0.requestCount == 1
        }
    }

    @Test func tokenCancelsAPausedStream() async throws {
        let server = try LoopbackServer(.response(200, [:], Data(count: 64 << 20)))
        let completion = Completion()
        let token = transport.perform(try server.request(delivery: .stream), completion: completion.complete)
        let response = try await completion.result.get()
        await server.until { $0.stalledSends > 0 }
        token.cancel()
        let error = await #expect(throws: NetworkError.self) { try await response.body.collect() }
        #expect(error?.isCancelled == true)
        #expect(await server.until { $0.openConnections == 0 })
        try await expectOnce(completion)
    }

    @Test func cancelledReadingTaskEndsTheTransfer() async throws {
        let server = try LoopbackServer(.sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .stall]))
        let response = try await transport.perform(server.request(delivery: .stream))
        let reading = Task { try await response.body.collect() }
        reading.cancel()
        let error = await #expect(throws: NetworkError.self) { try await reading.value }
        #expect(error?.isCancelled == true)
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func releasedStreamEndsTheTransfer() async throws {
        let server = try LoopbackServer(.endless(String(repeating: "HTTP/1.1 200 OK\r\n\r\n", count: 1 << 12)))
        _ = try await transport.perform(server.request(delivery: .stream)).head
        #expect(await server.until { $0.connections == 1 && $0.openConnections == 0 })
    }

    @Test func cancellingACompletedTransferHasNoEffect() async throws {
        let server = try LoopbackServer(.response(200))
        let completion = Completion()
        let token = transport.perform(try server.request(), completion: completion.complete)
        #expect(try await completion.result.get().head.status.code == 200)
        token.cancel()
        token.cancel()
        try await expectOnce(completion)
        #expect(server.record.openConnections == 1)
    }

    @Test func cancellingDoesNotAffectOtherTransfers() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(.sequence([.gate(gate), .response(200)]))
        async let kept = transport.perform(server.request())
        let completion = Completion()
        let token = transport.perform(try server.request(), completion: completion.complete)
        await server.until { $0.requestCount == 2 }
        token.cancel()
        #expect(await completion.result.failure?.isCancelled == true)
        gate.open()
        #expect(try await kept.head.status.code == 200)
    }

    @Test func shutDownEndsAllTransfers() async throws {
        let server = try LoopbackServer(.stall)
        let completions = (1...20).map { _ in Completion() }
        for completion in completions { transport.perform(try server.request(), completion: completion.complete) }
        await server.until { $0.requestCount >= 1 }
        transport.shutDown()
        for completion in completions { #expect(await completion.result.failure?.kind == .shutdown) }
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func releasedTransportCompletesItsTransfers() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(.sequence([.gate(gate), .response(200)]))
        var transport: CurlTransport? = CurlTransport()
        let completion = Completion()
        transport?.perform(try server.request(), completion: completion.complete)
        await server.until { $0.requestCount == 1 }
        transport = nil
        gate.open()
        #expect(try await completion.result.get().head.status.code == 200)
    }

    // MARK: -

    @discardableResult
    private func expectCancel(
        of request: TransferRequest,
        at server: LoopbackServer,
        when condition: @escaping @Sendable (LoopbackServer.Record) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> NetworkError? {
        let completion = Completion()
        let token = transport.perform(request, completion: completion.complete)
        await server.until(condition)
        token.cancel()
        let error = await completion.result.failure
        #expect(error?.isCancelled == true, sourceLocation: sourceLocation)
        #expect(await server.until { $0.openConnections == 0 }, sourceLocation: sourceLocation)
        try await expectOnce(completion)
        return error
    }

    /// Expects one completion. A second one would have been called before a later transfer completes.
    private func expectOnce(_ completion: Completion) async throws {
        try await transport.proveHealth()
        #expect(completion.count == 1)
    }
}

/// A completion handler that counts its calls and lets a test await the first result.
final class Completion: Sendable {
    private struct State {
        var results: [Result<TransferResponse, NetworkError>] = []
        var waiter: CheckedContinuation<Result<TransferResponse, NetworkError>, Never>?
    }

    private let state = Lock(State())

    @Sendable func complete(_ result: Result<TransferResponse, NetworkError>) {
        let waiter = state.withLock { state in
            state.results.append(result)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: result)
    }

    var count: Int { state.withLock { $0.results.count } }

    var result: Result<TransferResponse, NetworkError> {
        get async {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state in
                    if state.results.isEmpty { state.waiter = continuation }
                    return state.results.first
                }
                if let result { continuation.resume(returning: result) }
            }
        }
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
