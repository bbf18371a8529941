import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

struct HARValidatorTests {
    /// The findings as severity, path and reason, and the summary.
    private func findings(_ text: String) async throws -> (texts: [String], summary: HARReader.Validator.Summary) {
        try await withFile(text.utf8) { path in
            var texts: [String] = []
            let bytes = Array(text.utf8)
            let summary = try HARReader.Validator(contentsOf: path).validate { finding in
                #expect(finding.file == path)
                #expect(finding.offset.map { $0 < bytes.count } ?? true)
                let path = finding.path.replacing("$.log.entries[0]", with: "")
                texts.append("\(finding.severity): \(path) \(finding.reason)")
            }
            return (texts, summary)
        }
    }

    @Test func validArchiveHasNoFindings() async throws {
        let (texts, summary) = try await findings(
            archive([
                "request.postData": #"{"mimeType":"text/plain","text":"abc","comment":"x"}"#, "_own": "1",
                "serverIPAddress": #""::1""#, "connection": #""7""#, "pageref": #""p""#,
                "cache":
                    #"{"beforeRequest":null,"afterRequest":{"lastAccess":"2026-11-22T08:15:30Z","eTag":"","hitCount":1}}"#,
                "response.cookies": #"[{"name":"a","value":"b","expires":null,"httpOnly":true}]"#,
                "response.content": #"{"size":2,"compression":-35,"mimeType":"","text":"ok"}"#,
                "timings": #"{"blocked":-1,"dns":-1,"connect":2,"ssl":1,"send":1,"wait":2,"receive":2.0}"#,
            ])
        )
        #expect(texts == [])
        #expect(summary.entries == 1 && summary.bodies == 2 && summary.bodyBytes == 5)
        #expect(summary.errors == 0 && summary.hints == 0)
    }

    @Test func invalidUTF8IsReportedWithItsOffset() async throws {
        let text = archive(["comment": #""~~""#])
        let place = try #require(text.utf8.firstIndex(of: UInt8(ascii: "~")))
        let offset = text.utf8.distance(from: text.startIndex, to: place)
        var bytes = Array(text.utf8)
        bytes.replaceSubrange(offset..<(offset + 2), with: [0xE9, 0xFF])
        try await withFile(bytes) { path in
            var findings: [Recording.Warning] = []
            let summary = try HARReader.Validator(contentsOf: path).validate { findings.append($0) }
            #expect(summary.errors == 1)
            #expect(findings.map(\.offset) == [offset])
            #expect(findings.first?.reason == "is not UTF-8")
        }
    }

    private static let violationsInEntriesAreReportedArguments: [([String: String], [String])] = [
        // required members, and their types
        (["startedDateTime": ""], ["error: .startedDateTime is missing"]),
        (["request": ""], ["error: .request is missing"]), (["request.url": ""], ["error: .request.url is missing"]),
        (["request.method": "7"], ["error: .request.method is a number, but should be a string"]),
        (["request.headers": "{}"], ["error: .request.headers is an object, but should be an array"]),
        (
            ["request.queryString": "[{\"name\":1}]"],
            [
                "error: .request.queryString[0].name is a number, but should be a string",
                "error: .request.queryString[0].value is missing",
            ]
        ),
        (["response": "null"], ["error: .response is null, but should be an object"]),
        (["response.redirectURL": "null"], ["error: .response.redirectURL is null, but should be a string"]),
        (
            ["response.content": "{}"],
            [
                "error: .response.content.size is missing", "error: .response.content.mimeType is missing",
            ]
        ),
        (
            ["response.cookies": #"[{"name":"a","value":"b","expires":"","secure":1}]"#],
            [
                "error: .response.cookies[0].expires is not an ISO 8601 date and time, such as 2026-11-22T08:15:30.123Z",
                "error: .response.cookies[0].secure is a number, but should be true or false",
            ]
        ),
        (["connection": "7"], ["error: .connection is a number, but should be a string"]),
        (["comment": "7"], ["error: .comment is a number, but should be a string"]),
        (
            ["request.postData": "{}"],
            [
                "error: .request.postData.mimeType is missing", "error: .request.postData.text is missing",
            ]
        ),
        // ranges
        (
            ["time": "-1"],
            ["error: .time is -1, but must not be negative", "hint: .time is -1, but its phases add up to 7.0"]
        ),
        (["response.status": "-1"], ["error: .response.status is -1, but must not be negative"]),
        (
            ["response.headersSize": "-2"],
            ["error: .response.headersSize is -2, but -1 is the only negative value allowed"]
        ),
        (["request.bodySize": "1.5"], ["error: .request.bodySize is 1.5, but should be an integer"]),
        (
            ["timings": #"{"send":-1,"wait":7,"receive":0,"dns":-2}"#],
            [
                "error: .timings.dns is -2, but -1 is the only negative value allowed",
                "error: .timings.send is -1, but must not be negative",
            ]
        ),
        // dates and addresses
        (
            ["startedDateTime": #""22/11/2026""#],
            [
                "error: .startedDateTime is not an ISO 8601 date and time, such as 2026-11-22T08:15:30.123Z"
            ]
        ),
        (["startedDateTime": #""2026-11-22T08:15:30""#], ["error: .startedDateTime has no time zone"]),
        (
            ["serverIPAddress": #""[::1]""#],
            ["error: .serverIPAddress is not an IPv4 address or an IPv6 address without brackets"]
        ),
        (
            ["serverIPAddress": #""""#],
            ["error: .serverIPAddress is not an IPv4 address or an IPv6 address without brackets"]
        ),
        // mutually exclusive members, sums
        (
            ["request.postData": #"{"mimeType":"","text":"a=b","params":[{"name":"a"}]}"#],
            [
                "hint: .request.postData.params must not be present together with text"
            ]
        ),
        (["time": "8"], ["hint: .time is 8, but its phases add up to 7.0"]),
        (
            ["timings": #"{"connect":0,"ssl":3,"send":1,"wait":2,"receive":4}"#],
            [
                "hint: .timings.ssl is longer than connect, which includes it"
            ]
        ),
        // values that cannot have been sent
        (
            ["request.url": #""/a#b""#],
            [
                "error: .request.url is not an absolute URL", "error: .request.url has a fragment, which is never sent",
            ]
        ),
        (
            ["response.headers": #"[{"name":"Set-Cookie","value":"a\nb"}]"#],
            [
                "error: .response.headers[0].value has a line break or NUL, which a header field must not have"
            ]
        ),
        (
            ["response.content": #"{"size":1,"mimeType":"","text":"*","encoding":"base64"}"#],
            [
                "error: .response.content.text is not base64, although its encoding says so"
            ]
        ),
        // unknown and duplicate members
        (
            ["request.settingEncodeUrl": "true"],
            [
                "hint: .request.settingEncodeUrl is not a member of HAR 1.2; names of custom members begin with an underscore"
            ]
        ),
        (["time": #"7,"time":7"#], ["error: .time occurs more than once"]),
    ]

    @Test(arguments: Self.violationsInEntriesAreReportedArguments)
    func violationsInEntriesAreReported(_ changes: [String: String], _ expected: [String]) async throws {
        #expect(try await findings(archive(changes)).texts == expected)
    }

    private static let unreadableBodyFileIsAnErrorArguments: [(String, String)] = [
        ("../secret", "is not a path below"), ("/etc/passwd", "is not a path below"), ("none", "No such file"),
        (".", "is not a path below"),
    ]

    @Test(arguments: Self.unreadableBodyFileIsAnErrorArguments)
    func unreadableBodyFileIsAnError(_ name: String, _ words: String) async throws {
        let (texts, summary) = try await findings(
            archive([
                "response.content": #"{"size":1,"mimeType":"","_file":"\#(name)"}"#,
                "request.postData": #"{"mimeType":"","_file":"\#(name)"}"#,
            ])
        )
        #expect(summary.errors == 2 && summary.bodies == 0)
        let places = [".request.postData._file", ".response.content._file"]
        #expect(texts.count == 2)
        for (text, place) in zip(texts, places) {
            #expect(text.hasPrefix("error: \(place) names a file that cannot be read: "), "\(text)")
            #expect(text.contains(words), "\(text)")
        }
    }

    @Test func bodyFileMustBeAString() async throws {
        let text = try await findings(archive(["response.content": #"{"size":1,"mimeType":"","_file":7}"#])).texts
        #expect(text == ["error: .response.content._file should be a string"])
    }

    private static let violationsInTheLogAreReportedArguments: [(String, [String])] = [
        (#"{"log":{"entries":[]}}"#, ["error: $.log.version is missing", "error: $.log.creator is missing"]),
        (
            #"{"log":{"version":"2.0","creator":{"name":"a"},"browser":[],"pages":[{}],"entries":[],"x":1},"y":2,"_z":3}"#,
            [
                "error: $.log.version is 2.0, which is not a known version",
                "error: $.log.creator.version is missing", "error: $.log.browser is an array, but should be an object",
                "error: $.log.pages[0].startedDateTime is missing", "error: $.log.pages[0].id is missing",
                "error: $.log.pages[0].title is missing", "error: $.log.pages[0].pageTimings is missing",
                "hint: $.log.x is not a member of HAR 1.2; names of custom members begin with an underscore",
                "error: $.y is not a member of HAR; only log is", "hint: $._z is not a member of HAR; only log is",
            ]
        ),
        (
            #"{"log":{"version":"1.1","version":"","creator":{"name":"","version":""},"entries":[12]}}"#,
            [
                "hint: $.log.version is 1.1, but the archive is checked as 1.2",
                "error: $.log.version occurs more than once",
                "hint: $.log.version is empty, but the archive is checked as 1.2",
                "error:  is a number, but should be an object",
            ]
        ),
    ]

    @Test(arguments: Self.violationsInTheLogAreReportedArguments)
    func violationsInTheLogAreReported(_ text: String, _ expected: [String]) async throws {
        let (texts, summary) = try await findings(text)
        #expect(texts == expected)
        #expect(summary.errors == expected.count { $0.hasPrefix("error") })
        #expect(summary.hints == expected.count { $0.hasPrefix("hint") })
    }

    @Test func entriesOutOfOrderAreAHint() async throws {
        let later = entryText(["startedDateTime": #""2026-11-22T08:15:31Z""#])
        let text =
            #"{"log":{"version":"1.2","creator":{"name":"","version":""},"entries":[\#(later),\#(entryText())]}}"#
        let texts = try await findings(text).texts
        #expect(texts == ["hint: $.log.entries[1].startedDateTime is earlier than that of the previous entry"])
    }

    @Test func findingHasTheOffsetOfItsValue() async throws {
        let text = "\u{FEFF}\n" + archive(["response.status": #""two hundred""#])
        try await withFile(text.utf8) { path in
            var found: [Recording.Warning] = []
            _ = try HARReader.Validator(contentsOf: path).validate { found.append($0) }
            let offset = try #require(found.first?.offset)
            #expect(Array(text.utf8)[offset...].starts(with: #""two hundred""#.utf8))
            #expect(found.first?.path == "$.log.entries[0].response.status")
        }
    }

    @Test func findingsBeforeAFaultAreReported() async throws {
        try await withFile((archive(["time": #""x""#]).dropLast(3) + ",{").utf8) { path in
            var paths: [String] = []
            let error = #expect(throws: NetworkError.self) {
                _ = try HARReader.Validator(contentsOf: path).validate { paths.append($0.path) }
            }
            #expect(paths == ["$.log.entries[0].time"])
            #expect((error?.underlying as? Recording.Warning)?.path == "$.log.entries[1]")
        }
    }

    @Test func writtenArchiveIsValid() async throws {
        try await withFolder { folder in
            var entry = LogEntry(
                started: .init(timeIntervalSince1970: 1_795_335_330.5),
                request: LogEntry.Request(
                    method: "POST",
                    url: "https://h/?a=b",
                    fields: [LogEntry.Field("Cookie", "a=b")]
                ),
                response: LogEntry.Response(status: 200, fields: [LogEntry.Field("Set-Cookie", "a=b; Path=/")]),
                timings: LogEntry.Timings(connect: .milliseconds(3), tls: .milliseconds(2), wait: .microseconds(1_001))
            )
            entry.request.body = LogEntry.Body(.data(.init([0xFF])), mediaType: "image/png")
            let failed = LogEntry(started: entry.started, request: entry.request, error: "timeout")
            try Recording([entry, failed]).writeHAR(to: "\(folder)/a.har")
            var texts: [String] = []
            _ = try HARReader.Validator(contentsOf: "\(folder)/a.har").validate { texts.append($0.description) }
            #expect(texts == [])
        }
    }
}
