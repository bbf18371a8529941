import BeagleNet
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Downloads that resume where an earlier one stopped.
@Suite(.leavesNothing, .beagle(), .timeLimit(.minutes(5))) struct ResumeTests {
    private static let content = Data((0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 131 >> 3) })

    private let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)")
    private var path: String { folder.appending(path: "file").path(percentEncoded: false) }
    private let client = NetworkClientDefault(dependencies: Beagle.dependencies)

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// A file on a server, sent whole or from the offset that a request asks for.
    private struct Served: Sendable {
        var content = ResumeTests.content
        var validators = "ETag: \"one\"\r\n"

        /// - Parameter count: The number of body bytes after which the connection closes; `nil` sends all.
        func answer(_ request: LoopbackServer.Request, upTo count: Int? = nil) -> LoopbackServer.Response {
            var (status, range, body) = ("200 OK", "", content)
            if let start = request["Range"].flatMap({ Int($0.dropFirst("bytes=".count).dropLast()) }),
                request["If-Range"].map({ validators.contains(": \($0)\r\n") }) != false
            {
                body = content.dropFirst(start)
                status = body.isEmpty ? "416 Range Not Satisfiable" : "206 Partial Content"
                let sent = body.isEmpty ? "*" : "\(start)-\(content.count - 1)"
                range = "Content-Range: bytes \(sent)/\(content.count)\r\n"
            }
            let head = "HTTP/1.1 \(status)\r\n\(range)\(validators)Content-Length: \(body.count)\r\n\r\n"
            let whole = LoopbackServer.Response.raw(Data(head.utf8) + body.prefix(count ?? body.count))
            return count == nil ? whole : .sequence([whole, .close])
        }
    }

    /// Responds to the first request with `first`, and to those after it with `later`.
    private func server(
        _ first: @escaping Script,
        then later: @escaping Script
    ) throws -> LoopbackServer {
        let count = Lock(0)
        return try LoopbackServer { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? first(request) : later(request)
        }
    }

    private typealias Script = @Sendable (LoopbackServer.Request) -> LoopbackServer.Response

    private func cut(_ served: Served = Served(), at count: Int = 1000) -> Script {
        { served.answer($0, upTo: count) }
    }

    private func failDownload(from server: LoopbackServer) async throws -> NetworkError {
        try await #require(throws: NetworkError.self) {
            try await client.download("\(server.url)/file", to: path, resuming: true)
        }
    }

    private var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).sorted()
        }
    }

    private func bytes(of name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

    @Test func downloadResumesWhereItStopped() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("old".utf8).write(to: URL(filePath: path))
        let server = try server(cut()) { Served().answer($0) }
        #expect(try await failDownload(from: server).kind == .truncated)
        #expect(try names == ["file", "file.part", "file.part.json"])
        #expect(try bytes(of: "file.part") == Self.content.prefix(1000))
        #expect(try bytes(of: "file") == Data("old".utf8))
        #expect(try !String(decoding: bytes(of: "file.part.json"), as: UTF8.self).contains(server.authority))

        let progress = Lock<[TransferRequest.Progress]>([])
        let response = try await client.download("\(server.url)/file", to: path, resuming: true) { step in
            progress.withLock { $0.append(step) }
        }
        #expect(response.response.status == .partialContent)
        #expect(try names == ["file"])
        #expect(try bytes(of: "file") == Self.content)
        #expect(progress.withLock { $0.last?.bytesReceived } == 3000)
        #expect(progress.withLock { $0.last?.bytesToReceive } == 3000)
        let requests = server.requests
        #expect(requests.map { $0["Range"] } == [nil, "bytes=1000-"])
        #expect(requests.map { $0["If-Range"] } == [nil, "\"one\""])
        #expect(requests.map { $0["Accept-Encoding"] } == ["identity", "identity"])
    }

    private static let validatorIsUsedIfUnambiguousArguments: [(String, String?)] = [
        ("ETag: \"one\"\r\nETag: \"one\"\r\n", "\"one\""), ("ETag: \"one\"\r\nETag: \"two\"\r\n", nil),
        (
            "Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT\r\nDate: Sun Nov  6 08:50:37 1994\r\n",
            "Sunday, 06-Nov-94 08:49:37 GMT"
        ),
    ]

    @Test(arguments: Self.validatorIsUsedIfUnambiguousArguments)
    func validatorIsUsedIfUnambiguous(_ validators: String, _ sent: String?) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let served = Served(validators: validators)
        let server = try server(cut(served)) { served.answer($0) }
        _ = try await failDownload(from: server)
        try await client.download("\(server.url)/file", to: path, resuming: true)
        #expect(server.requests.map { $0["If-Range"] } == [nil, sent])
        #expect(try bytes(of: "file") == Self.content)
    }

    @Test func eTagIsSentBackByteForByte() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let tag = Data("\"caf".utf8) + [0xE9, 0x22]
        let head = Data("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nETag: ".utf8) + tag + Data("\r\n\r\nab".utf8)
        let rest = Data("HTTP/1.1 206 Part\r\nContent-Range: bytes 2-3/4\r\nContent-Length: 2\r\nETag: ".utf8) + tag
        let server = try server(
            { _ in .sequence([.raw(head), .close]) },
            then: { _ in .raw(rest + Data("\r\n\r\ncd".utf8)) }
        )
        _ = try await failDownload(from: server)
        try await client.download("\(server.url)/file", to: path, resuming: true)
        #expect(try bytes(of: "file") == Data("abcd".utf8))
        #expect(server.requests.count == 2)
        #expect(server.requests.last?.raw.firstRange(of: Data("If-Range: ".utf8) + tag + Data("\r\n".utf8)) != nil)
    }

    @Test func oldEnoughLastModifiedIsAValidator() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        let served = Served(validators: "Last-Modified: \(modified)\r\nDate: Sun, 06 Nov 1994 08:50:37 GMT\r\n")
        let server = try server(cut(served)) { served.answer($0) }
        _ = try await failDownload(from: server)
        try await client.download("\(server.url)/file", to: path, resuming: true)
        #expect(server.requests.map { $0["If-Range"] } == [nil, modified])
        #expect(try bytes(of: "file") == Self.content)
    }

    private static let downloadWithoutAStrongValidatorStartsOverArguments: [String] = [
        "", "ETag: W/\"one\"\r\n", "ETag: one\r\n", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
        "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:50:36 GMT\r\n",
        "ETag: W/\"1\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 09:50:36 GMT\r\n",
    ]

    @Test(arguments: Self.downloadWithoutAStrongValidatorStartsOverArguments)
    func downloadWithoutAStrongValidatorStartsOver(_ validators: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let served = Served(validators: validators)
        let server = try server(cut(served)) { served.answer($0) }
        _ = try await failDownload(from: server)
        #expect(try names.isEmpty)
        try await client.download("\(server.url)/file", to: path, resuming: true)
        #expect(server.requests.map { $0["Range"] } == [nil, nil])
        #expect(try bytes(of: "file") == Self.content)
    }

    @Test func changedFileIsDownloadedAgain() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let changed = Served(content: Data(repeating: 7, count: 2500), validators: "ETag: \"two\"\r\n")
        let server = try server(cut()) { changed.answer($0) }
        _ = try await failDownload(from: server)
        let response = try await client.download("\(server.url)/file", to: path, resuming: true)
        #expect(response.response.status == .ok)
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=1000-"])
        #expect(try bytes(of: "file") == changed.content)
        #expect(try names == ["file"])
    }

    @Test func downloadOfAnotherURLStartsOver() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try server(cut()) { Served().answer($0) }
        _ = try await failDownload(from: server)
        try await client.download("\(server.url)/file", to: path, resuming: true, query: [.init(name: "a", value: "b")])
        #expect(server.requests.map { $0["Range"] } == [nil, nil])
        #expect(try bytes(of: "file") == Self.content)
    }

    private static let mismatchedRangeResponseIsRequestedInFullArguments: [String] = [
        "206 Partial Content\r\nContent-Range: bytes 1000-2999/3000\r\nETag: \"two\"",
        "206 Partial Content\r\nContent-Range: bytes 1000-2999/3000",
        "206 Partial Content\r\nETag: \"one\"",
        "206 Partial Content\r\nContent-Range: bytes 999-2999/3000\r\nETag: \"one\"",
        "206 Partial Content\r\nContent-Range: bytes 1000-2998/2999\r\nETag: \"one\"",
        "206 Partial Content\r\nContent-Range: bytes 1000-2999/3000\r\nETag: \"one\"\r\nContent-Encoding: gzip",
        "206 Partial Content\r\nContent-Type: multipart/byteranges; boundary=x\r\nETag: \"one\"",
        "416 Range Not Satisfiable\r\nContent-Range: bytes */3000", "416 Range Not Satisfiable",
        "416 Range Not Satisfiable\r\nContent-Range: bytes */1000",
    ]

    /// Responses that don't match the partial file. The whole file is requested next.
    @Test(arguments: Self.mismatchedRangeResponseIsRequestedInFullArguments)
    func mismatchedRangeResponseIsRequestedInFull(_ answer: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try server(cut()) { request in
            request["Range"] == nil
                ? Served().answer(request) : .raw("HTTP/1.1 \(answer)\r\nContent-Length: 4\r\n\r\nlies")
        }
        _ = try await failDownload(from: server)
        let response = try await client.download("\(server.url)/file", to: path, resuming: true)
        #expect(response.response.status == .ok)
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=1000-", nil])
        #expect(try bytes(of: "file") == Self.content)
    }

    /// The first response doesn't state its length, and the connection closes before the last chunk.
    @Test func completePartialFileIsNotDownloadedAgain() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let head = "HTTP/1.1 200 OK\r\nETag: \"one\"\r\nTransfer-Encoding: chunked\r\n\r\nbb8\r\n"
        let unended = LoopbackServer.Response.sequence([.raw(Data(head.utf8) + Self.content), .close])
        let server = try server({ _ in unended }) { Served().answer($0) }
        _ = try await failDownload(from: server)
        let response = try await client.download("\(server.url)/file", to: path, resuming: true)
        #expect(response.response.status == .rangeNotSatisfiable)
        #expect(try bytes(of: "file") == Self.content)
        #expect(try names == ["file"])
    }

    /// Neither the first response nor the range states the length of the file (RFC 9110, 15.3.7).
    @Test func rangeOfUnknownLengthIsRequestedInFull() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let head = "HTTP/1.1 200 OK\r\nETag: \"one\"\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n"
        let unended = LoopbackServer.Response.sequence([.raw(Data(head.utf8) + Self.content.prefix(1000)), .close])
        let fields = "Content-Range: bytes 1000-1999/*\r\nETag: \"one\"\r\nContent-Length: 1000\r\n\r\n"
        let short = Data("HTTP/1.1 206 Partial Content\r\n\(fields)".utf8) + Self.content[1000..<2000]
        let server = try server({ _ in unended }) { $0["Range"] == nil ? Served().answer($0) : .raw(short) }
        _ = try await failDownload(from: server)
        try await client.download("\(server.url)/file", to: path, resuming: true)
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=1000-", nil])
        #expect(try bytes(of: "file") == Self.content)
    }

    @Test func rangeNeedsNoLengthIfTheLengthIsKnown() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let fields = "Content-Range: bytes 1000-2999/*\r\nETag: \"one\"\r\nContent-Length: 2000\r\n\r\n"
        let rest = Data("HTTP/1.1 206 Partial Content\r\n\(fields)".utf8) + Self.content[1000...]
        let server = try server(cut()) { _ in .raw(rest) }
        _ = try await failDownload(from: server)
        try await client.download("\(server.url)/file", to: path, resuming: true)
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=1000-"])
        #expect(try bytes(of: "file") == Self.content)
    }

    @Test func shorterRangeIsResumed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let fields = "Content-Range: bytes 1000-1999/3000\r\nETag: \"one\"\r\nContent-Length: 1000\r\n\r\n"
        let short = Data("HTTP/1.1 206 Partial Content\r\n\(fields)".utf8) + Self.content[1000..<2000]
        let server = try server(cut()) { request in
            request["Range"] == "bytes=1000-" ? .raw(short) : Served().answer(request)
        }
        _ = try await failDownload(from: server)
        let error = try await failDownload(from: server)
        #expect(error.kind == .truncated)
        #expect(error.message.contains("2000 of 3000"))
        try await client.download("\(server.url)/file", to: path, resuming: true)
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=1000-", "bytes=2000-"])
        #expect(try bytes(of: "file") == Self.content)
    }

    @Test func bytesBeyondTheStatedLengthAreAnError() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let head = "206 Partial Content\r\nContent-Range: bytes 1000-2999/3000\r\nETag: \"one\"\r\n"
        let server = try server(cut()) { request in
            request["Range"] == nil
                ? Served().answer(request)
                : .raw(Data("HTTP/1.1 \(head)Content-Length: 2001\r\n\r\n".utf8) + Data(count: 2001))
        }
        _ = try await failDownload(from: server)
        #expect(try await failDownload(from: server).kind == .protocol)
        #expect(try names.isEmpty)
    }

    /// All remaining bytes, labelled with a range that ends early.
    @Test func bytesBeyondTheStatedRangeAreAnError() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let head = "206 Partial Content\r\nContent-Range: bytes 1000-1999/3000\r\nETag: \"one\"\r\n"
        let server = try server(cut()) { request in
            request["Range"] == nil
                ? Served().answer(request)
                : .raw(Data("HTTP/1.1 \(head)Content-Length: 2000\r\n\r\n".utf8) + Self.content[1000...])
        }
        _ = try await failDownload(from: server)
        #expect(try await failDownload(from: server).kind == .protocol)
        #expect(try names.isEmpty)
    }

    @Test func unrequestedPartIsAnError() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let answer = LoopbackServer.Response.response(206, ["Content-Range": "bytes 0-3/9"], "part")
        let server = try LoopbackServer(answer)
        let error = try await #require(throws: NetworkError.self) {
            try await client.download("\(server.url)/file", to: path)
        }
        #expect(error.kind == .protocol)
        #expect(try names.isEmpty)
        try await client.download("\(server.url)/file", to: path, headers: ["range": "bytes=0-3"])
        #expect(try bytes(of: "file") == Data("part".utf8))
    }

    /// A requested part with more or fewer bytes than its range.
    @Test(arguments: ["bytes 0-2/9", "bytes 0-4/9"]) func partMustMatchItsRange(_ range: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try LoopbackServer(.response(206, ["Content-Range": range], "part"))
        let error = try await #require(throws: NetworkError.self) {
            try await client.download("\(server.url)/file", to: path, headers: ["Range": "bytes=0-9"])
        }
        #expect([.protocol, .truncated].contains(error.kind))
        #expect(try names.isEmpty)
    }

    @Test(arguments: ["200 OK\r\nETag: \"one\"\r\nContent-Encoding: gzip", "206 Partial Content\r\nETag: \"one\""])
    func unrequestedEncodingOrRangeIsAnError(_ answer: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try LoopbackServer(.raw("HTTP/1.1 \(answer)\r\nContent-Length: 4\r\n\r\nlies"))
        #expect(try await [.encoding, .protocol].contains(failDownload(from: server).kind))
        #expect(try names.isEmpty)
    }

    @Test func unrequestedRangeErrorIsAStatusError() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try LoopbackServer(.response(416, ["ETag": "\"one\""], "no such range"))
        let error = try await failDownload(from: server)
        #expect(error.kind == .status)
        #expect(error.response?.status == .rangeNotSatisfiable)
        #expect(server.record.requestCount == 1)
        #expect(try names.isEmpty)
    }

    @Test func errorStatusKeepsThePartialFile() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try server(cut()) { _ in .response(503, [:], "later") }
        _ = try await failDownload(from: server)
        #expect(try await failDownload(from: server).kind == .status)
        #expect(try bytes(of: "file.part") == Self.content.prefix(1000))
    }

    @Test func secondDownloadToTheSameFileIsAnError() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer { .sequence([.gate(gate), Served().answer($0)]) }
        async let first = client.download("\(server.url)/file", to: path, resuming: true)
        #expect(await server.until { $0.requestCount == 1 })
        let error = try await failDownload(from: server)
        #expect(error.kind == .file)
        #expect(error.message.contains("another download"))
        gate.open()
        _ = try await first
        #expect(try bytes(of: "file") == Self.content)
    }

    @Test(arguments: ["Range", "if-range", "ACCEPT-ENCODING"])
    func rangeHeadersOfTheCallerAreRejected(_ name: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let error = try await #require(throws: NetworkError.self) {
            try await client.download("http://127.0.0.1:9/", to: path, resuming: true, headers: [name: "x"])
        }
        #expect(error.kind == .badRequest)
        #expect(try names.isEmpty)
    }

    @Test func onlyARegularFileCanBeResumed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let error = try await #require(throws: NetworkError.self) {
            try await client.download("http://127.0.0.1:9/", to: "/dev/null", resuming: true)
        }
        #expect(error.kind == .file)
        #expect(error.message.contains("/dev/null"))
    }

    /// As after a crash while the record was written: half a record counts as none.
    @Test(arguments: ["", "{\"resource\":\"", "{}", "[1]"])
    func unreadableRecordIsIgnored(_ record: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("leftover".utf8).write(to: folder.appending(path: "file.part"))
        try Data(record.utf8).write(to: folder.appending(path: "file.part.json"))
        let server = try LoopbackServer { Served().answer($0) }
        try await client.download("\(server.url)/file", to: path, resuming: true)
        #expect(server.requests.map { $0["Range"] } == [nil])
        #expect(try bytes(of: "file") == Self.content)
        #expect(try names == ["file"])
    }
}
