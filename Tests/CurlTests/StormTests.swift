import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Random cancellation of requests, uploads and streams from many threads: each request completes exactly once.
/// `BEAGLENET_STORM` sets the number of requests (default: 2,000). If it is set, the storms are assumed to run alone.
@Suite(.serialized, .leavesNothing)
struct StormTests {
    private static let requestedCount = ProcessInfo.processInfo.environment["BEAGLENET_STORM"].flatMap(Int.init)
    private static let count = requestedCount ?? 2_000
    private static let webSockets = count / 10

    /// If the storms run alone, each one runs twice, and the allocated memory must not grow.
    private func twice(_ name: String, _ storm: () async throws -> Void) async throws {
        guard Self.requestedCount != nil else { return try await storm() }
        guard let growth = try await growth(of: storm) else { return }
        print("\(growth >> 10) KiB more are allocated after the second storm of \(name)")
        #expect(growth < 256 << 10)
    }

    @Test(arguments: [false, true])
    func everyRequestCompletesOnce(onThePortableLoop isPortable: Bool) async throws {
        let (small, large) = (Data("storm".utf8), Data(count: 1 << 20))
        try await twice("\(Self.count) requests") {
            let server = try LoopbackServer { request in
                guard request.target == "/events" else {
                    return .response(200, [:], request.target == "/files/large" ? large : small)
                }
                let event = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n"
                return .sequence([.raw(event), .stall])
            }
            let storm = Storm(transport: CurlTransport(isPortable: isPortable), count: Self.count) {
                method,
                path,
                body,
                delivery in
                var head = HTTPRequest(method: method, scheme: "http", authority: server.authority, path: path)
                if path == "/events" { head.headerFields[.accept] = "text/event-stream" }
                return TransferRequest(head, body: body, delivery: delivery)
            }
            try await storm.run()
        }
    }

    /// WebSockets that are opened, used and cancelled at random leave nothing, and the transport works afterwards.
    @Test(arguments: [false, true])
    func everyWebSocketEnds(onThePortableLoop isPortable: Bool) async throws {
        let frames = Data([0x81, 1, 0x61, 0x89, 1, 0x70, 0x82, 126, 4, 0] + [UInt8](repeating: 7, count: 1024))
        let ends: [LoopbackServer.Response] = [.stall, .endless(frames), .raw(Data([0x88, 0])), .close, .reset]
        try await twice("\(Self.webSockets) WebSockets") {
            let turn = Lock(0)
            let server = try LoopbackServer { request in
                guard let key = request["Sec-WebSocket-Key"] else { return .response(200, [:], "healthy") }
                let end = turn.withLock { turn in
                    turn += 1
                    return ends[turn % ends.count]
                }
                return .webSocket(key, .sequence([.raw(frames), end, .stall]))
            }
            let transport = CurlTransport(isPortable: isPortable)
            var message = server.webSocketRequest
            message.closeTimeout = .milliseconds(50)
            message.pingInterval = .milliseconds(50)
            message.pongTimeout = .milliseconds(50)
            let request = message
            let unexpected = Lock<[NetworkError]>([])
            let completed = Lock(0)
            await withTaskGroup(of: Void.self) { group in
                // Each one has its own connection, and its own thread in the server.
                for index in 0..<Self.webSockets {
                    if index >= 32 { await group.next() }
                    group.addTask {
                        let talk = Task { try await Self.talk(over: transport, request) }
                        if index % 3 != 0 {
                            for _ in 0..<Int.random(in: 0..<40) { await Task.yield() }
                            talk.cancel()
                        }
                        let result = await talk.result
                        completed.withLock { $0 += 1 }
                        guard case .failure(let error as NetworkError) = result else { return }
                        let expected: [NetworkError.Kind] = [.cancelled, .network, .truncated, .closed, .timeout]
                        if !expected.contains(error.kind) { unexpected.withLock { $0.append(error) } }
                    }
                }
            }
            #expect(completed.withLock { $0 } == Self.webSockets)
            #expect(unexpected.withLock { $0 }.isEmpty)
            #expect(await server.until { $0.openConnections == 0 })
            try await transport.proveHealth(isLongLived: true)
        }
    }

    private static func talk(over transport: CurlTransport, _ request: WebSocket.Request) async throws {
        let socket = try await transport.openWebSocket(request)
        try await socket.send(.text("a"))
        for _ in 0..<Int.random(in: 0..<4) { _ = try await socket.next() }
        try await socket.send(.binary(Data(count: 100_000)))
        if Bool.random() { try await socket.close() }
    }

    /// The server runs in its own process. A parked stream has a larger body than its reader can buffer.
    @Test(.enabled(if: NginxPeer.isAvailable, "nginx is not installed"), arguments: [HTTPVersion.http1, .http2])
    func everyRequestOverTLSCompletesOnce(_ version: HTTPVersion) async throws {
        let peer = try NginxPeer.shared.get()
        try await twice("\(Self.count) requests over TLS, \(version)") {
            let transport = CurlTransport()
            let mayLackEnds = version == .http2
            let storm = Storm(transport: transport, count: Self.count, mayLackEnds: mayLackEnds) {
                method,
                path,
                body,
                delivery in
                let path = path == "/events" ? "/files/large" : path
                var request = peer.request(path, method: method, version: version, body: body, delivery: delivery)
                // nginx sends GOAWAY after a thousand requests and refuses those in flight. libcurl doesn't distinguish
                // that from a lost connection: without a key a POST would not be resent.
                request.head.headerFields[.idempotencyKey] = "storm"
                return request
            }
            try await storm.run()
        }
    }
}

/// Eight threads that start requests of several kinds and cancel two in three of them at random moments.
private struct Storm {
    private static let threads = 8
    private static let inFlight = 16

    private struct Outcome {
        var completions: [Int]
        var unexpected: [NetworkError] = []
        /// The most recent streams. A stream ends when it is released.
        var parked: [TransferResponse] = []
    }

    let transport: CurlTransport
    let count: Int
    /// Whether large responses may occasionally be truncated.
    var mayLackEnds = false
    let request: @Sendable (HTTPRequest.Method, _ path: String, HTTPBody?, TransferRequest.Delivery) -> TransferRequest

    func run() async throws {
        let outcome = Lock(Outcome(completions: Array(repeating: 0, count: count)))
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<Self.threads {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            storm(from: thread, outcome)
                            continuation.resume()
                        }
                    }
                }
            }
        }
        let (wrong, failures) = outcome.withLock { outcome in
            (outcome.completions.count { $0 != 1 }, outcome.unexpected)
        }
        let unexpected = failures.filter { !mayLackEnds || !$0.lacksItsEnd }
        let lost = failures.count - unexpected.count
        if lost > 0 { print("\(lost) of \(count) responses were truncated") }
        #expect(lost <= 1 + count / 50_000)
        #expect(wrong == 0, "\(wrong) of \(count) requests did not complete exactly once")
        #expect(unexpected.isEmpty, "\(unexpected.count) requests failed without being cancelled")
        outcome.withLock { $0.parked = [] }
        let after = try await transport.perform(request(.get, "/storm", nil, .collect))
        #expect(after.head.status == .ok)
    }

    /// The use of a request. All but `undisturbed` may be cancelled.
    private enum Use: CaseIterable {
        case undisturbed, collect, submit, upload, uploadStream, dropStream, read, park
    }

    private enum Kind {
        case small, large
    }

    private func message(_ use: Use, _ kind: Kind, _ random: inout SystemRandomNumberGenerator) -> TransferRequest {
        let path = kind == .large ? "/files/large" : "/storm"
        let size = kind == .large ? 1 << 20 : Int.random(in: 1...4096, using: &random)
        switch use {
        case .undisturbed: return request(.get, "/storm", nil, .collect)
        case .collect: return request(.get, path, nil, .collect)
        case .submit: return request(.post, "/storm", HTTPBody("x=1"), .collect)
        case .upload: return request(.put, "/files/storm", HTTPBody(Data(count: size)), .collect)
        case .uploadStream:
            let pieces = Array(repeating: Data(count: size / 8 + 1), count: 8)
            let body = HTTPBody.stream(isReplayable: true) {
                AsyncStream { continuation in
                    for piece in pieces { continuation.yield(piece) }
                    continuation.finish()
                }
            }
            return request(.put, "/files/storm", body, .collect)
        case .dropStream, .read: return request(.get, path, nil, .stream)
        case .park: return request(.get, "/events", nil, .stream)
        }
    }

    /// Reads a body up to a random piece or to its end.
    private static func read(_ body: HTTPBody, _ outcome: Lock<Outcome>, then done: @escaping @Sendable () -> Void) {
        Task {
            do throws(NetworkError) {
                let last = Int.random(in: 0..<8)
                try await NetworkError.catching {
                    var count = 0
                    for try await _ in body {
                        count += 1
                        if count > last { break }
                    }
                }
            } catch {
                if !error.isCancelled { outcome.withLock { $0.unexpected.append(error) } }
            }
            done()
        }
    }

    private func storm(from thread: Int, _ outcome: Lock<Outcome>) {
        var random = SystemRandomNumberGenerator()
        let slots = DispatchSemaphore(value: Self.inFlight)
        var tokens: [any RequestToken] = []
        for index in stride(from: thread, to: count, by: Self.threads) {
            slots.wait()
            // Large bodies are rare, because otherwise the storm would mostly transfer bytes.
            let kind = Int.random(in: 0..<64, using: &random) == 0 ? Kind.large : Kind.small
            let use = Use.allCases[Int.random(in: 0..<Use.allCases.count, using: &random)]
            let token = transport.perform(message(use, kind, &random)) { result in
                // The responses are released outside of the lock, because that may end a transfer.
                let dropped = outcome.withLock { outcome -> ArraySlice<TransferResponse> in
                    outcome.completions[index] += 1
                    switch result {
                    case .success(let response) where use == .park: outcome.parked.append(response)
                    case .failure(let error) where !error.isCancelled: outcome.unexpected.append(error)
                    case .success, .failure: break
                    }
                    guard outcome.parked.count > 64 else { return [] }
                    defer { outcome.parked.removeFirst(32) }
                    return outcome.parked.prefix(32)
                }
                withExtendedLifetime(dropped) {}
                if use == .read, case .success(let response) = result {
                    Self.read(response.body, outcome, then: { slots.signal() })
                } else {
                    slots.signal()
                }
            }
            if use != .undisturbed { tokens.append(token) }
            if Int.random(in: 0..<4, using: &random) == 0 { tokens.shuffle(using: &random) }
            while tokens.count > Int.random(in: 0..<12, using: &random) { tokens.removeLast().cancel() }
        }
        for token in tokens { token.cancel() }
        for _ in 0..<Self.inFlight { slots.wait() }
        for _ in 0..<Self.inFlight { slots.signal() }
    }
}

extension HTTPField.Name {
    fileprivate static let idempotencyKey = Self("Idempotency-Key")!
}

extension NetworkError {
    /// Whether a large HTTP/2 response lacks its end, usually some complete frames, which have 8 KiB in nginx. With
    /// libcurl 7.88 this happens about once in two hundred thousand requests of a storm. It is reported as an error: a
    /// truncated response is never taken for a complete one.
    fileprivate var lacksItsEnd: Bool {
        guard CurlTransport.capabilities.version.hasPrefix("7."), kind == .truncated, phase == .body,
            let match = message.wholeMatch(of: /transfer closed with (\d+) bytes remaining to read/),
            let lost = Int(match.1)
        else { return false }
        return lost <= 64 << 10
    }
}
