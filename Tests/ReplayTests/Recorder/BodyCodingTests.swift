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

/// Recording of bodies with a content coding: their secrets are visible only after decoding.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct BodyCodingTests {
    private static let form = Data("name=Ana&password=c4n4ry".utf8)
    private static let shownForm = Data("name=Ana&password=REDACTED".utf8)
    private static let json = Data(#"{"password":"c4n4ry"}"#.utf8)
    private static let shownJSON = Data(#"{"password":"REDACTED"}"#.utf8)

    private static func coded(_ data: Data, _ coding: String) throws -> Data {
        var output = Data()
        let deflater = try Deflater(isGzip: coding == "gzip")
        try data.withUnsafeBytes { bytes in
            try deflater.write(bytes, isLast: true) { piece throws(NetworkError) in output.append(contentsOf: piece) }
        }
        // RFC 1951 is RFC 1950 without head and checksum.
        return coding == "bare deflate" ? output.dropFirst(2).dropLast(4) : output
    }

    /// Records a request and its response, and returns the entry in the log.
    private func recorded(
        _ fields: HTTPFields,
        _ body: HTTPBody?,
        _ answer: NetworkResponse = NetworkResponse(text: "ok"),
        _ options: RequestLog.Options = RequestLog.Options()
    ) async throws -> LogEntry {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path, options: options)
            let recorder = TransferRecorder(log, TransferRecorder.Context())
            var head = HTTPRequest(method: .post, scheme: "https", authority: "a.example", path: "/it")
            head.headerFields = fields
            var transfer = TransferRequest(head, body: body)
            recorder.begin(&transfer)
            if case .stream? = transfer.body?.content { _ = try await transfer.body?.collect() }
            recorder.end(answer)
            await log.close()
            for file in try FileManager.default.subpathsOfDirectory(atPath: path) {
                guard FileManager.default.contents(atPath: "\(path)/\(file)") != nil else { continue }
                #expect(try contents("\(path)/\(file)").firstRange(of: Data("c4n4ry".utf8)) == nil)
            }
            return try #require(try RequestLog.Reader.read(path).entries.first)
        }
    }

    @Test(arguments: ["gzip", "deflate", "bare deflate"], ["", "application/x-www-form-urlencoded"])
    func encodedUploadIsRecordedDecoded(_ coding: String, _ type: String) async throws {
        let (text, shown) = type.isEmpty ? (Self.json, Self.shownJSON) : (Self.form, Self.shownForm)
        var fields: HTTPFields = [.contentEncoding: coding.hasSuffix("deflate") ? "Deflate" : coding]
        if !type.isEmpty { fields[.contentType] = type }
        let bytes = try Self.coded(text, coding)
        let stream = HTTPBody.stream {
            AsyncStream { pieces in
                for byte in bytes { pieces.yield(Data([byte])) }
                pieces.finish()
            }
        }
        for body in [HTTPBody(bytes), stream] {
            let entry = try await recorded(fields, body)
            #expect(entry.request.body?.content == .data(shown))
            #expect(entry.request.body?.size == Int64(shown.count))
            #expect(entry.request.body?.isTruncated == false)
            #expect(entry.redactions.contains { $0.hasPrefix("request.postData.text") })
        }
    }

    @Test func encodedUploadOfAnArchiveIsImportedDecoded() async throws {
        try await withLogDirectory { path in
            let entry = Exchanges.entry(
                "POST",
                "https://a.example/it",
                fields: [LogEntry.Field("Content-Encoding", "deflate")],
                body: LogEntry.Body(.data(try Self.coded(Self.json, "deflate")), mediaType: "")
            )
            let log = try LogImport(to: path)
            log.write(entry, of: Recording([entry]))
            try log.finish()
            let read = try #require(try RequestLog.Reader.read(path).entries.first)
            #expect(read.request.body?.content == .data(Self.shownJSON))
        }
    }

    @Test func encodedFileIsRecordedDecoded() async throws {
        try await withLogDirectory { path in
            try Self.coded(Self.json, "gzip").write(to: URL(fileURLWithPath: path))
            let entry = try await recorded([.contentEncoding: "gzip"], .file(path: path))
            #expect(entry.request.body?.content == .data(Self.shownJSON))
        }
    }

    @Test(arguments: ["application/octet-stream", "application/x-www-form-urlencoded", ""])
    func undecodableBodyIsOmitted(_ type: String) async throws {
        let gzip = try Self.coded(Self.json, "gzip")
        let cases = [("compress", Self.json), ("gzip", Self.json), ("gzip, own", gzip), ("gzip", gzip + [1])]
        for (coding, bytes) in cases {
            var fields: HTTPFields = [.contentEncoding: coding]
            fields[.contentType] = type
            let entry = try await recorded(fields, HTTPBody(bytes))
            #expect(entry.request.body?.content == .omitted("unredactable"))
            #expect(entry.redactions.contains("request.postData.text:[encoding]"))
        }
    }

    @Test func truncatedEncodedBodyIsMarkedAsTruncated() async throws {
        let bytes = try Self.coded(Self.form, "gzip").dropLast(8)
        let fields: HTTPFields = [.contentEncoding: "gzip", .contentType: "text/plain"]
        let body = try #require(try await recorded(fields, HTTPBody(bytes)).request.body)
        #expect(body.isTruncated)
        #expect(body.size == -1)
    }

    /// A small body may decode to a very large one.
    @Test func decodingStopsAtTheBodyLimit() async throws {
        var options = RequestLog.Options()
        options.maxBodyBytes = 100
        let bytes = try Self.coded(Data(repeating: UInt8(ascii: "a"), count: 4 << 20), "gzip")
        let fields: HTTPFields = [.contentEncoding: "gzip", .contentType: "text/plain"]
        let body = try await recorded(fields, HTTPBody(bytes), NetworkResponse(text: "ok"), options).request.body
        #expect(body?.content == .data(Data(repeating: UInt8(ascii: "a"), count: 100)))
        #expect(body?.isTruncated == true)
    }

    // MARK: - Responses

    /// Requests a response over a socket. Returns the recorded entry and the body that the app received.
    private func answered(
        _ coding: String,
        _ body: Data,
        _ delivery: TransferRequest.Delivery,
        accepting: String?
    ) async throws -> (LogEntry, Data) {
        try await withLogDirectory { path in
            let server = try LoopbackServer(
                .response(200, ["Content-Type": "application/json", "Content-Encoding": coding], body)
            )
            let log = try RequestLog(directory: path)
            var head = HTTPRequest(method: .get, scheme: "http", authority: server.authority, path: "/")
            head.headerFields[.acceptEncoding] = accepting
            var request = TransferRequest(head)
            request.delivery = delivery
            let response = try await RecordingTransport(CurlTransport(), log: log).perform(request)
            let data = try await response.body.collect()
            await log.close()
            return (try #require(try RequestLog.Reader.read(path).entries.first), data)
        }
    }

    @Test(arguments: [TransferRequest.Delivery.collect, .stream])
    func encodedResponseIsRecordedDecoded(_ delivery: TransferRequest.Delivery) async throws {
        let bytes = try Self.coded(Self.json, "gzip")
        let (entry, data) = try await answered("gzip", bytes, delivery, accepting: "gzip")
        #expect(data == bytes)
        #expect(entry.response?.body.content == .data(Self.shownJSON))
        let (decoded, text) = try await answered("gzip", bytes, delivery, accepting: nil)
        #expect(text == Self.json)
        #expect(decoded.response?.body.content == .data(Self.shownJSON))
    }

    @Test(arguments: [TransferRequest.Delivery.collect, .stream])
    func responseBodyInAnUnknownCodingIsOmitted(_ delivery: TransferRequest.Delivery) async throws {
        let (entry, data) = try await answered("own", Self.json, delivery, accepting: nil)
        #expect(data == Self.json)
        #expect(entry.response?.body.content == .omitted("unredactable"))
    }

    // MARK: - Decoded recordings

    private func entry(_ body: Data, coding: String = "gzip") -> LogEntry {
        let fields = [LogEntry.Field("Content-Encoding", coding), LogEntry.Field("Content-Type", "application/json")]
        let body = LogEntry.Body(.data(body), mediaType: "application/json")
        return Exchanges.entry("POST", "/p", fields: fields, body: body, answer: "posted")
    }

    @Test func encodedRequestMatchesADecodedRecording() async throws {
        var message = Exchanges.message("POST", "/p")
        message.head.headerFields = [.contentEncoding: "gzip", .contentType: "application/json"]
        let coded = try Self.coded(Self.json, "gzip")
        message.body = HTTPBody(coded)
        for recorded in [Self.shownJSON, coded] {
            let transport = ReplayTransport(Recording([entry(recorded)]))
            #expect(await transport.text(message) == "posted")
        }
        let other = ReplayTransport(Recording([entry(Data(#"{"password":"REDACTED","a":1}"#.utf8))]))
        #expect(await other.text(message) == "not_in_recording")
    }

    @Test func reissuedRequestHasTheCodingOfItsBody() throws {
        let message = ReissueRequestBuilder(
            routes: ReissueRoutes(fallback: try Reissuer.Target("http://127.0.0.1:81"), hosts: [:]),
            headers: [],
            allowsUnsafeMethods: true
        )
        let coded = try Self.coded(Self.form, "gzip")
        for (body, coding) in [(Self.form, nil), (coded, "gzip")] {
            let entry = entry(body)
            let request = try message.request(entry) { _ in body }
            #expect(request.head.headerFields[.contentEncoding] == coding)
            #expect(request.body?.data == body)
            #expect(entry.curlCommand().contains("Content-Encoding") == (coding != nil))
        }
    }

    @Test func encodedArchiveBodyIsDecodedBeforeRedaction() throws {
        let coded = entry(try Self.coded(Self.json, "gzip"))
        #expect(coded.redacted(by: Redactor()).request.body?.content == .data(Self.shownJSON))
        #expect(coded.findings().contains { $0.hasPrefix("request.postData.text") })
        let unknown = entry(Data([0xFF, 0]) + Self.json, coding: "own")
        #expect(unknown.redacted(by: Redactor()).request.body?.content == .omitted("unredactable"))
        #expect(unknown.findings() == ["request.postData.text:[encoding]"])
    }

    @Test func appendedEntryIsRecordedDecoded() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            log.append(entry(try Self.coded(Self.json, "gzip")))
            log.append(entry(Self.json))
            log.append(entry(Data([0xFF, 0]) + Self.json, coding: "own"))
            await log.close()
            let contents = try RequestLog.Reader.read(path).entries.map { $0.request.body?.content }
            #expect(contents == [.data(Self.shownJSON), .data(Self.shownJSON), .omitted("unredactable")])
        }
    }
}
