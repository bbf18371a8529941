import BeagleNet
import BeagleNetTesting
import CurlPeers
import Testing
import TestClients

/// Streamed responses, and responses whose transfer ended early, over libcurl and real sockets.
@Suite(.leavesNothing, .beagle(.live), .timeLimit(.minutes(5))) struct StreamCacheTests {
    private let store = MemoryResponseStore()

    init() {
        Beagle.dependencies.interceptors.add(CacheInterceptor(store))
    }

    private var client: any NetworkClient { Beagle.dependencies.networkClient }

    private func request(_ server: LoopbackServer, _ type: Request.RequestType = .fetchImage) throws -> Request {
        Request(url: try #require(URL(string: "\(server.url)/a")), type: type)
    }

    private static let body = String(repeating: "0123456789abcdef", count: 4_096)

    private static func head(_ status: String, _ fields: [String: String]) -> String {
        "HTTP/1.1 \(status)\r\n\(fields.map { "\($0): \($1)\r\n" }.joined())\r\n"
    }

    /// A response with its length.
    private static func response(_ status: String, _ fields: [String: String], _ body: String)
        -> LoopbackServer.Response
    {
        .raw(head(status, fields.merging(["Content-Length": "\(body.utf8.count)"]) { $1 }) + body)
    }

    /// A server whose first response ends after half of the body.
    private func interruptingServer(
        validator: (String, String)? = ("ETag", "\"1\""),
        second: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { request in
            guard let range = request["range"] else { return .response(200, ["ETag": "\"1\""], StreamCacheTests.body) }
            let start = Int(range.dropFirst(6).dropLast()) ?? 0
            let rest = String(StreamCacheTests.body.dropFirst(start))
            let count = StreamCacheTests.body.count
            return .response(206, ["ETag": "\"1\"", "Content-Range": "bytes \(start)-\(count - 1)/\(count)"], rest)
        }
    ) throws -> LoopbackServer {
        let isFirst = Lock(true)
        return try LoopbackServer { request in
            let isFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard isFirst else { return second(request) }
            var fields = ["Content-Length": "\(Self.body.count)"]
            if let (name, value) = validator { fields[name] = value }
            let half = Self.body.prefix(Self.body.count / 2)
            return .sequence([.raw(Self.head("200 OK", fields) + half), .close])
        }
    }

    /// Reads a stream until its end.
    private func read(_ stream: StreamingResponse) async throws -> String {
        String(decoding: try await stream.body.collect(upTo: .max), as: UTF8.self)
    }

    @Test func streamIsStoredOnceItWasRead() async throws {
        let server = try LoopbackServer(.response(200, ["Cache-Control": "max-age=60"], "body"))
        let first = try await client.stream(request(server))
        #expect(store.bytes == 0)
        #expect(try await read(first) == "body")
        #expect(first.cacheStatus?.forwardReason == .uriMiss)
        let second = try await client.stream(request(server))
        #expect(second.cacheStatus?.description.hasPrefix("hit; ttl=") == true)
        #expect(second.response.headerFields[.age] != nil)
        #expect(try await read(second) == "body")
        // Collected and streamed responses are the same to the store.
        #expect(try await client.executeRequest(request(server)).text() == "body")
        #expect(server.requests.count == 1)
    }

    @Test func streamThatWasNotReadIsNotStored() async throws {
        let server = try LoopbackServer(.response(200, ["Cache-Control": "max-age=60"], "body"))
        _ = try await client.stream(request(server))
        #expect(try await read(client.stream(request(server))) == "body")
        #expect(server.requests.count == 2)
    }

    @Test func staleStreamIsValidated() async throws {
        let server = try LoopbackServer { request in
            request["if-none-match"] == "\"1\""
                ? .response(304, ["ETag": "\"1\""])
                : .response(200, ["ETag": "\"1\"", "Cache-Control": "no-cache"], "body")
        }
        for _ in 0..<2 { #expect(try await read(client.stream(request(server))) == "body") }
        #expect(server.requests.map { $0["if-none-match"] } == [nil, "\"1\""])
    }

    /// Reads the stream of an operation of a kind.
    private func read(_ kind: NetworkOperation.Kind, from server: LoopbackServer) async throws -> String {
        let result = try await client.run(NetworkOperation.stream(try request(server), kind: kind))
        guard case .stream(let stream) = result.content else { return try result.response?.text() ?? "" }
        return try await read(stream)
    }

    @Test func streamedQueryIsStoredUnlessItHasErrors() async throws {
        let count = Lock(0)
        let server = try LoopbackServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .response(200, [:], number == 1 ? #"{"errors":[]}"# : #"{"data":\#(number)}"#)
        }
        #expect(try await read(.query, from: server) == #"{"errors":[]}"#)
        for _ in 0..<2 { #expect(try await read(.query, from: server) == #"{"data":2}"#) }
        #expect(server.requests.count == 2)
    }

    @Test func staleStreamIsRevalidatedInTheBackground() async throws {
        let count = Lock(0)
        let server = try LoopbackServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .response(200, ["Cache-Control": "max-age=0, stale-while-revalidate=60"], "\(number)")
        }
        let cache = CacheInterceptor(store)
        Beagle.dependencies.interceptors.replace(with: cache)
        for text in ["1", "1", "2"] {
            #expect(try await read(client.stream(request(server, .rawRequest(.init())))) == text)
            await cache.finishRevalidations()
        }
        #expect(server.requests.count == 3)
    }

    @Test(arguments: [true, false]) func restOfAnInterruptedStreamIsRequested(collects: Bool) async throws {
        let server = try interruptingServer()
        let first = try await client.stream(request(server))
        await #expect(throws: NetworkError.self) { try await read(first) }
        if collects {
            let second = try await client.executeRequest(request(server))
            #expect(try second.text() == Self.body)
            #expect(second.status == .ok)
            #expect(second.cacheStatus?.forwardReason == .partial)
        } else {
            let second = try await client.stream(request(server))
            #expect(second.response.status == .ok)
            #expect(second.response.headerFields[.contentLength] == "\(Self.body.count)")
            #expect(second.response.headerFields[.contentRange] == nil)
            #expect(second.body.length == Int64(Self.body.count))
            #expect(try await read(second) == Self.body)
        }
        #expect(server.requests.map { $0["range"] } == [nil, "bytes=\(Self.body.count / 2)-"])
        #expect(server.requests[1]["if-range"] == "\"1\"")
        #expect(try await client.executeRequest(request(server)).text() == Self.body)
        #expect(server.requests.count == 2)
    }

    @Test func streamThatTheAppLeavesIsContinued() async throws {
        let server = try LoopbackServer { request in
            guard request["range"] != nil else {
                let fields = ["ETag": "\"1\"", "Content-Length": "\(Self.body.count)"]
                return .sequence([.raw(Self.head("200 OK", fields) + Self.body.prefix(40_000)), .stall])
            }
            let range = "bytes 40000-\(Self.body.count - 1)/\(Self.body.count)"
            return .response(206, ["ETag": "\"1\"", "Content-Range": range], String(Self.body.dropFirst(40_000)))
        }
        var stream: StreamingResponse? = try await client.stream(request(server))
        var count = 0
        for try await chunk in try #require(stream).body {
            count += chunk.count
            if count == 40_000 { break }
        }
        stream = nil
        while store.bytes == 0 { await Task.yield() }
        #expect(try await read(client.stream(request(server))) == Self.body)
        #expect(server.requests.map { $0["range"] } == [nil, "bytes=40000-"])
    }

    @Test(arguments: [
        // It isn't the same representation, begins elsewhere, doesn't reach the end, or doesn't say so.
        ["ETag": "\"2\"", "Content-Range": "bytes 32768-65535/65536"],
        ["ETag": "\"1\"", "Content-Range": "bytes 32767-65535/65536"],
        ["ETag": "\"1\"", "Content-Range": "bytes 32768-65534/65536"],
        ["ETag": "\"1\"", "Content-Range": "bytes 32768-65535/*"],
        ["ETag": "\"1\""],
        ["ETag": "\"1\"", "Content-Range": "bytes 32768-65535/65536", "Content-Encoding": "x-unknown"],
    ])
    func unusablePartIsFollowedByAPlainRequest(_ fields: [String: String]) async throws {
        let server = try interruptingServer { request in
            request["range"] == nil
                ? .response(200, ["ETag": "\"3\""], "new")
                : Self.response("206 Partial Content", fields, "part")
        }
        await #expect(throws: NetworkError.self) { try await read(client.stream(request(server))) }
        #expect(try await read(client.stream(request(server))) == "new")
        #expect(try await read(client.stream(request(server))) == "new")
        #expect(server.requests.map { $0["range"] } == [nil, "bytes=32768-", nil])
    }

    @Test(arguments: ["no-store", "max-age=60"]) func continuedStreamIsStoredOnlyIfItMay(_ directives: String)
        async throws
    {
        let server = try interruptingServer { request in
            guard request["range"] != nil else { return .response(200, ["ETag": "\"2\""], "new") }
            let fields = ["ETag": "\"1\"", "Content-Range": "bytes 32768-65535/65536", "Cache-Control": directives]
            return Self.response("206 Partial Content", fields, String(Self.body.dropFirst(32_768)))
        }
        await #expect(throws: NetworkError.self) { try await read(client.stream(request(server))) }
        #expect(try await read(client.stream(request(server))) == Self.body)
        #expect(try await read(client.stream(request(server))) == (directives == "no-store" ? "new" : Self.body))
        #expect(server.requests.map { $0["range"] } == [nil, "bytes=32768-"] + (directives == "no-store" ? [nil] : []))
    }

    @Test func requestWithNoStoreIsNotContinued() async throws {
        let server = try interruptingServer()
        await #expect(throws: NetworkError.self) { try await read(client.stream(request(server))) }
        let type = Request.RequestType.rawRequest(.init(headers: ["Cache-Control": "no-store"]))
        _ = try await read(client.stream(request(server, type)))
        #expect(server.requests[1]["range"] == nil)
    }

    @Test func partsOfDifferentURLsAreNotJoined() async throws {
        let target = Lock("/v1")
        let server = try LoopbackServer { request in
            switch request.target {
            case "/a": return .response(302, ["Location": target.withLock { $0 }])
            case "/v1":
                let fields = ["ETag": "\"1\"", "Content-Length": "\(Self.body.count)"]
                return .sequence([.raw(Self.head("200 OK", fields) + Self.body.prefix(32_768)), .close])
            default:
                guard request["range"] != nil else { return .response(200, ["ETag": "\"1\""], "other") }
                let fields = ["ETag": "\"1\"", "Content-Range": "bytes 32768-65535/65536"]
                return Self.response("206 Partial Content", fields, String(repeating: "x", count: 32_768))
            }
        }
        await #expect(throws: NetworkError.self) { try await read(client.stream(request(server))) }
        target.withLock { $0 = "/v2" }
        #expect(try await read(client.stream(request(server))) == "other")
    }

    @Test func rejectedImageLeavesTheStoredOne() async throws {
        let isWide = Lock(false)
        let server = try LoopbackServer { _ in
            let size: [UInt8] = isWide.withLock { $0 } ? [0xFF, 0xFF, 0xFF, 0xFF] : [1, 0, 1, 0]
            return .response(200, ["Cache-Control": "max-age=0"], Data("GIF89a".utf8) + Data(size + [0, 0, 0, 0x3B]))
        }
        _ = try await read(client.stream(request(server)))
        isWide.withLock { $0 = true }
        await #expect(throws: NetworkError.self) { try await read(client.stream(request(server))) }
        let stored = try await client.run(NetworkOperation(request(server), policy: .cacheOnly))
        #expect(stored.response?.data.count == 14)
        #expect(stored.response?.data[6] == 1)
    }

    @Test func unsatisfiableRangeIsFollowedByAPlainRequest() async throws {
        let server = try interruptingServer { request in
            request["range"] == nil ? .response(200, ["ETag": "\"3\""], "new") : .response(416)
        }
        await #expect(throws: NetworkError.self) { try await read(client.stream(request(server))) }
        #expect(try await client.executeRequest(request(server)).text() == "new")
        #expect(server.requests.count == 3)
    }

    @Test func changedResponseReplacesTheBeginning() async throws {
        let server = try interruptingServer { _ in .response(200, ["ETag": "\"2\""], "new") }
        await #expect(throws: NetworkError.self) { try await read(client.stream(request(server))) }
        #expect(try await read(client.stream(request(server))) == "new")
        #expect(try await read(client.stream(request(server))) == "new")
        #expect(server.requests.count == 2)
    }

    @Test func partThatEndsEarlyIsContinuedAgain() async throws {
        let count = Self.body.count
        let server = try interruptingServer { request in
            let start = Int((request["range"] ?? "").dropFirst(6).dropLast()) ?? 0
            let fields = ["ETag": "\"1\"", "Content-Range": "bytes \(start)-\(count - 1)/\(count)"]
            guard start < 50_000 else {
                return Self.response("206 Partial Content", fields, String(Self.body.dropFirst(start)))
            }
            let head = Self.head("206 Partial Content", fields.merging(["Content-Length": "\(count - start)"]) { $1 })
            return .sequence([.raw(head + Self.body.dropFirst(start).prefix(50_000 - start)), .close])
        }
        for _ in 0..<2 { await #expect(throws: NetworkError.self) { try await read(client.stream(request(server))) } }
        #expect(try await read(client.stream(request(server))) == Self.body)
        #expect(server.requests.map { $0["range"] } == [nil, "bytes=32768-", "bytes=50000-"])
    }

    @Test(arguments: [nil, ("ETag", "W/\"1\""), ("Last-Modified", "Wed, 06 Nov 2024 08:49:37 GMT")])
    func beginningWithoutAStrongValidatorIsNotStored(_ validator: (String, String)?) async throws {
        let server = try interruptingServer(validator: validator)
        await #expect(throws: NetworkError.self) { try await read(client.stream(request(server))) }
        #expect(try await read(client.stream(request(server))) == Self.body)
        #expect(server.requests.map { $0["range"] } == [nil, nil])
    }

    @Test func beginningOfOneUserIsNotContinuedByAnother() async throws {
        let server = try interruptingServer()
        func read(as user: String) async throws -> String {
            var operation = NetworkOperation.stream(try request(server))
            operation.partition = user
            let result = try await client.run(operation)
            guard case .stream(let stream) = result.content else { return try result.response?.text() ?? "" }
            return try await self.read(stream)
        }
        await #expect(throws: NetworkError.self) { try await read(as: "a") }
        #expect(try await read(as: "b") == Self.body)
        #expect(server.requests[1]["range"] == nil)
        // Signing out removes beginnings, too.
        store.removeAll(of: "a")
        #expect(try await read(as: "a") == Self.body)
        #expect(server.requests[2]["range"] == nil)
    }

    // MARK: - Waiting for the server

    @Test func slowServerIsReplacedByTheStoredResponse() async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        Beagle.dependencies.interceptors.replace(with: CacheInterceptor(store))
        let gate = try LoopbackServer.Gate()
        let count = Lock(0)
        let server = try LoopbackServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let response = LoopbackServer.Response.response(200, [:], "\(number)")
            return number == 2 ? .sequence([.gate(gate), response]) : response
        }
        let request = try request(server, .fetchComponent)
        #expect(try await client.run(NetworkOperation(request)).response?.text() == "1")
        let slow = Task { try await client.run(NetworkOperation(request)) }
        await server.until { $0.requestCount == 2 }
        await clock.waitForSleepers(1)
        // The default of `networkWait`.
        clock.advance(by: .seconds(5))
        let result = try await slow.value
        #expect(try result.response?.text() == "1")
        #expect(result.isStale)
        #expect(result.source == .cache)
        // The server's response is stored when it arrives.
        gate.open()
        let only = NetworkOperation(request, policy: .cacheOnly)
        while try await client.run(only).response?.text() != "2" { await Task.yield() }
        // A server that is fast enough isn't replaced.
        let fast = try await client.run(NetworkOperation(request))
        #expect(try fast.response?.text() == "3")
        #expect(!fast.isStale)
    }

    @Test func cancelledOperationDoesNotWait() async throws {
        Beagle.dependencies.interceptors.replace(with: CacheInterceptor(store, networkWait: .seconds(3_600)))
        let isFirst = Lock(true)
        let server = try LoopbackServer { _ in
            let isFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return isFirst ? .response(200, [:], "1") : .stall
        }
        let request = try request(server, .fetchComponent)
        _ = try await client.run(NetworkOperation(request))
        let work = Task { try await client.run(NetworkOperation(request)) }
        await server.until { $0.requestCount == 2 }
        work.cancel()
        await #expect(throws: NetworkError.self) { try await work.value }
        #expect(await server.until { $0.openConnections == 0 })
    }
}
