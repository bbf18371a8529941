import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

struct ResponseComparisonTests {
    private func response(
        _ status: Int = 200,
        _ fields: [(String, String)] = [],
        _ body: LogEntry.Body = LogEntry.Body()
    ) -> LogEntry.Response {
        LogEntry.Response(status: status, fields: fields.map { LogEntry.Field($0.0, $0.1) }, body: body)
    }

    private func differences(
        _ one: LogEntry.Response,
        _ other: LogEntry.Response,
        _ rules: ComparisonRules = .init()
    ) -> [String] {
        found(one, other, rules).list.map(\.description)
    }

    private func found(_ one: LogEntry.Response, _ other: LogEntry.Response, _ rules: ComparisonRules)
        -> ComparisonRules.Differences
    {
        var head = HTTPResponse(status: .init(code: other.status))
        for field in other.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            head.headerFields.append(HTTPField(name: name, value: field.value))
        }
        var data = Data()
        if case .data(let bytes) = other.body.content { data = bytes }
        return rules.differences(from: one, in: Recording([]), to: head, data)
    }

    private func bodies(_ one: String, _ other: String, _ type: String, _ rules: ComparisonRules = .init()) -> [String]
    {
        func response(_ text: String) -> LogEntry.Response {
            let fields = type.isEmpty ? [] : [("Content-Type", type)]
            return self.response(200, fields, LogEntry.Body(.data(Data(text.utf8))))
        }
        return differences(response(one), response(other), rules)
    }

    @Test func statusIsCompared() {
        #expect(differences(response(200), response(404)) == ["status: 200 → 404"])
        #expect(differences(response(404), response(200)) == ["status: 404 → 200"])
    }

    @Test func orderAndCaseOfFieldNamesAreIgnored() {
        #expect(
            differences(
                response(200, [("X-A", "1"), ("X-B", "2"), ("X-B", "3"), (":status", "200")]),
                response(200, [("x-b", "3"), ("x-b", "2"), ("x-a", "1")])
            ).isEmpty
        )
    }

    private static let differingFieldsAreReportedArguments: [([(String, String)], [(String, String)], [String])] = [
        ([("X-A", "1")], [("x-a", "2")], ["headers.X-A: 1 → 2"]), ([("X-A", "1")], [], ["headers.X-A: removed 1"]),
        ([], [("X-A", "1")], ["headers.X-A: added 1"]),
        ([("X-A", "1"), ("X-A", "1")], [("X-A", "1")], ["headers.X-A: removed 1"]),
        ([("X-A", "1")], [("X-A", "1"), ("X-A", "2")], ["headers.X-A: added 2"]),
        ([("Date", "a")], [("date", "b")], []),
        ([("Server", "a")], [], []), ([], [("X-Request-ID", "b")], []),
        (
            [("Set-Cookie", "b=REDACTED; Path=/"), ("Set-Cookie", "a=REDACTED")],
            [("Set-Cookie", "a=canary"), ("Set-Cookie", "b=canary; Path=/")], []
        ),
        (
            [("Set-Cookie", "a=REDACTED")], [("Set-Cookie", "z=canary; Secure")],
            ["headers.Set-Cookie: a=REDACTED → z=REDACTED; Secure"]
        ),
        ([("X-Api-Key", "canary1")], [("X-Api-Key", "canary2")], ["headers.X-Api-Key: REDACTED → REDACTED"]),
        (
            [("Location", "/a?token=canary1")], [("Location", "/b?token=canary2")],
            ["headers.Location: /a?token=REDACTED → /b?token=REDACTED"]
        ),
        ([("Not a name", "canary")], [], ["headers.Not a name: removed REDACTED"]),
    ]

    @Test(arguments: Self.differingFieldsAreReportedArguments)
    func differingFieldsAreReported(_ one: [(String, String)], _ other: [(String, String)], _ expected: [String]) {
        #expect(differences(response(200, one), response(200, other)) == expected)
    }

    @Test func ignoredFieldsAreConfigurable() {
        var rules = ComparisonRules()
        rules.ignoredHeaders = ["X-A"]
        let (one, other) = (
            response(200, [("x-a", "1"), ("Date", "a")]), response(200, [("x-a", "2"), ("Date", "b")])
        )
        #expect(differences(one, other, rules) == ["headers.Date: a → b"])
    }

    @Test(arguments: ["application/json", "application/problem+json; charset=utf-8", "", "text/plain", "text/json"])
    func jsonIsComparedAsJSON(_ type: String) {
        #expect(bodies(#"{"a":1,"b":2}"#, #"{"b":2.0, "a":1}"#, type).isEmpty)
        #expect(bodies(#"{"a":1}"#, #"{"a":2}"#, type) == ["$.a: 1 → 2"])
        #expect(bodies("[]", "", type) == ["body: JSON → nothing"])
        #expect(bodies("[]", "[1", type) == ["body: JSON → invalid JSON at byte 2 ($[1]): unexpected end of the text"])
    }

    @Test func textIsComparedByLines() {
        #expect(bodies("a\nb\nc", "a\r\nB\r\nc", "text/html") == ["body line 2: b → B"])
        #expect(bodies("a\nb\nc", "a\nc", "text/css") == ["body line 2: removed b"])
        #expect(bodies("a\nc", "a\nb\nc", "text/plain") == ["body line 2: added b"])
        #expect(bodies("x\u{1B}[31m", "y", "text/plain") == ["body line 1: x [31m → y"])
        #expect(bodies("<p>REDACTED</p>", "<p>secret</p>", "application/xhtml+xml").isEmpty)
        #expect(bodies("not json", "text", "application/json") == ["body line 1: not json → text"])
        #expect(bodies("a", "b", "", ComparisonRules.typesOnly).isEmpty)
    }

    @Test func probableSecretsAreNotShown() {
        let key = "AKIA" + "ABCDEFGHIJKLMNOP"
        #expect(bodies("<p>\(key)</p>", "<p></p>", "text/html") == ["body line 1: <p>REDACTED</p> → <p></p>"])
        #expect(bodies(#"["\#(key)"]"#, "[1]", "application/json") == [#"$[0]: "REDACTED" → 1"#])
        #expect(
            bodies("a=1&password=canary", "a=1", "application/x-www-form-urlencoded").allSatisfy {
                !$0.contains("canary")
            }
        )
    }

    @Test func otherBytesAreComparedByDigest() throws {
        let found = bodies("PNG1", "PNG22", "image/png")
        let digests = try ["PNG1", "PNG22"].map { text throws in try SHA256Digest.hex(of: Data(text.utf8)) }
        #expect(
            found == ["body: 4 bytes of image/png, SHA-256 \(digests[0]) → 5 bytes of image/png, SHA-256 \(digests[1])"]
        )
        #expect(bodies("PNG1", "PNG1", "image/png").isEmpty)
        #expect(bodies("[1]", "[1.0]", "image/png").count == 1, "an image is not compared as JSON")
        #expect(bodies("a", "b", "application/octet-stream").count == 1)
        #expect(bodies("<svg/>", "<svg></svg>", "image/svg+xml") == ["body line 1: <svg/> → <svg></svg>"])
    }

    private static let unrecordedBodyIsNotedArguments: [(LogEntry.Body, String)] = [
        (LogEntry.Body(.omitted("too large")), "too large"),
        (LogEntry.Body(.data(Data("a".utf8)), isTruncated: true), "only the beginning"),
        (LogEntry.Body(.file("none")), "no directory"),
    ]

    @Test(arguments: Self.unrecordedBodyIsNotedArguments)
    func unrecordedBodyIsNoted(_ body: LogEntry.Body, _ note: String) {
        let found = found(response(200, [], body), response(200, [], LogEntry.Body(.data(Data("x".utf8)))), .init())
        #expect(found.isEmpty)
        #expect(found.notes.count == 1)
        #expect(found.notes.first?.contains(note) == true)
    }

    @Test func comparingInvalidJSONIsAnError() throws {
        let rules = ComparisonRules()
        #expect(try rules.differences(from: Data("1".utf8), to: Data("1.0".utf8)).isEmpty)
        let error = #expect(throws: NetworkError.self) {
            try rules.differences(from: Data("{".utf8), to: Data("1".utf8))
        }
        #expect(error?.kind == .decoding)
    }
}

extension ComparisonRules {
    static var typesOnly: ComparisonRules {
        var rules = ComparisonRules()
        rules.comparesTypesOnly = true
        return rules
    }
}
