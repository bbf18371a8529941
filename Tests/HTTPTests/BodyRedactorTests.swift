@testable import BeagleNetHTTP
import Testing

struct BodyRedactorTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let type: String?
        let body: String
        let expected: Redactor.RedactedBody

        init(_ type: String?, _ body: String, _ expected: String) {
            self.type = type
            self.body = body
            self.expected = .body(Data(expected.utf8))
        }

        init(_ type: String?, _ body: String, _ reason: Redactor.RedactedBody.Reason) {
            self.type = type
            self.body = body
            self.expected = .omitted(reason)
        }

        var testDescription: String { "\(type ?? "no type"): \(body)" }
    }

    private static let json = "application/json"
    private static let form = "application/x-www-form-urlencoded"
    private static let jwt = TextScanTests.jwt
    private static let github = TextScanTests.github

    static let jsonRows = [
        Row(json, "", ""), Row(json, " { } ", " { } "),
        Row(json, "[1.10,12345678901234567890123 , -0]", "[1.10,12345678901234567890123 , -0]"),
        Row(json, #"{ "a":1.10,"password" : "x" , "b":[ ] }"#, #"{ "a":1.10,"password" : "REDACTED" , "b":[ ] }"#),
        Row(json, #"{"a":[{"b":{"Access-Token":"x"}}]}"#, #"{"a":[{"b":{"Access-Token":"REDACTED"}}]}"#),
        Row(
            json,
            #"{"pin":1234,"otp":true,"pwd":null,"ssn":""}"#,
            #"{"pin":"REDACTED","otp":"REDACTED","pwd":null,"ssn":""}"#
        ),
        Row(json, #"{"credentials":{"a":[1,{"b":"}"}]},"c":1}"#, #"{"credentials":"REDACTED","c":1}"#),
        Row(json, #"{"tokens":["a","b"],"c":["token"]}"#, #"{"tokens":"REDACTED","c":["token"]}"#),
        Row(json, #"{"p\u0061ss":"a\"b","é":"\u00e9"}"#, #"{"p\u0061ss":"REDACTED","é":"\u00e9"}"#),
        Row(
            json,
            #"{"token":"REDACTED","pin":"REDACTED:h:0123456789ab"}"#,
            #"{"token":"REDACTED","pin":"REDACTED:h:0123456789ab"}"#
        ),
        Row(json, #"{"key":"short","a":{"key":"0123456789abcdef"}}"#, #"{"key":"short","a":{"key":"REDACTED"}}"#),
        Row(json, #"{"state":"s","code":"c"}"#, #"{"state":"REDACTED","code":"REDACTED"}"#),
        Row(
            json,
            #"{"a":{"state":"s","b":{"code":1}},"state":2}"#,
            #"{"a":{"state":"s","b":{"code":"REDACTED"}},"state":2}"#
        ),
        Row(json, #"{"sid":"c","state":"s"}"#, #"{"sid":"REDACTED","state":"REDACTED"}"#),
        Row(
            json,
            #"{"note":"see \#(jwt)!","n":4111111111111111,"m":[4111111111111111]}"#,
            #"{"note":"see REDACTED!","n":"REDACTED","m":["REDACTED"]}"#
        ),
        Row(json, #"{"note":"\u0065yJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln\n"}"#, #"{"note":"REDACTED\n"}"#),
        Row(
            json,
            #"{"next":"https:\/\/u:p@h\/?token=x&a=\u0031"}"#,
            #"{"next":"https:\/\/REDACTED:REDACTED@h\/?token=REDACTED&a=\u0031"}"#
        ),
        Row(
            json,
            #"{"next":"/cb?code=1&a=1","b":"pin=1 x"}"#,
            #"{"next":"/cb?code=REDACTED&a=1","b":"pin=REDACTED x"}"#
        ),
        Row(json, #"{"a":"{ \"pin\": \"1\", \"b\":1.10 }"}"#, #"{"a":"{ \"pin\": \"REDACTED\", \"b\":1.10 }"}"#),
        Row(json, #"{"a":"{\"pin\":1,}"}"#, #"{"a":"{\"pin\":REDACTED,}"}"#),
        Row(json, #"{"\#(jwt)":1}"#, #"{"REDACTED":1}"#),
        Row(
            json,
            #"{"user[pin]":1,"payment.cvv":2,"a.b":3}"#,
            #"{"user[pin]":"REDACTED","payment.cvv":"REDACTED","a.b":3}"#
        ),
        Row(json, #"{"path":"/login?next=%2Fcb%3Ftoken%3Dabc"}"#, #"{"path":"/login?next=%2Fcb%3Ftoken%3DREDACTED"}"#),
        Row(json, #"{"a":"authorization=Bearer abc123"}"#, #"{"a":"authorization=REDACTED"}"#),
        Row("application/problem+json; charset=utf-8", #"{"code":1}"#, #"{"code":"REDACTED"}"#),
        Row("application/x-ndjson", "{\"pin\":1}\n{\"pin\":2}\n", "{\"pin\":\"REDACTED\"}\n{\"pin\":\"REDACTED\"}\n"),
        Row("application/json-seq", "\u{1E}{\"pin\":1}\n\u{1E}[2]\n", "\u{1E}{\"pin\":\"REDACTED\"}\n\u{1E}[2]\n"),
        Row(json, "\u{FEFF}{\"pin\":1}", "\u{FEFF}{\"pin\":\"REDACTED\"}"),
        Row(json, #"{"pin":"1"#, .truncated), Row(json, #"{"pin":{"a":1}"#, .truncated),
        Row(json, "{'pin':1}", .malformed),
        Row(json, "<html>", .malformed), Row(json, #"{"pin":1}}"#, .malformed),
        Row(json, String(repeating: "[", count: 600), .malformed),
        Row("application/json; charset=utf-16", "{}", .encoding),
    ]

    static let graphQLRows = [
        Row(
            json,
            #"{"query":"mutation($p:String!=\"d\"){login(user:\"a\",password:\"x\"){token id}}","variables":{"password":"x","id":1}}"#,
            #"{"query":"mutation($p:String!=\"d\"){login(user:\"a\",password:\"REDACTED\"){token id}}","variables":{"password":"REDACTED","id":1}}"#
        ),
        Row(
            "application/graphql",
            "{ token: make(in: {pin: 1234, a: [1], secrets: [\"a\", {b: \"c\"}]}, pass: \"\"\"a \\\"\"\" b\"\"\" #x\n, otp: $o) }",
            "{ token: make(in: {pin: \"REDACTED\", a: [1], secrets: \"REDACTED\"}, pass: \"REDACTED\" #x\n, otp: $o) }"
        ),
        Row(
            "application/graphql",
            "query($token: String = \"x\", $b: Int) { a(b: \"\(jwt)\") }",
            "query($token: String = \"REDACTED\", $b: Int) { a(b: \"REDACTED\") }"
        ),
        Row("application/graphql", "{ a(pin: \"x", "{ a(pin: \"REDACTED\""),
        Row("application/graphql", "{ a(b: \"x\n pin: 1) }", "{ a(b: \"x\n pin: \"REDACTED\") }"),
        Row(json, #"{"query":"user=a password=hunter2"}"#, #"{"query":"user=a password=REDACTED"}"#),
        Row(
            "application/graphql",
            #"mutation($a: String = "b"){save(json:"{\"password\":\"x\"}", a: $a){token code}}"#,
            #"mutation($a: String = "b"){save(json:"{\"password\":\"REDACTED\"}", a: $a){token code}}"#
        ),
        Row(form, "query=SELECT+1+WHERE+password%3D'x'", "query=SELECT+1+WHERE+password%3D'REDACTED'"),
        Row(
            form,
            "query=%7Blogin(password:%22x%22)%7D&variables=%7B%22pin%22:1%7D",
            "query=%7Blogin(password:%22REDACTED%22)%7D&variables=%7B%22pin%22:%22REDACTED%22%7D"
        ),
    ]

    static let formRows = [
        Row(form, "a=1&password=x&b=+%20", "a=1&password=REDACTED&b=+%20"),
        Row(
            form,
            "pass%77ord=x&pass+word=y&user%5Bpin%5D=1",
            "pass%77ord=REDACTED&pass+word=REDACTED&user%5Bpin%5D=REDACTED"
        ),
        Row(form, "state=s&a=1&code=2", "state=REDACTED&a=1&code=REDACTED"),
        Row(form, "state=s&a=1&code=", "state=s&a=1&code="),
        Row(
            form,
            "n=4111+1111+1111+1111&u=https%3A%2F%2Fu%3Ap%40h",
            "n=REDACTED&u=https%3A%2F%2FREDACTED:REDACTED%40h"
        ),
        Row(form, "&&a&=&pin=1&", "&&a&=&pin=REDACTED&"), Row(form, "", ""),
        Row(form, "a&\(github)=1&\(jwt)", "a&REDACTED=1&REDACTED"), Row(form, "[a]=1&pin=2", "[a]=1&pin=REDACTED"),
        Row(form, #"{"password":"hunter2"}"#, #"{"password":"REDACTED"}"#),
    ]

    static let textRows = [
        Row("text/plain", "a \(jwt) password=x", "a REDACTED password=REDACTED"),
        Row("text/plain", "log\n{\"pin\":1}\n{x", "log\n{\"pin\":\"REDACTED\"}\n{x"),
        Row("text/plain", #"{"pin": 1}"#, #"{"pin": "REDACTED"}"#),
        Row(nil, #" [{"pin": 1}]"#, #" [{"pin": "REDACTED"}]"#),
        Row("application/octet-stream", #"{"pin":1}"#, #"{"pin":"REDACTED"}"#),
        Row("text/plain", "[INFO] pin=1", "[INFO] pin=REDACTED"),
        Row("text/plain", #"{"pin": "12"#, .truncated), Row("no type", "pin=1", "pin=REDACTED"),
        Row(
            "text/event-stream",
            "event: a\ndata: {\"pin\":\ndata:1}\n\ndata: pin=1\n\n",
            "event: a\ndata: {\"pin\":\ndata:\"REDACTED\"}\n\ndata: pin=REDACTED\n\n"
        ),
        Row(
            "text/event-stream",
            "data:{\"pin\":1}\r\n\r\ndata: {\"sid\":\"x\",\"a\":1.0}\r\n\r\n",
            "data:{\"pin\":\"REDACTED\"}\r\n\r\ndata: {\"sid\":\"REDACTED\",\"a\":1.0}\r\n\r\n"
        ),
        Row("text/event-stream", "data: {\"pin\":1\ndata: }\n\n", "data: {\"pin\":\"REDACTED\"\ndata: }\n\n"),
        Row(
            "text/html",
            "<a href=\"https://h/?token=x&amp;pin=1&b=1\" class=code>\(jwt)</a> var pin=1;",
            "<a href=\"https://h/?token=REDACTED&amp;pin=REDACTED&b=1\" class=code>REDACTED</a> var pin=1;"
        ),
        Row("application/soap+xml", "<a>\(jwt)</a>", "<a>REDACTED</a>"),
        Row("image/png", "\u{89}PNG \(jwt)", "\u{89}PNG \(jwt)"),
        Row("application/octet-stream", "\u{1}\u{2} \(jwt)", "\u{1}\u{2} \(jwt)"),
        Row("application/octet-stream", "\u{1}pin=1", "\u{1}pin=1"),
        Row(
            nil,
            "CONNECT\npasscode:hunter2\nAuthorization:Bearer abc\n\n\u{0}",
            "CONNECT\npasscode:REDACTED\nAuthorization:Bearer REDACTED\n\n\u{0}"
        ),
        Row(nil, "{\"password\":\"hunter2\",\"x\":\"a\u{1}b\"}", "{\"password\":\"REDACTED\",\"x\":\"a\u{1}b\"}"),
        Row("x/y", "\u{1}pin=1", "\u{1}pin=REDACTED"),
        Row("text/plain", "a\u{0}b", .encoding),
        Row("text/plain; charset=utf-7", "a", .encoding),
        Row("text/plain; charset=ISO-8859-1", "pin=1", "pin=REDACTED"),
    ]

    static let multipartRows = [
        Row(
            "multipart/form-data; boundary=b",
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name=a; filename=\"f\"\r\n\r\npin=1\u{0}\r\n--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{\"pin\":1}\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nREDACTED\r\n--b\r\nContent-Disposition: form-data; name=a; filename=\"f\"\r\n\r\npin=1\u{0}\r\n--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{\"pin\":\"REDACTED\"}\r\n--b--\r\n"
        ),
        Row(
            "multipart/form-data; boundary=b",
            "--b\r\nContent-Disposition: form-data; name=\"user[pin]\"\r\n\r\nx\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; name=\"user[pin]\"\r\n\r\nREDACTED\r\n--b--\r\n"
        ),
        Row(
            "multipart/mixed; boundary=b",
            "--b\r\nContent-Type: application/json\r\nX-Api-Key: x\r\n\r\n{\"pin\":1}\r\n--b--",
            "--b\r\nContent-Type: application/json\r\nX-Api-Key: REDACTED\r\n\r\n{\"pin\":\"REDACTED\"}\r\n--b--\r\n"
        ),
        Row(
            "multipart/mixed; boundary=b",
            "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\n--b--",
            .nested
        ),
        Row("multipart/mixed; boundary=b", "--b\r\n\r\npin=1\r\n", .truncated),
        Row("multipart/mixed", "--b\r\n\r\n--b--", .malformed),
        Row("multipart/mixed; boundary=b", "--b\r\nContent-Type: application/json\r\n\r\n{\r\n--b--", .truncated),
    ]

    static let rows = jsonRows + graphQLRows + formRows + textRows + multipartRows

    @Test(arguments: rows)
    func bodyIsRedacted(row: Row) {
        #expect(Redactor().redact(body: Data(row.body.utf8), contentType: row.type) == row.expected)
    }

    /// The output before a body turns out to be unredactable doesn't contain secrets either.
    @Test(arguments: rows)
    func splittingABodyDoesNotChangeTheResult(row: Row) {
        let body = Data(row.body.utf8)
        for cut in 0...body.count {
            #expect(redact([body[..<cut], body[cut...]], row.type, Redactor()) == row.expected, "cut at \(cut)")
        }
        #expect(redact(body.map { Data([$0]) }, row.type, Redactor()) == row.expected)
    }

    private func redact(_ pieces: [Data], _ type: String?, _ base: Redactor) -> Redactor.RedactedBody {
        var redactor = Redactor.BodyRedactor(base, contentType: type)
        var output = Data()
        for piece in pieces { output += redactor.feed(piece) }
        output += redactor.finish()
        return redactor.unredactable.map { .omitted($0) } ?? .body(output)
    }

    private static let droppingMembersLeavesValidJSONArguments: [(String, String)] = [
        (#"{"pin":1}"#, "{}"), (#"{"pin":1 , "a":1}"#, #"{  "a":1}"#),
        (#"{ "a":1, "pin":1 , "b":2}"#, #"{ "a":1 , "b":2}"#),
        (#"{"a":1,"pin":{"x":1}}"#, #"{"a":1}"#), (#"{"pin":1,"otp":2,"a":{"pin":1},"b":[]}"#, #"{"a":{},"b":[]}"#),
        (#"{"pin":1,"a":"\#(jwt)","otp":[1,2]}"#, #"{"a":"REDACTED"}"#),
    ]

    @Test(arguments: Self.droppingMembersLeavesValidJSONArguments)
    func droppingMembersLeavesValidJSON(body: String, expected: String) throws {
        for cut in 0...body.utf8.count {
            let bytes = Data(body.utf8)
            #expect(
                redact([bytes[..<cut], bytes[cut...]], Self.json, Redactor(mode: .drop)) == .body(Data(expected.utf8)),
                "cut at \(cut)"
            )
        }
        _ = try JSONValue(parsing: expected)
    }

    private static let formFieldsAreDroppedArguments: [(String, String)] = [
        ("pin=1&a=1&otp=2", "a=1"), ("a=1&pin=1", "a=1"), ("pin=1", ""), ("pin=1&otp=1&a=1&b=2", "a=1&b=2"),
        ("a=1&pin=1&b=2", "a=1&b=2"),
    ]

    @Test(arguments: Self.formFieldsAreDroppedArguments)
    func formFieldsAreDropped(body: String, expected: String) {
        for cut in 0...body.utf8.count {
            let bytes = Data(body.utf8)
            let redacted = redact([bytes[..<cut], bytes[cut...]], Self.form, Redactor(mode: .drop))
            #expect(redacted == .body(Data(expected.utf8)), "cut at \(cut)")
        }
    }

    @Test func equalSecretsHaveEqualHashesEverywhere() {
        let redactor = Redactor(mode: .hash())
        let hash = redactor.redact(url: "?pin=s%22")
        let body = redactor.redact(body: Data(#"{"pin":"s\"","sid":"\u0073\""}"#.utf8), contentType: Self.json)
        let expected = hash.dropFirst("?pin=".count)
        #expect(body.data == Data("{\"pin\":\"\(expected)\",\"sid\":\"\(expected)\"}".utf8))
    }

    // MARK: bodies larger than the window

    private static let long = String(repeating: "0123456789 \\n", count: 20_000)

    private static let bodyLargerThanTheWindowIsRedactedInPiecesArguments: [(String, String, String)] = [
        (json, "{\"a\":\"\(long)\(jwt)\",\"b\":1}", "{\"a\":\"\(long)REDACTED\",\"b\":1}"),
        (json, "{\"pin\":\"\(long)\",\"b\":1}", "{\"pin\":\"REDACTED\",\"b\":1}"),
        (json, "{\"tokens\":[\"\(long)\",1],\"b\":1}", "{\"tokens\":\"REDACTED\",\"b\":1}"),
        (json, "{\"state\":\"\(long) pin=1\",\"b\":1}", "{\"state\":\"REDACTED\",\"b\":1}"),
        (
            json, "[\(String(repeating: "{\"pin\":1},", count: 20_000))0]",
            "[\(String(repeating: "{\"pin\":\"REDACTED\"},", count: 20_000))0]"
        ),
        ("text/plain", "\(long)\(jwt) \(long)", "\(long)REDACTED \(long)"),
        (json, "{\"pin\":\(String(repeating: "1", count: 200_000)),\"b\":1}", "{\"pin\":\"REDACTED\",\"b\":1}"),
        ("text/plain", "password=\(String(repeating: "x", count: 65_535))", "password=REDACTED"),
    ]

    @Test(arguments: Self.bodyLargerThanTheWindowIsRedactedInPiecesArguments)
    func bodyLargerThanTheWindowIsRedactedInPieces(type: String, body: String, expected: String) {
        for size in [1_000, 65_536, 1 << 20] {
            let bytes = Data(body.utf8)
            let pieces = stride(from: 0, to: bytes.count, by: size).map { bytes.dropFirst($0).prefix(size) }
            #expect(redact(pieces, type, Redactor()) == .body(Data(expected.utf8)), "in pieces of \(size)")
        }
    }

    private static let bodyThatExceedsTheWindowUndecidedIsOmittedArguments:
        [(String, String, Redactor.RedactedBody.Reason)] = [
            (json, "{\"a\":\"ghp_\(String(repeating: "x", count: 70_000))\"}", Redactor.RedactedBody.Reason.tooLong),
            (json, "{\"\(String(repeating: "x", count: 70_000))\":1}", .tooLong),
            (json, "{\"\(String(repeating: "x", count: 70_000))\" 1}", .tooLong),
            (json, "{\"a\":\"[\(String(repeating: "1,", count: 70_000))\"}", .tooLong),
            (json, "{\"state\":\"[\(String(repeating: "1,", count: 70_000))", .truncated),
            (json, "[\(String(repeating: "1,", count: 70_000))", .truncated),
            ("text/plain", "-----BEGIN PRIVATE KEY-----\(String(repeating: "x", count: 70_000))", .tooLong),
            (form, "a=\(String(repeating: "x", count: 70_000))", .tooLong),
            (json, "{\"a\":\(String(repeating: "1", count: 70_000))}", .tooLong),
            ("text/plain", "password=\"\(String(repeating: "a", count: 70_000))\u{0}", .tooLong),
        ]

    @Test(arguments: Self.bodyThatExceedsTheWindowUndecidedIsOmittedArguments)
    func bodyThatExceedsTheWindowUndecidedIsOmitted(type: String, body: String, reason: Redactor.RedactedBody.Reason) {
        for size in [1_000, 65_536, 1 << 20] {
            let bytes = Data(body.utf8)
            let pieces = stride(from: 0, to: bytes.count, by: size).map { bytes.dropFirst($0).prefix(size) }
            #expect(redact(pieces, type, Redactor()) == .omitted(reason), "in pieces of \(size)")
        }
    }

    @Test func binaryBodyWithoutATypeIsUnchanged() {
        let binary = Data([1, 0xFF]) + Data(Self.jwt.utf8)
        #expect(Redactor().redact(body: binary, contentType: nil) == .body(binary))
        // A character that the end of the window splits still counts as text.
        let text = "\u{1}pin=1 " + String(repeating: "é", count: TextScan.window)
        let expected = "\u{1}pin=REDACTED" + text.dropFirst("\u{1}pin=1".count)
        #expect(Redactor().redact(body: Data(text.utf8), contentType: nil) == .body(Data(expected.utf8)))
    }

    @Test func wordAfterTheWindowIsReadAtEverySplit() {
        let body = "[" + String(repeating: " ", count: TextScan.window) + "true]"
        for cut in body.utf8.count - 5...body.utf8.count {
            let bytes = Data(body.utf8)
            #expect(redact([bytes[..<cut], bytes[cut...]], Self.json, Redactor()) == .body(bytes), "cut at \(cut)")
        }
    }

    @Test func pathIntoADeepDocumentIsShortened() {
        let name = String(repeating: "a", count: 64)
        let body =
            String(repeating: "{\"\(name)\":", count: 510) + "{\"pin\":1}" + String(repeating: "}", count: 510)
        var audit = Redactor.Audit()
        let redacted = Redactor().redact(body: Data(body.utf8), contentType: Self.json, at: "b", recordingTo: &audit)
        #expect(redacted == .body(Data(body.replacing(":1", with: ":\"REDACTED\"").utf8)))
        #expect(audit.places.map(\.utf8.count).allSatisfy { $0 < 400 })
        #expect(audit.places.count == 1 && audit.places[0].hasSuffix(".pin"))
    }

    @Test(
        "the time for redacting a body is proportional to its size",
        arguments: [
            "{\"state\":1,\"a\":{\"code\":1},\"pin\":1,\"code\":2},", "{\"state\":1,\"state\":2,", "data: [\n",
            "[1,2]\n", "sk-", "\"\\",
            "state=1&", "\\u0065yJ", "--b\r\n\r\n{", "<a value=\"x\" ", "<password>", "pin%3D",
        ],
        [json, form, "text/event-stream", "text/html", "multipart/mixed; boundary=b", "application/graphql"]
    )
    func timeIsProportionalToTheBody(piece: String, type: String) {
        let body = Data(String(repeating: piece, count: 40_000 / piece.utf8.count).utf8)
        let whole = Redactor().redact(body: Data("[".utf8) + body, contentType: type)
        let pieces = stride(from: 0, to: body.count, by: 100).map { body.dropFirst($0).prefix(100) }
        #expect(redact([Data("[".utf8)] + pieces, type, Redactor()) == whole)
    }

    @Test func auditListsEachPlaceOnceAndAtMostAThousand() {
        let places = (0..<1_001).map { "\($0).pin" }
        for count in [15, 16, 17, 1_000, 1_001] {
            var audit = Redactor.Audit()
            let items = places.prefix(count).map { "\"\($0.dropLast(4))\":{\"pin\":1}" }.joined(separator: ",")
            for _ in 0..<2 {
                _ = Redactor().redact(
                    body: Data("{\(items)}".utf8),
                    contentType: Self.json,
                    at: "b",
                    recordingTo: &audit
                )
            }
            #expect(audit.places == places.prefix(min(count, 1_000)).map { "b:$.\($0)" })
            #expect(audit.isTruncated == (count > 1_000))
        }
    }

    @Test func auditIsTruncatedIfThatOfAPartIs() {
        let items = (0..<1_001).map { "\"\($0)\":{\"pin\":1}" }.joined(separator: ",")
        let head = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: application/json\r\n\r\n"
        var audit = Redactor.Audit()
        _ = Redactor().redact(
            body: Data("\(head){\(items)}\r\n--b--\r\n".utf8),
            contentType: "multipart/form-data; boundary=b",
            at: "b",
            recordingTo: &audit
        )
        #expect(audit.places.count == 1_000 && audit.isTruncated)
    }

    @Test func auditListsThePathsOfRedactedValues() {
        var audit = Redactor.Audit()
        let body =
            #"{"user":{"pin":"hidden"},"list":[{"pin":1},{"pin":2},"\#(Self.jwt)"],"next":"/?otp=1","a":"{\"sid\":1}"}"#
        _ = Redactor().redact(body: Data(body.utf8), contentType: Self.json, at: "postData.text", recordingTo: &audit)
        #expect(
            audit.places == [
                "postData.text:$.user.pin", "postData.text:$.list[*].pin", "postData.text:$.list[*]:<JWT>",
                "postData.text:$.next:?otp", "postData.text:$.a:$.sid",
            ]
        )
        let parts = Self.multipartRows[0]
        let multipart = Redactor()
        var redactor = Redactor.BodyRedactor(multipart, contentType: parts.type, at: "postData.text")
        _ = redactor.feed(Data(parts.body.utf8))
        _ = redactor.finish()
        #expect(redactor.audit.places == ["postData.text:part password", "postData.text:part operations:$.pin"])
    }

    @Test func findingsListUnredactedSecrets() {
        let redactor = Redactor()
        let body = Data(#"{"pin":"REDACTED","otp":"x","sid":"REDACTED:h:0123456789ab"}"#.utf8)
        #expect(redactor.findings(in: body, contentType: Self.json, at: "content.text") == ["content.text:$.otp"])
        #expect(redactor.findings(in: Data("{".utf8), contentType: Self.json, at: "x") == ["x:[truncated]"])
        #expect(redactor.findings(inURL: "https://REDACTED:REDACTED@h/?pin=REDACTED&otp=1", at: "u") == ["u:?otp"])
        #expect(
            redactor.findings(in: [.cookie: "a=REDACTED; b=c", .authorization: "Bearer REDACTED"], at: "h") == [
                "h.Cookie"
            ]
        )
        #expect(redactor.findings(inText: "Bearer REDACTED pin=REDACTED", at: "t").isEmpty)
        #expect(redactor.findings(inText: "a\nCookie: a=b; c=d", at: "t") == ["t:=Cookie"])
        for row in Self.rows {
            guard case .body(let redacted) = redactor.redact(body: Data(row.body.utf8), contentType: row.type) else {
                continue
            }
            #expect(redactor.findings(in: redacted, contentType: row.type, at: "b") == [], "\(row.testDescription)")
        }
    }
}
