import BeagleNet
import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Recording by a default client over real sockets.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct RecordInterceptorTests {
    /// Runs `body` with a client that records, and returns the recorded entries.
    private func recorded(
        _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response,
        prepare: (BeagleDependencies) -> Void = { _ in },
        _ body: (_ client: any NetworkClient, _ url: String) async throws -> Void
    ) async throws -> [LogEntry] {
        try await withLogDirectory { path in
            let server = try LoopbackServer(answer: answer)
            let dependencies = BeagleDependencies()
            dependencies.environment = BeagleEnvironment(name: "loopback", baseURL: URL(string: server.url))
            prepare(dependencies)
            let log = try RequestLog(directory: path)
            dependencies.requestLog = log
            try await body(dependencies.networkClient, server.url)
            await log.flush()
            let (entries, warnings) = try RequestLog.Reader.read(path)
            #expect(warnings == [])
            return entries
        }
    }

    @Test func entryHasTheRequestAndResponseOnTheWire() async throws {
        let entries = try await recorded({ _ in .response(200, ["Content-Type": "text/plain", "X-A": "b"], "hello") }) {
            client,
            url in
            _ = try await client.executeRequest(Request(url: URL(string: "\(url)/a?b=c")!, type: .rawRequest(.init())))
        }
        let entry = try #require(entries.first)
        #expect(entries.count == 1)
        #expect(entry.request.method == "GET")
        #expect(entry.request.url.hasSuffix("/a?b=c"))
        #expect(entry.request.httpVersion == "HTTP/1.1")
        // A field that libcurl added.
        #expect(entry.request.fields["Host"]?.hasPrefix("127.0.0.1:") == true)
        #expect(entry.request.headBytes > 0)
        #expect(entry.response?.status == 200)
        #expect(entry.response?.statusText == "OK")
        #expect(entry.response?.fields["x-a"] == "b")
        #expect(entry.response?.body.content == .data(Data("hello".utf8)))
        #expect(entry.response?.bodyBytes == 5)
        #expect(entry.serverAddress == "127.0.0.1")
        #expect(entry.connection != nil)
        #expect(entry.kind == "raw")
        #expect(entry.error == nil)
        #expect(entry.timings.total > .zero)
        #expect(entry.timings.connect != nil)
        #expect(entry.timings.dns == nil)
    }

    @Test func graphQLOperationNameIsRecorded() async throws {
        let entries = try await recorded({ _ in .response(200) }) { client, url in
            for name in ["Home", "token=c4n4ry"] {
                let data = Request.RequestData(method: "POST", body: "{}")
                var operation = NetworkOperation(Request(url: try #require(URL(string: url)), type: .rawRequest(data)))
                operation.operationName = name
                _ = try await client.run(operation) { _ in }
            }
        }
        #expect(entries.map(\.operationName) == ["Home", "token=REDACTED"])
        let found = Recording(entries).entries(matching: try Recording.Filter("operation==Home"))
        #expect(found.map(\.number) == [1])
    }

    @Test func kindOfEachRequestIsRecorded() async throws {
        let entries = try await recorded({ _ in .response(200, ["Content-Type": "image/png"], "x") }) { client, url in
            let url = try #require(URL(string: url))
            let form = Request.FormData(method: .post, values: ["name": "Ana"])
            for type: Request.RequestType in [.fetchComponent, .fetchImage, .submitForm(form), .rawRequest(.init())] {
                _ = try await client.executeRequest(Request(url: url, type: type))
            }
        }
        #expect(entries.map(\.kind) == ["component", "image", "form", "raw"])
        #expect(entries[2].request.method == "POST")
        #expect(entries[2].request.body?.size ?? 0 > 0)
    }

    /// The response is recorded as received, even if the app receives an error.
    @Test func rejectedImageIsRecorded() async throws {
        let gif = "GIF89a\u{7F}\u{7F}\u{7F}\u{7F}"
        let entries = try await recorded({ _ in .response(200, ["Content-Type": "image/gif"], gif) }) { client, url in
            let url = try #require(URL(string: url))
            await #expect(throws: NetworkError.self) {
                try await client.executeRequest(Request(url: url, type: .fetchImage))
            }
        }
        #expect(entries.map(\.response?.status) == [200])
        #expect(entries.map(\.response?.body.size) == [10])
        #expect(entries.map(\.error) == [nil])
    }

    @Test func noSecretIsWritten() async throws {
        let entries = try await recorded({ _ in .response(401, ["Set-Cookie": "sid=c4n4ry-1; Path=/"]) }) {
            client,
            url in
            let data = Request.RequestData(method: "GET", headers: ["Authorization": "Bearer c4n4ry-2"])
            let url = try #require(URL(string: "\(url)/a?token=c4n4ry-3"))
            _ = try? await client.executeRequest(Request(url: url, type: .rawRequest(data)))
        }
        let entry = try #require(entries.first)
        #expect(!"\(entry)".contains("c4n4ry"))
        #expect(entry.request.url.hasSuffix("?token=REDACTED"))
        #expect(entry.response?.fields["Set-Cookie"] == "sid=REDACTED; Path=/")
        #expect(entry.redactions.contains("request.headers.Authorization"))
        #expect(entry.redactions.contains("request.url:?token"))
    }

    @Test func bodiesAreWrittenRedacted() async throws {
        let answer = #"{"token":"c4n4ry-1","n":1.10}"#
        let entries = try await recorded({ _ in .response(200, ["Content-Type": "application/json"], answer) }) {
            client,
            url in
            let form = Request.FormData(method: .post, values: ["password": "c4n4ry-2", "name": "Ana"])
            let url = try #require(URL(string: url))
            _ = try await client.executeRequest(Request(url: url, type: .submitForm(form)))
            // A stream is redacted as well.
            _ = try await client.stream(Request(url: url, type: .rawRequest(.init()))).body.collect()
        }
        #expect(entries.count == 2)
        #expect(!"\(entries)".contains("c4n4ry"))
        for entry in entries {
            #expect(entry.response?.body.content == .data(Data(#"{"token":"REDACTED","n":1.10}"#.utf8)))
            #expect(entry.redactions.contains("response.content.text:$.token"))
        }
        #expect(entries[0].redactions.contains { $0.hasPrefix("request.postData.text") })
    }

    @Test func unredactableBodyIsNotWritten() async throws {
        let entries = try await recorded({ _ in .response(200, ["Content-Type": "application/json"], "{\"a\": c4n4ry") }
        ) {
            client,
            url in
            _ = try await client.executeRequest(Request(url: URL(string: url)!, type: .rawRequest(.init())))
        }
        #expect(entries.first?.response?.body.content == .omitted("unredactable"))
        #expect(!"\(entries)".contains("c4n4ry"))
    }

    /// With `isDirect`, no logger is set and the client uses no task.
    @Test(arguments: [false, true]) func eachRedirectIsAnEntryAndTheParentOfTheNext(isDirect: Bool) async throws {
        let entries = try await recorded({ request in
            switch request.target {
            case "/1": .response(302, ["Location": "/2"])
            case "/2": .response(307, ["Location": "/3"])
            default: .response(200, [:], "end")
            }
        }) {
            if isDirect { $0.logger = .off }
        } _: { client, url in
            _ = try await client.executeRequest(Request(url: URL(string: "\(url)/1")!, type: .rawRequest(.init())))
        }
        #expect(entries.map { $0.request.url.suffix(2) } == ["/1", "/2", "/3"])
        #expect(entries.map { $0.response?.status } == [302, 307, 200])
        #expect(entries.map { $0.response?.redirectURL.suffix(2) } == ["/2", "/3", ""])
        #expect(entries.map(\.redirects) == [0, 1, 2])
        #expect(entries.map(\.parent) == [nil, entries[0].id, entries[1].id])
        #expect(entries.allSatisfy { $0.request.fields["Host"] != nil })
    }

    /// With `isDirect`, no logger is set and the first attempt uses no task.
    @Test(arguments: [false, true]) func eachAttemptIsAnEntryAndTheParentOfTheNext(isDirect: Bool) async throws {
        let attempts = Lock(0)
        let entries = try await recorded({ _ in
            attempts.withLock { attempts in
                attempts += 1
                return attempts < 3 ? .response(503) : .response(200)
            }
        }) { dependencies in
            if isDirect { dependencies.logger = .off }
            dependencies.interceptors.replace(with: RetryInterceptor(backoff: Backoff(base: .zero, limit: 3)))
        } _: { client, url in
            _ = try await client.executeRequest(Request(url: URL(string: url)!, type: .fetchComponent))
        }
        #expect(entries.map { $0.response?.status } == [503, 503, 200])
        #expect(entries.map(\.attempt) == [1, 2, 3])
        #expect(entries.map(\.parent) == [nil, entries[0].id, entries[1].id])
        #expect(entries.allSatisfy { $0.error == nil })
    }

    @Test func storedResponseIsRecordedAsItsOwnEntry() async throws {
        let entries = try await recorded({ _ in .response(200, ["Content-Type": "text/plain"], "screen") }) {
            $0.interceptors.add(CacheInterceptor())
            $0.networkClient = NetworkClientDefault(
                dependencies: $0,
                transport: CurlTransport(),
                options: TransferOptions()
            )
        } _: { client, url in
            var operation = NetworkOperation(
                Request(url: URL(string: url)!, type: .fetchComponent),
                policy: .cacheFirst
            )
            operation.partition = "ana"
            for _ in 0..<2 { _ = try await client.run(operation) }
            operation.policy = .cacheAndNetwork
            _ = try await client.run(operation)
        }
        // The last run gives a stored response and one from the network.
        #expect(entries.map(\.isFromStore).sorted { !$0 && $1 } == [false, false, true, true])
        let reasons = entries.map { $0.cacheStatus?.prefix { $0 != ";" } }
        #expect(reasons.filter { $0 == "hit" }.count == 2)
        #expect(Set(reasons) == ["hit", "fwd=uri-miss", "fwd=bypass"])
        #expect(entries.allSatisfy { $0.response?.body.content == .data(Data("screen".utf8)) })
    }

    /// With `isDirect`, no logger is set and the client uses no task.
    @Test(arguments: [false, true]) func cancellationIsRecorded(isDirect: Bool) async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let entries = try await recorded({ _ in
            arrived.yield()
            return .stall
        }) {
            if isDirect { $0.logger = .off }
        } _: { client, url in
            let request = Request(url: URL(string: url)!, type: .rawRequest(.init()))
            await withCheckedContinuation { continuation in
                let token = client.executeRequest(request) { _ in continuation.resume() }
                Task {
                    _ = await arrivals.first { _ in true }
                    token?.cancel()
                }
            }
        }
        #expect(entries.count == 1)
        #expect(entries.first?.response == nil)
        #expect(entries.first?.error?.hasPrefix("cancelled: ") == true, "\(entries.first?.error ?? "")")
    }

    @Test func failureIsRecorded() async throws {
        let entries = try await recorded({ _ in .reset }) { client, url in
            let form = Request.FormData(method: .post, values: [:])
            _ = try? await client.executeRequest(Request(url: URL(string: url)!, type: .submitForm(form)))
        }
        let entry = try #require(entries.first)
        #expect(entry.response == nil)
        #expect(entry.error?.hasPrefix("network: ") == true, "\(entry.error ?? "")")
        #expect(entry.timings.total > .zero)
    }

    @Test func truncatedResponseIsRecordedUpToItsEnd() async throws {
        let entries = try await recorded({ _ in
            .sequence([.raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nhalf"), .close])
        }) { client, url in
            let form = Request.FormData(method: .post, values: [:])
            _ = try? await client.executeRequest(Request(url: URL(string: url)!, type: .submitForm(form)))
        }
        let entry = try #require(entries.first)
        #expect(entry.error?.hasPrefix("truncated: ") == true)
        #expect(entry.response?.status == 200)
        #expect(entry.response?.body.isTruncated == true)
    }

    @Test func streamIsRecordedWhileItIsRead() async throws {
        let piece = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let entries = try await recorded({ _ in .response(200, ["Content-Type": "image/png"], piece) }) { client, url in
            let stream = try await client.stream(Request(url: URL(string: url)!, type: .rawRequest(.init())))
            #expect(try await stream.body.collect() == piece)
        }
        let body = try #require(entries.first?.response?.body)
        #expect(body.size == 100_000)
        #expect(body.isTruncated == false)
        #expect(
            body.content
                == .file("bodies/\(try SHA256Digest.hex(of: piece).prefix(2))/\(try SHA256Digest.hex(of: piece))")
        )
    }

    @Test func beginningOfAnAbandonedStreamIsRecorded() async throws {
        let gate = try LoopbackServer.Gate()
        let entries = try await recorded({ _ in
            let head = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 9\r\n\r\n"
            return .sequence([.raw("\(head)half"), .gate(gate), .raw("other")])
        }) { client, url in
            let stream = try await client.stream(Request(url: URL(string: url)!, type: .rawRequest(.init())))
            for try await chunk in stream.body {
                #expect(chunk == Data("half".utf8))
                break
            }
        }
        gate.open()
        let entry = try #require(entries.first)
        #expect(entry.response?.body.content == .data(Data("half".utf8)))
        #expect(entry.response?.body.isTruncated == true)
        #expect(entry.response?.body.size == 9)
        #expect(entry.error == nil)
    }

    @Test func streamedUploadIsRecordedWhileItIsSent() async throws {
        let entries = try await recorded({ _ in .response(204) }) { client, url in
            let body = HTTPBody.stream(length: 6) {
                AsyncStream { continuation in
                    for text in ["abc", "def"] { continuation.yield(Data(text.utf8)) }
                    continuation.finish()
                }
            }
            let data = Request.RequestData(method: "PUT", headers: ["Content-Type": "image/png"], body: .stream(body))
            _ = try await client.executeRequest(Request(url: URL(string: url)!, type: .rawRequest(data)))
        }
        let body = try #require(entries.first?.request.body)
        #expect(body.content == .data(Data("abcdef".utf8)))
        #expect(body.size == 6)
    }

    @Test func uploadedFileIsRecorded() async throws {
        try await withLogDirectory { path in
            let file = "\(path).png"
            try Data("pixels".utf8).write(to: URL(fileURLWithPath: file))
            let entries = try await recorded({ _ in .response(204) }) { client, url in
                let data = Request.RequestData(
                    method: "PUT",
                    headers: ["Content-Type": "image/png"],
                    body: .stream(.file(path: file))
                )
                _ = try await client.executeRequest(Request(url: URL(string: url)!, type: .rawRequest(data)))
            }
            #expect(entries.first?.request.body?.content == .data(Data("pixels".utf8)))
        }
    }

    @Test func eventsAreRecordedAsMessages() async throws {
        let entries = try await recorded({ request in
            guard request.connection == 1 else { return .response(204) }
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            return .sequence([.raw("\(head)id: 1\ndata: a\n\ndata: b\r\n\r\n"), .close])
        }) { client, url in
            var events = try client.events(try #require(URL(string: url)))
            events.backoff.base = .zero
            for try await _ in events {}
        }
        #expect(entries.map { $0.response?.status } == [200, 204])
        #expect(entries[0].messages.map { String(decoding: $0.data, as: UTF8.self) } == ["id: 1\ndata: a", "data: b"])
        #expect(entries[0].messages.allSatisfy { $0.direction == .receive })
    }

    @Test func recordingClientRecordsEachWatchedResult() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            let server = try LoopbackServer(.response(200, [:], "hello"))
            let dependencies = BeagleDependencies()
            dependencies.logger = .off
            let client = RecordingClient(NetworkClientDefault(dependencies: dependencies), log: log)
            let url = try #require(URL(string: "\(server.url)/x"))
            let (results, continuation) = AsyncStream.makeStream(of: Void.self)
            let token = client.watch(NetworkOperation(Request(url: url, type: .fetchComponent))) { event in
                if case .result(let result) = event, result.isSettled { continuation.yield() }
            }
            var received = results.makeAsyncIterator()
            await received.next()
            client.refetch()
            await received.next()
            token?.cancel()
            await log.flush()
            let entries = try RequestLog.Reader.read(path).entries
            #expect(entries.map(\.kind) == ["component", "component"])
            #expect(entries.map { $0.response?.status } == [200, 200])
        }
    }

    @Test func recordingClientRecordsOneEntryForEachRequest() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            let stub = StubClient { request in
                guard request.url.path() != "/bad" else { throw NetworkError(.dns, during: .resolve, "no such host") }
                return NetworkResponse(text: "hello")
            }
            let client = RecordingClient(stub, log: log)
            let url = try #require(URL(string: "https://a.example/x"))
            _ = try await client.executeRequest(Request(url: url, type: .fetchComponent))
            _ = try await client.run(NetworkOperation(Request(url: url, type: .fetchImage)))
            _ = try await client.stream(Request(url: url, type: .rawRequest(.init()))).body.collect()
            _ = try? await client.executeRequest(
                Request(url: url.appending(path: "../bad").standardized, type: .fetchComponent)
            )
            await withCheckedContinuation { continuation in
                client.executeRequest(Request(url: url, type: .fetchComponent)) { _ in continuation.resume() }
            }
            await log.flush()
            let entries = try RequestLog.Reader.read(path).entries
            #expect(entries.map(\.kind) == ["component", "image", "raw", "component", "component"])
            #expect(entries.map { $0.response?.status } == [200, 200, 200, nil, 200])
            #expect(entries[3].error == "dns: no such host")
            #expect(entries[0].request.url == "https://a.example/x")
        }
    }

    @Test func environmentEnablesRecordingIfTheAppAllowsIt() async throws {
        try await withLogDirectory { path in
            let dependencies = BeagleDependencies()
            try dependencies.allow([], in: ["BEAGLENET_LOG": path])
            #expect(dependencies.requestLog == nil)
            try dependencies.allow(.log, in: [:])
            #expect(dependencies.requestLog == nil)
            try dependencies.allow(.log, in: ["BEAGLENET_LOG": path])
            #expect(dependencies.requestLog?.directory == path)
            #expect(dependencies.interceptors.contains { $0 is RecordInterceptor })
            dependencies.requestLog = nil
            #expect(!dependencies.interceptors.contains { $0 is RecordInterceptor })
        }
    }
}
