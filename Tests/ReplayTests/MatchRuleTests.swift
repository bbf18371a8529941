import BeagleNet
import BeagleNetReplay
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Whether an entry matches a request, rule by rule.
struct MatchRuleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let rules: [ReplayTransport.MatchRule]
        let recorded: LogEntry
        let replayed: TransferRequest
        let isSame: Bool

        init(
            _ name: String,
            _ rules: [ReplayTransport.MatchRule],
            _ recorded: LogEntry,
            _ replayed: TransferRequest,
            _ isSame: Bool
        ) {
            (self.name, self.rules, self.recorded, self.replayed, self.isSame) = (
                name, rules, recorded, replayed, isSame
            )
        }

        var testDescription: String { name }
    }

    private static func head(
        _ name: String,
        _ rules: [ReplayTransport.MatchRule],
        _ recorded: String,
        _ replayed: String,
        _ isSame: Bool
    ) -> Row {
        Row(name, rules, Exchanges.entry("GET", recorded), Exchanges.message("GET", replayed), isSame)
    }

    private static func head(_ name: String, _ recorded: String, _ replayed: String, _ isSame: Bool) -> Row {
        head(name, .standard, recorded, replayed, isSame)
    }

    private static func body(
        _ name: String,
        _ rules: [ReplayTransport.MatchRule],
        _ recorded: LogEntry.Body?,
        _ replayed: LogEntry.Body?,
        _ isSame: Bool
    ) -> Row {
        Row(
            name,
            rules,
            Exchanges.entry("POST", "/p", body: recorded),
            Exchanges.message("POST", "/p", body: replayed),
            isSame
        )
    }

    private static func body(_ name: String, _ recorded: LogEntry.Body?, _ replayed: LogEntry.Body?, _ isSame: Bool)
        -> Row
    {
        body(name, .standard, recorded, replayed, isSame)
    }

    static let heads: [Row] = [
        head("same", "/a?b=1", "/a?b=1", true),
        Row("method", .standard, Exchanges.entry("POST", "/a"), Exchanges.message("GET", "/a"), false),
        Row("without the method", [.path], Exchanges.entry("POST", "/a"), Exchanges.message("GET", "/a"), true),
        head("path", "/a", "/b", false),
        head("no path", "https://h.example", "https://h.example/", true),
        head("case of a path", "/A", "/a", false),
        head("unnecessary escapes", "/%7Ea/b", "/~a/b", true),
        head("escapes in lower case", "/a%c3%a4", "/a%C3%A4", true),
        head("a path that is not encoded", "/hömé a", "/h%C3%B6m%C3%A9%20a", true),
        head("another path that is not encoded", "/hömé", "/h%C3%B6me", false),
        Row("a method in lower case", [.method], Exchanges.entry("put", "/a"), Exchanges.message("PUT", "/a"), true),
        Row("an unknown method", [.method], Exchanges.entry("purge", "/a"), Exchanges.message("PURGE", "/a"), false),
        head("an escaped slash isn't a separator", "/a%2Fb", "/a/b", false),
        head("host", "https://a.example/", "https://b.example/", false),
        head("case of a host", "https://API.Example.com/a", "/a", true),
        head("scheme", "http://api.example.com/a", "/a", false),
        head("the scheme's own port", "https://api.example.com:443/a", "/a", true),
        head("port", "https://api.example.com:8443/a", "/a", false),
        head("user", "https://u:p@api.example.com/a", "/a", true),
        head("without the origin", [.method, .path], "http://other/a", "/a", true),
        head("another origin", [.origin([Exchanges.base: "http://stage:81"]), .path], "http://stage:81/a", "/a", true),
        head("not that origin", [.origin(["https://x": "http://stage:81"]), .path], "http://stage:81/a", "/a", false),
        head("order of a query", "/a?b=1&c=2", "/a?c=2&b=1", true),
        head("order of one name", "/a?b=1&b=2", "/a?b=2&b=1", false),
        head("value of a query", "/a?b=1", "/a?b=2", false),
        head("more in a query", "/a?b=1", "/a?b=1&c=1", false),
        head("less in a query", "/a?b=1&c=1", "/a?b=1", false),
        head("spellings of a query", "/a?b=x+y&%63=%C3%A4", "/a?c=%c3%a4&b=x%20y", true),
        head("without the query", [.path], "/a?b=1", "/a", true),
        head("ignored in a query", [.path, .query(ignoring: ["ts"])], "/a?b=1&ts=1", "/a?ts=2&b=1", true),
        head("ignored and missing", [.path, .query(ignoring: ["ts"])], "/a?b=1", "/a?ts=2&b=1", true),
        head("not ignored in a query", [.path, .query(ignoring: ["ts"])], "/a?b=1&ts=1", "/a?ts=1&b=2", false),
        head("a fragment", "/a#x", "/a", true),
        head("a redacted value", "/a?token=REDACTED&b=1", "/a?token=abc&b=1", true),
        head("a hashed value", "/a?token=REDACTED:h:0123456789ab", "/a?token=abc", true),
        head("a secret in the recording", "/a?token=xyz", "/a?token=abc", true),
        head("redacted at an unexpected place", "/a?page=REDACTED&b=1", "/a?page=7&b=1", true),
        head("redacted, but missing in the request", "/a?page=REDACTED&b=1", "/a?b=1", false),
        head("redacted, and another value", "/a?page=REDACTED&b=1", "/a?page=7&b=2", false),
    ]

    static let fields: [Row] = [
        Row(
            "headers don't count",
            .standard,
            Exchanges.entry("GET", "/a"),
            Exchanges.message("GET", "/a", [.accept: "x"]),
            true
        ),
        header("header", "Accept", "a", [.accept: "a"], true),
        header("another header", "Accept", "a", [.accept: "b"], false),
        header("no header", "Accept", "a", [:], false),
        header("case of a name", "ACCEPT", "a", [.accept: "a"], true),
        header("a secret header", "Authorization", "Bearer REDACTED", [.authorization: "Bearer abc"], true),
        header("another scheme", "Authorization", "Basic REDACTED", [.authorization: "Bearer abc"], false),
        Row(
            "custom",
            [.path, .custom("app") { $0.fields["x-app"]?.lowercased() }],
            Exchanges.entry("GET", "/a", fields: [LogEntry.Field("X-App", "Beagle")]),
            Exchanges.message("GET", "/a", [HTTPField.Name("X-App")!: "BEAGLE"]),
            true
        ),
        Row(
            "another custom",
            [.path, .custom("app") { $0.fields["x-app"] }],
            Exchanges.entry("GET", "/a", fields: [LogEntry.Field("X-App", "Beagle")]),
            Exchanges.message("GET", "/a"),
            false
        ),
        Row(
            "custom sees no secrets",
            [.path, .custom("who") { $0.fields["authorization"] }],
            Exchanges.entry("GET", "/a", fields: [LogEntry.Field("Authorization", "Bearer REDACTED")]),
            Exchanges.message("GET", "/a", [.authorization: "Bearer abc"]),
            true
        ),
    ]

    private static func header(_ name: String, _ field: String, _ value: String, _ replayed: HTTPFields, _ isSame: Bool)
        -> Row
    {
        Row(
            name,
            [.path, .headers(["accept", "Authorization"])],
            Exchanges.entry("GET", "/a", fields: [LogEntry.Field(field, value)]),
            Exchanges.message("GET", "/a", replayed),
            isSame
        )
    }

    static func bodies() throws -> [Row] {
        [
            body("no body", nil, nil, true),
            body("an empty body and no body", LogEntry.Body(), nil, true),
            body("a body and no body", Exchanges.json("{}"), nil, false),
            body(
                "members in another order",
                Exchanges.json(#"{"a":1,"b":[1,2]}"#),
                Exchanges.json(#"{"b": [1, 2], "a": 1}"#),
                true
            ),
            body(
                "spellings of a number",
                Exchanges.json(#"{"a":1.0,"b":1e1,"c":0.5}"#),
                Exchanges.json(#"{"a":1,"b":10,"c":5e-1}"#),
                true
            ),
            body(
                "long numbers",
                Exchanges.json("[12345678901234567890123]"),
                Exchanges.json("[12345678901234567890124]"),
                false
            ),
            body("spellings of text", Exchanges.json(#"{"a":"\u00e4\/"}"#), Exchanges.json(#"{"a":"ä/"}"#), true),
            body("text is no number", Exchanges.json(#"{"a":"1"}"#), Exchanges.json(#"{"a":1}"#), false),
            body("order of elements", Exchanges.json("[1,2]"), Exchanges.json("[2,1]"), false),
            body("null and missing", Exchanges.json(#"{"a":null}"#), Exchanges.json("{}"), false),
            body("empty containers", Exchanges.json(#"{"a":{}}"#), Exchanges.json(#"{"a":[]}"#), false),
            body("names with points", Exchanges.json(#"{"a.b":1}"#), Exchanges.json(#"{"a":{"b":1}}"#), false),
            body(
                "a redacted member",
                Exchanges.json(#"{"pw":"REDACTED","a":1}"#),
                Exchanges.json(#"{"pw":"x","a":1}"#),
                true
            ),
            body(
                "a secret member",
                Exchanges.json(#"{"password":"x","a":1}"#),
                Exchanges.json(#"{"password":"y","a":1}"#),
                true
            ),
            body(
                "a redacted object",
                Exchanges.json(#"{"u":"REDACTED","a":1}"#),
                Exchanges.json(#"{"u":{"x":[1]},"a":1}"#),
                true
            ),
            body(
                "another member next to a redacted one",
                Exchanges.json(#"{"u":"REDACTED","a":1}"#),
                Exchanges.json(#"{"u":"x","a":2}"#),
                false
            ),
            body(
                "longer names than a redacted one",
                Exchanges.json(#"{"u":"REDACTED"}"#),
                Exchanges.json(#"{"u":1,"uv":1}"#),
                false
            ),
            body(
                "ignored members",
                [.path, try .body(ignoring: ["$.at"])],
                Exchanges.json(#"{"at":1,"a":1}"#),
                Exchanges.json(#"{"at":{"x":2},"a":1}"#),
                true
            ),
            body(
                "ignored in elements",
                [.path, try .body(ignoring: ["$.a[*].at"])],
                Exchanges.json(#"{"a":[{"at":1,"b":1},{"at":2}]}"#),
                Exchanges.json(#"{"a":[{"at":3,"b":1},{"at":4}]}"#),
                true
            ),
            body(
                "not ignored",
                [.path, try .body(ignoring: ["$.a[*].at"])],
                Exchanges.json(#"{"a":[{"b":1}]}"#),
                Exchanges.json(#"{"a":[{"b":2}]}"#),
                false
            ),
            body(
                "JSON without a type",
                LogEntry.Body(.data(Data(#"{"a":1}"#.utf8))),
                Exchanges.json(#"{ "a": 1 }"#),
                true
            ),
            body("broken JSON is compared as bytes", Exchanges.json("{"), Exchanges.json("{"), true),
            body("other broken JSON", Exchanges.json("{"), Exchanges.json("{ "), false),
            body(
                "the bytes rule compares bytes",
                [.path, .bytes],
                Exchanges.json(#"{"a":1}"#),
                Exchanges.json(#"{ "a": 1 }"#),
                false
            ),
            body("a form in another order", Exchanges.form("a=1&b=x+y"), Exchanges.form("b=x%20y&a=1"), true),
            body("another form", Exchanges.form("a=1&b=2"), Exchanges.form("a=1&b=3"), false),
            body(
                "a form whose values are redacted",
                Exchanges.form("name=REDACTED&mail=REDACTED"),
                Exchanges.form("mail=a&name=b"),
                true
            ),
            body(
                "another form whose values are redacted",
                Exchanges.form("name=REDACTED"),
                Exchanges.form("mail=a"),
                false
            ),
            body("more than a redacted form", Exchanges.form("name=REDACTED"), Exchanges.form("name=a&mail=a"), false),
            body(
                "ignored fields",
                [.path, try .body(ignoring: ["at"])],
                Exchanges.form("a=1&at=1"),
                Exchanges.form("at=2&a=1"),
                true
            ),
            body(
                "fields of an archive",
                LogEntry.Body(.parameters([LogEntry.Parameter(name: "a", value: "1")]), mediaType: "x/y"),
                Exchanges.form("a=1"),
                true
            ),
            body(
                "encoded fields of an archive",
                LogEntry.Body(.parameters([LogEntry.Parameter(name: "a%20b", value: "c%26d")])),
                Exchanges.form("a+b=c%26d"),
                true
            ),
            body(
                "fields of an archive as they were typed",
                LogEntry.Body(.parameters([LogEntry.Parameter(name: "a b", value: "c+d&100%")])),
                Exchanges.form("a+b=c%2Bd%26100%25"),
                true
            ),
            body(
                "OAuth's state in fields of an archive",
                LogEntry.Body(
                    .parameters([
                        LogEntry.Parameter(name: "code", value: "1"), LogEntry.Parameter(name: "state", value: "2"),
                    ])
                ),
                Exchanges.form("code=3&state=4"),
                true
            ),
            body(
                "other fields of an archive",
                LogEntry.Body(.parameters([LogEntry.Parameter(name: "a", value: "1")])),
                Exchanges.form("a=2"),
                false
            ),
            body(
                "a body that was not recorded",
                LogEntry.Body(.omitted("too large"), mediaType: "image/png"),
                Exchanges.json("{}"),
                true
            ),
            body("a body that was not recorded, and no body", LogEntry.Body(.omitted("too large")), nil, false),
            body(
                "a truncated body",
                LogEntry.Body(.data(Data("ab".utf8)), size: 9, isTruncated: true),
                Exchanges.form("a"),
                true
            ),
            body(
                "bytes",
                LogEntry.Body(.data(Data([0xFF, 0])), mediaType: "a/b"),
                LogEntry.Body(.data(Data([0xFF, 0])), mediaType: "c/d"),
                true
            ),
            body("other bytes", LogEntry.Body(.data(Data([0xFF, 0]))), LogEntry.Body(.data(Data([0xFF, 1]))), false),
            body(
                "text",
                LogEntry.Body(.data(Data("a".utf8)), mediaType: "text/plain"),
                LogEntry.Body(.data(Data("b".utf8)), mediaType: "text/plain"),
                false
            ),
            body("multipart with another boundary", multipart("b1", "1"), multipart("b2", "1"), true),
            body("other multipart", multipart("b1", "1"), multipart("b1", "2"), false),
            body("another file", multipart("b1", "1", file: "x.png"), multipart("b1", "1", file: "y.png"), false),
            body(
                "broken multipart",
                LogEntry.Body(.data(Data("--x".utf8)), mediaType: "multipart/form-data; boundary=x"),
                multipart("x", "1"),
                false
            ),
        ]
    }

    private static func multipart(_ boundary: String, _ value: String, file: String? = nil) -> LogEntry.Body {
        let name = file.map { "; filename=\"\($0)\"" } ?? ""
        let text =
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\(name)\r\n\r\n\(value)\r\n--\(boundary)--\r\n"
        return LogEntry.Body(.data(Data(text.utf8)), mediaType: "multipart/form-data; boundary=\(boundary)")
    }

    static let operations: [Row] = [
        operation(
            "white space of a document",
            #"{"query":"query A { a(b: 1, c: \"x y\") }"}"#,
            #"{"query":"query A{a(b:1 c:\"x y\")}"}"#,
            true
        ),
        operation("comments of a document", #"{"query":"{ a # why\n b }"}"#, #"{"query":"{a b}"}"#, true),
        operation("words of a document", #"{"query":"{a b}"}"#, #"{"query":"{ab}"}"#, false),
        operation("blanks in text", #"{"query":"{a(b:\"x  y\")}"}"#, #"{"query":"{a(b:\"x y\")}"}"#, false),
        operation(
            "marks in text",
            ##"{"query":"{a(b:\"#\\\",x\") c}"}"##,
            ##"{"query":"{a(b:\"#\\\",x\"), c}"}"##,
            true
        ),
        operation(
            "block text",
            #"{"query":"{a(b:\"\"\"x \"y\" # z\"\"\")}"}"#,
            #"{"query":"{a(b: \"\"\"x \"y\" # z\"\"\")}"}"#,
            true
        ),
        operation("unterminated text", #"{"query":"{a(b:\"\"\"x"}"#, #"{"query":"{a(b:\"\"\"x"}"#, true),
        operation(
            "variables",
            #"{"query":"{a}","variables":{"x":1,"y":2}}"#,
            #"{"variables":{"y":2,"x":1},"query":"{a}"}"#,
            true
        ),
        operation(
            "other variables",
            #"{"query":"{a}","variables":{"x":1}}"#,
            #"{"query":"{a}","variables":{"x":2}}"#,
            false
        ),
        operation(
            "secret variables",
            #"{"query":"{a}","variables":{"password":"REDACTED"}}"#,
            #"{"query":"{a}","variables":{"password":"x"}}"#,
            true
        ),
        operation("no variables", #"{"query":"{a}","variables":null}"#, #"{"query":"{a}"}"#, true),
        operation("name", #"{"query":"{a}","operationName":"A"}"#, #"{"query":"{a}","operationName":"B"}"#, false),
        operation("extensions don't count", #"{"query":"{a}","extensions":{"x":1}}"#, #"{"query":"{a}"}"#, true),
        operation("no operation", #"{"a":1}"#, #"{"a":1.0}"#, true),
    ]

    private static func operation(_ name: String, _ recorded: String, _ replayed: String, _ isSame: Bool) -> Row {
        body("GraphQL: \(name)", [.path, .graphQL], Exchanges.json(recorded), Exchanges.json(replayed), isSame)
    }

    @Test(arguments: try heads + fields + bodies() + operations)
    func entryMatchesAnEquivalentRequest(_ row: Row) async {
        let transport = ReplayTransport(Recording([row.recorded]), matching: row.rules)
        do throws(NetworkError) {
            _ = try await transport.perform(row.replayed)
            #expect(row.isSame)
        } catch {
            #expect(error.kind == .notInRecording && !row.isSame, "\(error)")
        }
    }

    @Test func exactMatchIsPreferredToARedactedOne() async {
        let transport = ReplayTransport(
            Recording([
                Exchanges.entry("GET", "/a?page=REDACTED", answer: "any"),
                Exchanges.entry("GET", "/a?page=2", answer: "two", at: 1),
            ])
        )
        #expect(await transport.text(Exchanges.message("GET", "/a?page=2")) == "two")
        #expect(await transport.text(Exchanges.message("GET", "/a?page=3")) == "any")
    }

    @Test func secretsOfTheAppsRedactorAreNotCompared() async {
        let recording = Recording([Exchanges.entry("GET", "/a?plan=REDACTED"), Exchanges.entry("GET", "/b?plan=x")])
        let transport = ReplayTransport(recording, redactor: Redactor(secrets: ["plan"]))
        #expect(await transport.text(Exchanges.message("GET", "/b?plan=y")) == "")
    }

    @Test func bodiesFromFilesAndStreamsAreMatched() async throws {
        let transport = ReplayTransport(
            Recording([Exchanges.entry("PUT", "/a", body: LogEntry.Body(.data(Data("abc".utf8))), answer: "ok")])
        )
        var message = Exchanges.message("PUT", "/a")
        message.body = .stream {
            AsyncStream { chunks in
                for letter in ["a", "b", "c"] { chunks.yield(Data(letter.utf8)) }
                chunks.finish()
            }
        }
        #expect(await transport.text(message) == "ok")
        let path = "/tmp/beagle-replay-\(UInt32.random(in: 0 ... .max))"
        try Data("abc".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        message.body = .file(path: path)
        #expect(await transport.text(message) == "ok")
    }
}
