import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Requests as they are sent, and responses of a well-behaved server.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct MessageTests {
    let transport = CurlTransport()

    private static let methodIsSentUnchangedArguments: [HTTPRequest.Method] = [
        .get, .post, .put, .patch, .delete, .options, .init("PURGE")!,
    ]

    @Test(arguments: Self.methodIsSentUnchangedArguments)
    func methodIsSentUnchanged(_ method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer { .response(200, [:], $0.method) }
        let response = try await transport.perform(server.request(method, "/a?b=c%20d&e"))
        #expect(try await response.text() == method.rawValue)
        #expect(server.requests.map(\.target) == ["/a?b=c%20d&e"])
        #expect(response.url == "\(server.url)/a?b=c%20d&e")
    }

    @Test(arguments: ["/a/../b/./c", "//a", "/%2e%2e/%41", "/a?../b&?", "/.", "/..?"])
    func targetIsSentUnchanged(_ target: String) async throws {
        let server = try LoopbackServer(.response(200))
        _ = try await transport.perform(server.request(.get, target))
        #expect(server.requests.map(\.target) == [target])
    }

    @Test func fieldsKeepOrderSpellingAndRepetition() async throws {
        let server = try LoopbackServer(.response(200))
        let fields: KeyValuePairs = ["x-lower": "1", "X-Twice": "a", "ACCEPT": "text/*", "X-Twice": "b", "X-Empty": ""]
        _ = try await transport.perform(server.request(.get, "/", fields))
        let request = try #require(server.requests.first)
        let sent = request.fields.filter { !["Host", "Accept-Encoding"].contains($0.name) }
        #expect(sent.map(\.name) == fields.map(\.key))
        #expect(sent.map(\.value) == fields.map(\.value))
        #expect(request["Host"] == server.authority)
    }

    @Test func onlyHostAndAcceptEncodingAreAdded() async throws {
        let server = try LoopbackServer(.response(200))
        _ = try await transport.perform(server.request())
        _ = try await transport.perform(server.request(.post, body: HTTPBody("x")))
        let names = server.requests.map { Set($0.fields.map { $0.name.lowercased() }) }
        #expect(names == [["host", "accept-encoding"], ["host", "accept-encoding", "content-length"]])
    }

    @Test(arguments: [.post, .put, .patch, .delete, .get] as [HTTPRequest.Method])
    func bodyIsSentWithItsLength(_ method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer(.response(200))
        _ = try await transport.perform(server.request(method, body: HTTPBody("grüß")))
        let request = try #require(server.requests.first)
        #expect(request.method == method.rawValue)
        #expect(request["Content-Length"] == "6")
        #expect(request.body == Data("grüß".utf8))
    }

    @Test(arguments: [.post, .put, .patch] as [HTTPRequest.Method])
    func missingBodyIsSentWithLengthZero(_ method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer(.response(200))
        _ = try await transport.perform(server.request(method))
        #expect(server.requests.first?.values(of: "Content-Length") == ["0"])
    }

    @Test func fileIsSent() async throws {
        let server = try LoopbackServer(.response(200))
        try await withTemporaryFolder { folder in
            let path = folder + "/body"
            try Data(repeating: 7, count: 300_000).write(to: URL(fileURLWithPath: path))
            _ = try await transport.perform(server.request(.post, body: .file(path: path)))
        }
        #expect(server.requests.first?["Content-Length"] == "300000")
        #expect(server.requests.first?.body == Data(repeating: 7, count: 300_000))
    }

    @Test func missingFileIsAnErrorBeforeAnythingIsSent() async throws {
        let server = try LoopbackServer(.response(200))
        let error = try await transport.failure(of: server.request(.post, body: .file(path: "/nowhere/at/all")))
        #expect(error.kind == .file)
        #expect(!error.mayHaveReachedServer)
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [200, 204, 304, 404, 500]) func anyStatusIsAResponse(_ status: Int) async throws {
        let server = try LoopbackServer(
            .response(status, ["ETag": "\"1\""], [204, 304].contains(status) ? "" : "text")
        )
        let response = try await transport.perform(server.request())
        #expect(response.head.status.code == status)
        #expect(response.head.headerFields[.eTag] == "\"1\"")
        #expect(try await response.text() == ([204, 304].contains(status) ? "" : "text"))
    }

    @Test func headResponseHasALengthAndNoBody() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Length": "1000000000000"]))
        let response = try await transport.perform(server.request(.head))
        #expect(response.head.headerFields[.contentLength] == "1000000000000")
        #expect(try await response.text() == "")
    }

    @Test func connectionIsReused() async throws {
        let server = try LoopbackServer(.response(200, [:], "body"))
        for _ in 1...5 { _ = try await transport.perform(server.request()) }
        #expect(server.record.connections == 1)
        #expect(server.requests.count == 5)
    }

    @Test func connectionIsNotReusedAfterConnectionClose() async throws {
        let server = try LoopbackServer(.sequence([.response(200, ["Connection": "close"], "x"), .close]))
        for _ in 1...3 { _ = try await transport.perform(server.request()) }
        #expect(server.record.connections == 3)
    }

    @Test func concurrentTransfersDoNotMixResponses() async throws {
        let server = try LoopbackServer { .response(200, [:], $0.target) }
        try await withThrowingTaskGroup { group in
            for number in 1...100 {
                group.addTask {
                    let response = try await transport.perform(server.request(.get, "/\(number)"))
                    #expect(try await response.text() == "/\(number)")
                }
            }
            try await group.waitForAll()
        }
        #expect(server.record.requestCount == 100)
    }

    @Test func bytesOfFieldsAreSentUnchanged() async throws {
        let server = try LoopbackServer(.response(200))
        var request = try server.request()
        let name = try #require(HTTPField.Name("X-Bytes"))
        request.head.headerFields.append(HTTPField(name: name, value: [0x61, 0xE9, 0xFF, 0x62]))
        _ = try await transport.perform(request)
        let raw = try #require(server.requests.first?.raw)
        #expect(raw.firstRange(of: Data("X-Bytes: a".utf8) + [0xE9, 0xFF] + Data("b\r\n".utf8)) != nil)
    }

    @Test func bytesOfACookieAreSentBackUnchanged() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.cookies = CookieJar()
        let transport = CurlTransport(configuration)
        let set =
            Data("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=caf".utf8) + [0xE9] + Data("\r\n\r\n".utf8)
        let server = try LoopbackServer(.raw(set))
        _ = try await transport.perform(server.request())
        var request = try server.request()
        request.head.headerFields.append(HTTPField(name: .cookie, value: Array("own=".utf8) + [0xFC]))
        _ = try await transport.perform(request)
        let raw = try #require(server.requests.last?.raw)
        var expected = Data("Cookie: own=".utf8)
        expected.append(0xFC)
        expected.append(contentsOf: "; a=caf".utf8)
        expected.append(contentsOf: [0xE9, 0x0D, 0x0A])
        #expect(raw.firstRange(of: expected) != nil)
    }

    @Test func repeatedResponseFieldsAreAllKept() async throws {
        let cookies = (1...50).map { "Set-Cookie: c\($0)=\($0)\r\n" }.joined()
        let head = "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Type: c/d\r\n\(cookies)Content-Length: 0\r\n\r\n"
        let server = try LoopbackServer(.raw(head))
        let response = try await transport.perform(server.request())
        #expect(response.head.headerFields[values: .setCookie] == (1...50).map { "c\($0)=\($0)" })
        #expect(response.head.headerFields[values: .contentType] == ["a/b", "c/d"])
    }

    @Test func interimResponsesAreReturned() async throws {
        let early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        let server = try LoopbackServer(.sequence([.raw("HTTP/1.1 100 Continue\r\n\r\n" + early), .response(200)]))
        let response = try await transport.perform(server.request())
        #expect(response.interim.map(\.status.code) == [100, 103])
        #expect(response.head.status.code == 200)
        #expect(response.head.headerFields.isEmpty || response.head.headerFields[.contentLength] == "0")
    }

    @Test func interimResponsesAreReportedOnArrival() async throws {
        let gate = try LoopbackServer.Gate()
        let early = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"
        let server = try LoopbackServer { request in
            request.target == "/moved"
                ? .sequence([.raw("HTTP/1.1 102 Processing\r\n\r\n"), .response(302, ["Location": "/"])])
                : .sequence([.raw(early), .gate(gate), .response(200)])
        }
        let responses = Lock<[HTTPResponse]>([])
        var request = try server.request(.get, "/moved")
        request.options.onInterim = TransferOptions.Hook { response in
            responses.withLock { $0.append(response) }
            if response.status.code == 103 { gate.open() }
        }
        let response = try await transport.perform(request)
        #expect(response.interim.map(\.status.code) == [103])
        #expect(responses.withLock { $0.map(\.status.code) } == [102, 103])
        #expect(responses.withLock { $0.last?.headerFields[.link] } == "</a.css>; rel=preload")
    }

    @Test func bodyIsDeliveredToAFileWithoutAPartialFile() async throws {
        let body = Data(repeating: 9, count: 3 << 20)
        let server = try LoopbackServer(.response(200, [:], body))
        try await withTemporaryFolder { folder in
            let path = folder + "/body"
            let response = try await transport.perform(server.request(delivery: .file(path: path)))
            #expect(response.head.status.code == 200)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == body)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["body"])
        }
    }

    @Test func truncatedDownloadCreatesNoFile() async throws {
        let half = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
        let server = try LoopbackServer(.sequence([.raw(half), .close]))
        try await withTemporaryFolder { folder in
            let error = try await transport.failure(of: server.request(delivery: .file(path: folder + "/body")))
            #expect(error.kind == .truncated)
            #expect(!FileManager.default.fileExists(atPath: folder + "/body"))
        }
    }

    @Test func metricsDescribeTheTransfer() async throws {
        let server = try LoopbackServer(.response(200, [:], "12345"))
        let first = try await transport.perform(server.request(.post, body: HTTPBody("123"))).metrics
        let second = try await transport.perform(server.request(.post, body: HTTPBody("123"))).metrics
        #expect(first.protocolName == "HTTP/1.1")
        #expect(first.remoteAddress == server.authority)
        #expect([first.bytesSent, first.bytesReceived, first.decodedBytes] == [3, 5, 5])
        #expect([first.isConnectionReused, second.isConnectionReused] == [false, true])
        #expect(first.connect > .zero && second.connect == .zero)
        #expect(first.connect <= first.requestStart && first.requestStart <= first.firstByte)
        #expect(first.firstByte <= first.total)
        #expect(first.tlsHandshake == .zero && first.redirects == 0 && first.resends == 0)
    }
}

/// Calls a closure with the path of a new temporary folder, which is removed afterwards.
func withTemporaryFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
        do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) }
    }
    try await body(folder.path)
}

extension HTTPField.Name {
    fileprivate static let link = Self("Link")!
}
