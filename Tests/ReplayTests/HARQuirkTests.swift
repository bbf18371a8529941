import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Deviations from HAR 1.2 by browsers, proxies and other tools, each seen in one of their files.
struct HARQuirkTests {
    // MARK: Times

    private static let everyDateFormatIsReadArguments: [(String, Double)] = [
        (#""2026-11-22T08:15:30.123Z""#, 30.123), (#""2026-11-22T08:15:30.123456Z""#, 30.123456),
        (#""2026-11-22T08:15:30Z""#, 30), (#""2026-11-22T08:15:30.5+00:00""#, 30.5),
        (#""2026-11-22T01:15:30.5-07:00""#, 30.5), (#""2026-11-22T08:15:30.123""#, 30.123),
        (#""2026-11-22T09:15:30+0100""#, 30), ("1795335330500", 30.5),
    ]

    @Test(arguments: Self.everyDateFormatIsReadArguments)
    func everyDateFormatIsRead(_ text: String, _ seconds: Double) async throws {
        let started = try await entry(["startedDateTime": text]).started
        #expect(abs(started.timeIntervalSince1970 - 1_795_335_300 - seconds) < 1e-6)
    }

    @Test(arguments: ["null", #""yesterday""#, "[]", ""])
    func missingOrInvalidDateIsAWarning(_ text: String) async throws {
        let recording = try await recording(of: archive(["startedDateTime": text]))
        #expect(recording.warnings.map(\.path) == ["$.log.entries[0].startedDateTime"])
        #expect(recording.entries.count == 1)
    }

    @Test func fractionalAndMissingTimingsAreRead() async throws {
        let firefox = #"{"blocked":-1,"dns":0,"connect":0,"ssl":0,"send":0,"wait":70.4021,"receive":null}"#
        let timings = try await entry(["timings": firefox]).timings
        #expect(timings.blocked == nil && timings.dns == .zero && timings.receive == nil)
        let wait = try #require(timings.wait)
        #expect(abs(wait / .microseconds(1) - 70_402.1) < 0.01)
        // `ssl` is not included in `connect` here.
        let outside = try await entry(["timings": #"{"connect":3,"ssl":10,"send":0,"wait":1,"receive":-1}"#]).timings
        #expect(outside.total == .milliseconds(11))
    }

    @Test(arguments: [
        "{}", "", "null",
        #"{"blocked":-1,"dns":-1,"connect":-1,"ssl":-1,"send":-1,"wait":-1,"receive":-1}"#,
    ])
    func totalTimeIsUsedIfPhasesAreUnknown(_ timings: String) async throws {
        let read = try await entry(["timings": timings, "time": "70.5"]).timings
        #expect(read == LogEntry.Timings(wait: .microseconds(70_500)))
    }

    // MARK: Members that are null, missing or of another type

    @Test func nullMembersAreReadAsMissing() async throws {
        let read = try await entry([
            "response.redirectURL": "null", "response.headersSize": "null", "response.bodySize": "null",
            "request.postData": "null", "serverIPAddress": #""""#, "connection": "null", "_webSocketMessages": "null",
            "cache": #"{"beforeRequest":null,"afterRequest":null}"#, "pageref": "null",
            "response.content": #"{"size":null,"mimeType":null,"text":null}"#,
        ])
        #expect(read.response?.redirectURL == "")
        #expect(read.response?.headBytes == -1 && read.response?.bodyBytes == -1)
        #expect(read.request.body == nil && read.serverAddress == nil && read.connection == nil)
        #expect(read.messages == [])
        #expect(read.response?.body == LogEntry.Body(.omitted("unknown")))
        #expect(read.unknownMembers.map(\.name) == ["cache", "pageref"])
    }

    @Test func missingMembersAreUnknown() async throws {
        let text = #"{"log":{"entries":[{"request":{"method":"PUT","url":"http://h/"},"response":{}}]}}"#
        let read = try #require(try await recording(of: text).entries.first)
        #expect(read.request.method == "PUT" && read.request.fields == [] && read.request.bodyBytes == -1)
        #expect(read.response?.status == 0 && read.response?.body.size == -1)
        #expect(read.timings == LogEntry.Timings())
    }

    @Test func requestWithoutAResponseIsAnEntry() async throws {
        // As k6 and LI-HAR write them.
        let text = """
            {"log":{"entries":[{"request":{"method":"POST","url":"http://h/a","queryString":[{"name":"q","value":"a b&"},
            {"name":"r","value":"%20"}],"headers":[{"name":":authority","value":"h"},{"name":"A","value":"1"}],
            "cookies":[{"name":"c","value":"1"},{"name":"d","value":"2"}],
            "postData":{"mimeType":"application/x-www-form-urlencoded",
            "params":[{"name":"a b","value":"1&2"},{"name":"c","value":"%C3%A9+"}]}}}]}}
            """
        let recording = try await recording(of: text)
        let read = try #require(recording.entries.first)
        #expect(read.response == nil)
        #expect(read.request.url == "http://h/a?q=a%20b%26&r=%20")
        #expect(read.request.fields == [LogEntry.Field("A", "1"), LogEntry.Field("Cookie", "c=1; d=2")])
        let body = try #require(read.request.body)
        let data = try recording.data(of: body)
        #expect(String(decoding: data, as: UTF8.self) == "a%20b=1%262&c=%C3%A9+")
    }

    @Test func urlQueryTakesPrecedenceOverQueryString() async throws {
        let read = try await entry([
            "request.url": #""http://h/?=""#,
            "request.queryString": #"[{"name":"","value":""},{"name":"x","value":"1"}]"#,
        ])
        #expect(read.request.url == "http://h/?=")
    }

    @Test func valuesOfWrongTypesAreConverted() async throws {
        let read = try await entry([
            "response.status": #""404""#, "response.statusText": "7", "response.cookies": "{}", "connection": "443",
            "response.headers": #"{"A":"1","B":2}"#, "request.headers": #"[["C","3"],["D",4],[],{"name":"E"},5]"#,
            "time": #""7""#, "response.content": "[]", "request.postData": #""a=b""#, "request.headersSize": "1.0",
        ])
        #expect(read.response?.status == 404)
        #expect(read.response?.fields == [LogEntry.Field("A", "1"), LogEntry.Field("B", "2")])
        #expect(read.request.fields == [LogEntry.Field("C", "3"), LogEntry.Field("D", "4"), LogEntry.Field("E", "")])
        #expect(read.connection == "443" && read.request.headBytes == 1)
        #expect(read.request.body == nil)
    }

    @Test func invalidEntriesAreSkippedWithAWarning() async throws {
        let recording = try await recording(
            of: #"{"log":{"entries":[null,12,{},[],{"request":null},\#(entryText())]}}"#
        )
        #expect(recording.entries.count == 1)
        #expect(recording.warnings.map(\.path) == (0..<5).map { "$.log.entries[\($0)]" })
        #expect(recording.warnings.first?.offset == 19)
    }

    // MARK: Messages

    @Test func joinedHeaderFieldsAreSplit() async throws {
        let joined =
            #"[{"name":"Set-Cookie","value":"a=1\nb=2"},{"name":"X","value":"1\r\n2"},{"name":"Y","value":""}]"#
        let read = try await entry(["response.headers": joined])
        #expect(
            read.response?.fields == [
                LogEntry.Field("Set-Cookie", "a=1"), LogEntry.Field("Set-Cookie", "b=2"), LogEntry.Field("X", "1"),
                LogEntry.Field("X", "2"), LogEntry.Field("Y", ""),
            ]
        )
    }

    @Test func cookiesWithoutSetCookieFieldBecomeOne() async throws {
        let cookie = #"{"name":"a","value":"1","path":"/","domain":"h","expires":null,"httpOnly":true,"secure":true}"#
        let read = try await entry(["response.cookies": "[\(cookie),{}]"])
        #expect(read.response?.fields == [LogEntry.Field("Set-Cookie", "a=1; Path=/; Domain=h; Secure; HttpOnly")])
        let both = try await entry([
            "response.cookies": "[\(cookie)]", "response.headers": #"[{"name":"set-cookie","value":"b=2"}]"#,
        ])
        #expect(both.response?.fields == [LogEntry.Field("set-cookie", "b=2")])
    }

    private static let failedRequestsKeepTheirStatusAndErrorArguments: [(String, Int)] = [
        (#"{"response.status":"0"}"#, 0), (#"{"response.status":"-1"}"#, -1), (#"{"response.status":"null"}"#, 0),
    ]

    @Test(arguments: Self.failedRequestsKeepTheirStatusAndErrorArguments)
    func failedRequestsKeepTheirStatusAndError(_ json: String, _ status: Int) async throws {
        let value = try JSONValue(parsing: json)["response.status"]?.string ?? ""
        let failed = try await entry([
            "response.status": value, "response.content": "{}", "response.httpVersion": #""""#,
            "response._error": #""net::ERR_FAILED""#,
        ])
        #expect(failed.response?.status == status)
        #expect(failed.error == "net::ERR_FAILED")
        #expect(failed.response?.body.content == .omitted("unknown"))
        #expect(try await entry(["response._failureText": #""net::ERR_ABORTED""#]).error == "net::ERR_ABORTED")
    }

    private static let httpVersionsAreKeptAndWrittenInCommonSpellingArguments: [(String, String)] = [
        ("h2", "HTTP/2"), ("http/2.0", "HTTP/2"), ("HTTP/2.0", "HTTP/2"), ("h3", "HTTP/3"), ("HTTP/3", "HTTP/3"),
        ("http/1.1", "HTTP/1.1"), ("1.1", "HTTP/1.1"), ("HTTP/1.0", "HTTP/1.0"), ("", ""), ("data", "data"),
    ]

    @Test(arguments: Self.httpVersionsAreKeptAndWrittenInCommonSpellingArguments)
    func httpVersionsAreKeptAndWrittenInCommonSpelling(_ spelling: String, _ written: String) async throws {
        let read = try await entry(["response.httpVersion": "\"\(spelling)\""])
        #expect(read.response?.httpVersion == spelling)
        var output = JSONOutput()
        read.write(to: &output)
        #expect(try ParsedJSON(output.bytes).root["response"]?["httpVersion"]?.string == written)
    }

    // MARK: Bodies

    private static let responseContentIsDecodedArguments: [(String, LogEntry.Body.Content, Int64)] = [
        (#"{"size":-1,"mimeType":"x"}"#, LogEntry.Body.Content.omitted("unknown"), -1),
        (#"{"size":5,"encoding":"base64"}"#, .omitted("unknown"), 5), (#"{"text":""}"#, .data(Data()), 0),
        // Some tools write the transferred size.
        (#"{"size":3,"text":"AP8=","encoding":"base64"}"#, .data(Data([0, 255])), 2),
        (#"{"text":"A P\n8=","encoding":"BASE64"}"#, .data(Data([0, 255])), 2),
        (#"{"text":"*","encoding":"base64"}"#, .omitted("not base64"), -1),
        (#"{"text":"a\ud83d b","encoding":""}"#, .data(Data("a\u{FFFD} b".utf8)), 6),
        (#"{"text":"\ud83d\ude00"}"#, .data(Data("😀".utf8)), 4), (#"{"_file":"a/b.png"}"#, .file("a/b.png"), -1),
    ]

    @Test(arguments: Self.responseContentIsDecodedArguments)
    func responseContentIsDecoded(_ text: String, _ content: LogEntry.Body.Content, _ size: Int64) async throws {
        let body = try await entry(["response.content": text]).response?.body
        #expect(body?.content == content)
        #expect(body?.size == size)
    }

    private static let postDataIsDecodedArguments: [(String, LogEntry.Body.Content)] = [
        (#"{"mimeType":"t","text":"a","params":[{"name":"b"}]}"#, LogEntry.Body.Content.data(Data("a".utf8))),
        (#"{"mimeType":"t","text":"YQ==","_encoding":"base64"}"#, .data(Data("a".utf8))),
        (
            #"{"mimeType":"t","params":[{"name":"f","fileName":"x","contentType":"y"}]}"#,
            .parameters([LogEntry.Parameter(name: "f", fileName: "x", contentType: "y")])
        ),
        (#"{"mimeType":"t","params":[]}"#, .data(Data())), (#"{"_file":"a"}"#, .file("a")),
    ]

    @Test(arguments: Self.postDataIsDecodedArguments)
    func postDataIsDecoded(_ text: String, _ content: LogEntry.Body.Content) async throws {
        #expect(try await entry(["request.postData": text]).request.body?.content == content)
    }

    // MARK: WebSockets

    @Test func messageTimesAreSecondsOrMilliseconds() async throws {
        let messages = """
            [{"type":"send","time":1795335330.5,"opcode":1,"data":"hé"},
            {"type":"receive","time":1795335330500.25,"opcode":2,"data":"AP8="},{"type":"receive","opcode":-1},
            {"type":"receive","time":1e999,"opcode":2,"data":"no base64!"}]
            """
        let read = try await entry(["_webSocketMessages": messages]).messages
        #expect(read.map(\.direction) == [.send, .receive, .receive, .receive])
        #expect(read.map(\.time.timeIntervalSince1970) == [1_795_335_330.5, 1_795_335_330.500_25, 0, 0])
        #expect(read.map(\.data) == [Data("hé".utf8), Data([0, 255]), Data(), Data("no base64!".utf8)])
    }

    // MARK: Archives

    @Test(arguments: [
        #""version":"1.1","#, #""version":"","#, #""version":2,"#, "", #""creator":null,"browser":{},"pages":null,"#,
    ])
    func versionAndOtherLogMembersAreIgnored(_ members: String) async throws {
        for text in ["{\"log\":{\(members)\"entries\":[\(entryText())]}}", "\u{FEFF}[\(entryText())]"] {
            #expect(try await recording(of: text).entries.count == 1)
        }
        #expect(try await recording(of: "{\(members)\"entries\":[\(entryText())],\"z\":1}").entries.count == 1)
    }

    @Test func unknownMembersAreKept() async throws {
        let text = entryText([
            "_priority": #""High""#, "request.settingEncodeUrl": "true", "response._transferSize": "12",
            "timings": #"{"send":0,"wait":1,"receive":2,"_blocked_queueing":0.250}"#, "comment": #""mine""#,
            "cache": #"{"afterRequest":{"hitCount":1}}"#,
        ])
        let read = try #require(try await recording(of: "[\(text)]").entries.first)
        var output = JSONOutput()
        read.write(to: &output)
        let written = try ParsedJSON(output.bytes).root
        #expect(written["timings"]?["_blocked_queueing"]?.numberText == "0.250")
        #expect(written["_cache"]?["afterRequest"]?["hitCount"]?.integer == 1)
        #expect(written["comment"]?.string == "mine" && written["request"]?["settingEncodeUrl"]?.bool == true)
        #expect(LogEntry(written) == read)
    }
}
