import BeagleNet
import BeagleNetHTTP
import BeagleNetTesting
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Decoding of archived bodies to bytes, and bodies that are missing in archives.
@Suite(.timeLimit(.minutes(5))) struct ArchivedBodyTests {
    private static func headers(_ fields: [(String, String)]) -> String {
        "[" + fields.map { #"{"name":"\#($0.0)","value":"\#($0.1)"}"# }.joined(separator: ",") + "]"
    }

    /// The body of a response with this text.
    private func response(_ type: String, _ text: String, size: Int = -1, _ fields: [(String, String)] = [])
        async throws
        -> LogEntry.Body
    {
        let content = #"{"size":\#(size),"mimeType":"\#(type)","text":\#(JSONValue.string(text))}"#
        let headers = Self.headers([("Content-Type", type)] + fields)
        let entry = try await entry(["response.content": content, "response.headers": headers])
        return try #require(entry.response?.body)
    }

    /// The body of a request with this text; without `postData` if the text is `nil`.
    private func request(
        _ type: String?,
        _ text: String?,
        _ fields: [(String, String)] = [],
        bodySize: Int = -1,
        method: String = "POST"
    ) async throws -> LogEntry.Body? {
        let type = type.map { [("Content-Type", $0)] } ?? []
        let data = text.map { #"{"mimeType":"\#(type.first?.1 ?? "")","text":\#(JSONValue.string($0))}"# } ?? ""
        let entry = try await entry([
            "request.method": "\"\(method)\"", "request.headers": Self.headers(type + fields),
            "request.bodySize": "\(bodySize)", "request.postData": data,
        ])
        return entry.request.body
    }

    private static let utf8 = Array("é".utf8)
    private static let png: [UInt8] = [0x89, 0x50, 0xFF]

    /// Type, text, stated size, header fields, and the bytes.
    private static let texts: [(String, String, Int, [(String, String)], [UInt8])] = [
        // UTF-8 in the archive, something else on the wire.
        ("text/plain; charset=iso-8859-1", "é", 1, [("Content-Length", "1")], [0xE9]),
        ("text/plain; charset=iso-8859-1", "é", -1, [], [0xE9]),
        // Playwright states the size of the text in UTF-8.
        ("text/plain; charset=iso-8859-1", "é", 2, [], [0xE9]),
        ("text/plain; charset=shift_jis", "日", 2, [], [0x93, 0xFA]),
        ("application/json; charset=big5", "中", 2, [], [0xA4, 0xA4]),
        // The Content-Length shows that the charset is wrong.
        ("text/plain; charset=iso-8859-1", "é", 2, [("Content-Length", "2")], utf8),
        ("text/plain; charset=iso-8859-1", "日", 3, [], Array("日".utf8)),
        ("text/plain; charset=unheard-of", "é", -1, [], utf8), ("text/plain; charset=utf-8", "é", 2, [], utf8),
        ("text/plain", "é", -1, [], utf8), ("text/plain", "é", 2, [("Content-Length", "2")], utf8),
        // One character for each byte.
        ("text/plain; charset=utf-8", "aÿþb", 4, [("Content-Length", "4")], [0x61, 0xFF, 0xFE, 0x62]),
        ("text/plain", "Ã©", 2, [], utf8), ("text/html", "é", 1, [], [0xE9]),
        ("text/plain; charset=shift_jis", "\u{93}ú", 2, [("Content-Length", "2")], [0x93, 0xFA]),
        ("image/png", "\u{89}Pÿ", -1, [], png), ("application/octet-stream", "\u{89}Pÿ", 3, [], png),
        ("application/octet-stream", "\u{89}Pÿ", 2, [("Content-Encoding", "gzip"), ("Content-Length", "2")], png),
        ("text/plain", "é", 1, [("Content-Encoding", "gzip"), ("Content-Length", "1")], utf8),
        // The size includes a byte order mark, but the text doesn't.
        ("text/plain; charset=utf-8", "é", 5, [("Content-Length", "5")], [0xEF, 0xBB, 0xBF] + utf8),
        ("text/plain; charset=utf-16", "é", 4, [("Content-Length", "4")], [0xFF, 0xFE, 0xE9, 0]),
        ("text/plain", "a", 4, [("Content-Length", "4")], [0xEF, 0xBB, 0xBF, 0x61]),
        // A replacement character that was already in the body on the wire.
        ("text/plain", "a\u{FFFD}", 4, [("Content-Length", "4")], Array("a\u{FFFD}".utf8)),
        ("text/plain", "a\u{FFFD}", 30, [("Content-Encoding", "br")], Array("a\u{FFFD}".utf8)),
    ]

    @Test(arguments: texts) func responseTextIsDecodedToBytes(
        _ type: String,
        _ text: String,
        _ size: Int,
        _ fields: [(String, String)],
        _ bytes: [UInt8]
    ) async throws {
        let body = try await response(type, text, size: size, fields)
        #expect(body.content == .data(Data(bytes)))
        #expect(body.size == bytes.count)
        #expect(!body.isTruncated)
    }

    private static let requestTextIsDecodedToBytesArguments: [(String, String, [(String, String)], Int, [UInt8])] =
        [
            ("image/png", "\u{89}Pÿ", [("Content-Length", "3")], -1, png),
            ("text/plain", "Ã©", [("Content-Length", "2")], 2, utf8),
            ("text/plain", "Ã©", [], 2, utf8), ("text/plain; charset=iso-8859-1", "é", [], -1, [0xE9]),
            ("text/plain", "é", [("Content-Length", "2")], 2, utf8), ("text/plain", "é", [], -1, utf8),
            ("text/plain", "\u{1F}\u{8B}", [("Content-Length", "2"), ("Content-Encoding", "gzip")], 2, [0x1F, 0x8B]),
        ]

    @Test(arguments: Self.requestTextIsDecodedToBytesArguments)
    func requestTextIsDecodedToBytes(
        _ type: String,
        _ text: String,
        _ fields: [(String, String)],
        _ bodySize: Int,
        _ bytes: [UInt8]
    ) async throws {
        let body = try #require(try await request(type, text, fields, bodySize: bodySize))
        #expect(body.content == .data(Data(bytes)))
        #expect(!body.isTruncated)
    }

    @Test(arguments: [
        "text/plain; charset=iso-8859-1", "text/plain; charset=shift_jis", "text/plain; charset=utf-16",
        "text/plain; charset=iso-2022-jp", "text/plain",
    ])
    func writtenBodiesAreReadAsTheSameBytes(_ type: String) throws {
        let bodies: [[UInt8]] = [
            Array("a\u{1B}$B\\~".utf8), Array("é".utf8), [0xE9], [0x93, 0xFA], [0x61, 0], [0xFF, 0xFE, 0x61, 0],
            [0, 0xFF],
        ]
        for bytes in bodies {
            let body = LogEntry.Body(.data(Data(bytes)), mediaType: type)
            let fields = [LogEntry.Field("Content-Type", type)]
            let entry = LogEntry(
                started: Date(timeIntervalSince1970: 0),
                request: LogEntry.Request(method: "POST", url: "http://h/", fields: fields, body: body),
                response: LogEntry.Response(status: 200, fields: fields, body: body)
            )
            var output = JSONOutput()
            entry.write(to: &output)
            let read = LogEntry(try ParsedJSON(output.bytes).root)
            #expect(read.response?.body.content == .data(Data(bytes)), "\(bytes)")
            #expect(read.request.body?.content == .data(Data(bytes)), "\(bytes)")
        }
    }

    @Test func nonUTF8BodyIsWrittenAsText() throws {
        let type = "text/plain; charset=shift_jis"
        let body = LogEntry.Body(.data(Data([0x93, 0xFA])), mediaType: type)
        var output = JSONOutput()
        LogEntry(
            started: Date(timeIntervalSince1970: 0),
            request: LogEntry.Request(method: "GET", url: "http://h/"),
            response: LogEntry.Response(status: 200, fields: [LogEntry.Field("Content-Type", type)], body: body)
        ).write(to: &output)
        #expect(try ParsedJSON(output.bytes).root["response"]?["content"]?["text"]?.string == "日")
    }

    // MARK: Bodies that were not recorded

    private static let lost = "the recorder left it out"
    private static let replaced = "the recorder replaced bytes that it could not decode"

    private static let requestWithAnOmittedBodyIsNotSentArguments:
        [(String?, String?, [(String, String)], Int, String, Int64)] = [
            ("multipart/form-data; boundary=b", nil, [("Content-Length", "282")], 0, lost, 282),
            ("text/plain", "", [("Content-Length", "3")], 0, lost, 3), ("text/plain", nil, [], 7, lost, -1),
            ("application/json", nil, [], 0, lost, -1), (nil, nil, [("Transfer-Encoding", "chunked")], -1, lost, -1),
            ("image/png", "\u{0}\u{FFFD}", [("Content-Length", "5")], 5, replaced, 5),
            ("text/plain", "a\u{FFFD}", [], -1, replaced, -1),
        ]

    @Test(arguments: Self.requestWithAnOmittedBodyIsNotSentArguments)
    func requestWithAnOmittedBodyIsNotSent(
        _ type: String?,
        _ text: String?,
        _ fields: [(String, String)],
        _ bodySize: Int,
        _ reason: String,
        _ size: Int64
    ) async throws {
        let body = try #require(try await request(type, text, fields, bodySize: bodySize))
        #expect(body.content == .omitted(reason))
        #expect(body.size == size)
        let error = #expect(throws: NetworkError.self) { try Recording([]).wholeBody(body) }
        #expect(error?.message == "the body was not recorded: \(reason)")
    }

    private static let requestWithoutABodyIsReadWithoutOneArguments: [(String, String?, [(String, String)])] = [
        ("POST", nil, []), ("POST", nil, [("Content-Length", "0")]), ("DELETE", "application/json", []),
        ("GET", "application/json", []), ("POST", "text/plain", [("Content-Length", "0")]),
    ]

    @Test(arguments: Self.requestWithoutABodyIsReadWithoutOneArguments)
    func requestWithoutABodyIsReadWithoutOne(_ method: String, _ type: String?, _ fields: [(String, String)])
        async throws
    {
        #expect(try await request(type, nil, fields, bodySize: 0, method: method) == nil)
    }

    @Test func anyBodyMatchesAnOmittedRequestBody() async throws {
        let recording = try await recording(
            of: archive([
                "request.method": #""POST""#, "request.headers": Self.headers([("Content-Length", "282")]),
            ])
        )
        let url = try #require(recording.entries.first?.request.url)
        let message = Exchanges.message("POST", url, body: Exchanges.form("a=b"))
        let answer = try await ReplayTransport(recording).perform(message)
        #expect(try await answer.body.collect() == Data("ok".utf8))
    }

    @Test func commentGivesTheReasonForAnOmittedRequestBody() async throws {
        let data = #"{"mimeType":"text/plain","comment":"Request bodies are not included."}"#
        let body = try await entry(["request.method": #""POST""#, "request.postData": data]).request.body
        #expect(body?.content == .omitted("Request bodies are not included"))
    }

    @Test func requestWithATruncatedBodyIsNotSent() async throws {
        let body = try #require(try await request("text/plain", "abc", [("Content-Length", "10")]))
        #expect(body.isTruncated && body.size == 10)
        #expect(throws: NetworkError.self) { try Recording([]).wholeBody(body) }
        // More text than the length states: the archive was edited by hand.
        #expect(try await request("text/plain", "abc", [("Content-Length", "2")])?.isTruncated == false)
    }

    /// An entry whose response has this status, length and content.
    private func answered(
        _ status: Int,
        _ length: Int?,
        _ content: String,
        method: String = "GET",
        coding: String? = nil
    )
        async throws -> LogEntry
    {
        let fields = [("Content-Length", length.map(String.init)), ("Content-Encoding", coding)].compactMap {
            name,
            value in
            value.map { (name, $0) }
        }
        return try await entry([
            "request.method": "\"\(method)\"", "response.status": "\(status)", "response.content": content,
            "response.headers": Self.headers(fields + (status == 302 ? [("Location", "/b")] : [])),
        ])
    }

    private func collect(_ entry: LogEntry) async throws -> Data {
        var message = Exchanges.message(entry.request.method, entry.request.url)
        message.options.redirects = .manual
        return try await ReplayTransport(Recording([entry])).perform(message).body.collect()
    }

    private static let omittedResponseBodyIsNotReplayedAsEmptyArguments: [(Int, Int?, String, String?)] = [
        (200, 5, #"{"size":0,"comment":"Response bodies are not included."}"#, nil),
        (200, nil, #"{"size":0,"comment":"Response bodies are not included."}"#, nil),
        (200, 5, #"{"size":-1}"#, nil),
        (200, 5, #"{"size":0}"#, "gzip"), (404, 5, #"{"size":5,"text":""}"#, nil), (200, nil, #"{"size":5}"#, nil),
        (200, 3, #"{"size":3,"text":"a\ufffd"}"#, nil),
    ]

    @Test(arguments: Self.omittedResponseBodyIsNotReplayedAsEmptyArguments)
    func omittedResponseBodyIsNotReplayedAsEmpty(_ status: Int, _ length: Int?, _ content: String, _ coding: String?)
        async throws
    {
        let entry = try await answered(status, length, content, coding: coding)
        let error = await #expect(throws: NetworkError.self) { try await collect(entry) }
        #expect(error?.kind == .notInRecording)
        let differences = ComparisonRules().differences(
            from: try #require(entry.response),
            in: Recording([]),
            to: HTTPResponse(status: .init(code: status)),
            Data()
        )
        #expect(differences.missingBody != nil)
    }

    private static let omittedBodyThatIsNeverReadIsReplayedAsEmptyArguments: [(Int, Int?, String, String)] = [
        (302, 5, #"{"size":0,"comment":"Response bodies are not included."}"#, "GET"),
        (302, 5, #"{"size":0}"#, "GET"),
        (302, 5, #"{"size":0,"text":""}"#, "GET"), (200, 5, #"{"size":0}"#, "HEAD"),
        (304, 5, #"{"size":0}"#, "GET"),
        (204, nil, #"{"size":0}"#, "GET"), (200, 0, #"{"size":0}"#, "GET"), (200, nil, #"{"size":-1}"#, "GET"),
    ]

    @Test(arguments: Self.omittedBodyThatIsNeverReadIsReplayedAsEmptyArguments)
    func omittedBodyThatIsNeverReadIsReplayedAsEmpty(_ status: Int, _ length: Int?, _ content: String, _ method: String)
        async throws
    {
        #expect(try await collect(answered(status, length, content, method: method)).isEmpty)
    }

    @Test func truncatedResponseFails() async throws {
        let entry = try await answered(200, 100, #"{"size":4,"text":"part"}"#)
        #expect(entry.response?.body.isTruncated == true && entry.response?.body.size == 100)
        let error = await #expect(throws: NetworkError.self) { try await collect(entry) }
        #expect(error?.kind == .truncated)
        // mitmproxy writes no text for such a response.
        let empty = try await answered(200, 100, #"{"size":0,"text":""}"#)
        #expect(await #expect(throws: NetworkError.self) { try await collect(empty) }?.kind == .truncated)
        // With a content coding, the length is that of the encoded bytes.
        #expect(
            try await collect(answered(200, 100, #"{"size":4,"text":"part"}"#, coding: "gzip")) == Data("part".utf8)
        )
    }

    @Test func contentLengthIsThatOfTheDecodedBytes() async throws {
        // mitmproxy writes the size of the encoded bytes.
        let entry = try await answered(200, 3, #"{"size":3,"text":"decoded"}"#, coding: "gzip")
        let response = try await ReplayTransport(Recording([entry])).perform(
            Exchanges.message("GET", entry.request.url)
        )
        #expect(response.head.headerFields[.contentLength] == "7")
        #expect(try await response.body.collect() == Data("decoded".utf8))
    }

    @Test func bodiesInOurOwnLogsAreNotAssumedMissing() async throws {
        let own = #"{"v":1,"id":"a-1"}"#
        let entry = try await entry([
            "_beagle": own, "request.method": #""POST""#, "response.content": #"{"size":4,"text":"part"}"#,
            "request.headers": Self.headers([("Content-Length", "9")]),
            "response.headers": Self.headers([("Content-Length", "9")]),
        ])
        #expect(entry.request.body == nil)
        #expect(entry.response?.body == LogEntry.Body(.data(Data("part".utf8))))
    }

    // MARK: Fields that recorders add

    @Test(arguments: ["X-Firefox-Spdy", "x-firefox-http3", "OkHttp-Sent-Millis", "X-Android-Response-Source"])
    func fieldAddedByARecorderIsIgnored(_ name: String) async throws {
        let headers = Self.headers([("A", "1"), (name, "h2"), ("X-Firefox", "kept")])
        let read = try await entry(["response.headers": headers])
        #expect(read.response?.fields == [LogEntry.Field("A", "1"), LogEntry.Field("X-Firefox", "kept")])
    }

    // MARK: Files

    private static let textInAFileIsDecodedToBytesArguments: [(String, [UInt8], Int, String?, [UInt8])] = [
        ("iso-8859-1", Array("é".utf8), 2, "1", [0xE9]), ("iso-8859-1", Array("é".utf8), 2, nil, [0xE9]),
        ("iso-8859-1", Array("é".utf8), 2, "2", Array("é".utf8)), ("iso-8859-1", [0xE9], 1, nil, [0xE9]),
        ("shift_jis", Array("日".utf8), 3, nil, [0x93, 0xFA]), ("shift_jis", [0x93, 0xFA], 2, nil, [0x93, 0xFA]),
        ("utf-16", [0x61, 0], 2, nil, [0x61, 0]), ("utf-16", [0x61], 1, nil, [0x61, 0]),
        ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x46, 0x7C], 5, nil, [0x1B, 0x24, 0x42, 0x46, 0x7C]),
    ]

    @Test(arguments: Self.textInAFileIsDecodedToBytesArguments)
    func textInAFileIsDecodedToBytes(
        _ charset: String,
        _ file: [UInt8],
        _ size: Int,
        _ length: String?,
        _ bytes: [UInt8]
    ) async throws {
        try await withFolder { folder in
            try Data(file).write(to: URL(filePath: "\(folder)/body.txt"))
            let type = "text/plain; charset=\(charset)"
            let fields = [("Content-Type", type)] + (length.map { [("Content-Length", $0)] } ?? [])
            let text = archive([
                "response.content": #"{"size":\#(size),"mimeType":"\#(type)","_file":"body.txt"}"#,
                "response.headers": Self.headers(fields),
            ])
            try Data(text.utf8).write(to: URL(filePath: "\(folder)/a.har"))
            let recording = try Recording(contentsOf: "\(folder)/a.har")
            let entry = try #require(recording.entries.first)
            let body = try #require(entry.response?.body)
            #expect(try recording.data(of: body) == Data(bytes))
            #expect(try await recording.body(of: body).collect() == Data(bytes))
            let answer = try await ReplayTransport(recording).perform(Exchanges.message("GET", entry.request.url))
            #expect(try await answer.body.collect() == Data(bytes))
        }
    }

    // MARK: Comparison

    @Test func textsAreComparedAcrossEncodings() throws {
        func differences(_ type: String, _ bytes: [UInt8], _ other: String, _ otherBytes: [UInt8]) -> [String] {
            let recorded = LogEntry.Response(
                status: 200,
                fields: [LogEntry.Field("Content-Type", type)],
                body: LogEntry.Body(.data(Data(bytes)), mediaType: type)
            )
            var rules = ComparisonRules()
            rules.ignoredHeaders.insert("content-type")
            let head = HTTPResponse(status: .ok, headerFields: [.contentType: other])
            return rules.differences(from: recorded, in: Recording([]), to: head, Data(otherBytes)).list.map(
                \.description
            )
        }
        let (sjis, utf8) = ("text/plain; charset=shift_jis", "text/plain; charset=utf-8")
        #expect(differences(sjis, [0x93, 0xFA], utf8, Array("日".utf8)) == [])
        #expect(differences(sjis, [0x93, 0xFA], utf8, Charset.utf8Mark + Array("日".utf8)) == [])
        #expect(differences(utf8, Array("日".utf8), sjis, [0x93, 0xFA]) == [])
        #expect(differences(sjis, [0x93, 0xFA], sjis, [0x96, 0x7B]) == ["body line 1: 日 → 本"])
        let json = "application/json; charset=utf-16"
        let (one, other) = (Array(#"{"a":"é"}"#.utf16), Array(#"{"a":"b"}"#.utf16))
        func bytes(_ units: [UInt16]) -> [UInt8] { units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } }
        #expect(differences(json, bytes(one), json, bytes(other)) == [#"$.a: "é" → "b""#])
        #expect(differences(json, bytes(one), json, [0xFF, 0xFE] + bytes(one)) == [])
    }

    @Test func secretsAreRedactedInUTF16Text() throws {
        let type = "application/json; charset=utf-16"
        let charset = try #require(Charset(label: "utf-16"))
        let secret = try #require(charset.encoded(#"{"password":"hunter2","a":"é"}"#))
        let entry = Exchanges.entry("GET", "/a", type: type)
        var secretEntry = entry
        secretEntry.response?.body = LogEntry.Body(.data(secret), mediaType: type)
        let shown = secretEntry.redacted(by: Redactor())
        #expect(
            try Recording([]).data(of: #require(shown.response?.body))
                == charset.encoded(#"{"password":"REDACTED","a":"é"}"#)
        )
        #expect(shown.redactions == ["response.content.text:$.password"])
    }
}
