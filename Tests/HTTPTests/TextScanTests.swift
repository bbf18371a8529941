@testable import BeagleNetHTTP
import Testing

struct TextScanTests {
    static let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"
    static let github = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

    static let known: [(String, String)] = [
        ("", ""), ("plain text, nothing in it.", "plain text, nothing in it."),
        (jwt, "REDACTED"), ("a \(jwt).", "a REDACTED."), ("x\(jwt)", "xREDACTED"),
        ("eyJhbGciOiJkaXIifQ..iv.text.tag!", "REDACTED!"), ("eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.", "REDACTED."),
        ("eyJhbGciOiJub25lIn0 eyJh", "eyJhbGciOiJub25lIn0 eyJh"),
        ("eyJhbGciOiJub25lIn0.txt", "eyJhbGciOiJub25lIn0.txt"),
        ("Bearer abc.def-1 x", "Bearer REDACTED x"), ("bearer\tabc, x", "bearer\tREDACTED, x"),
        (#"Bearer realm="a""#, #"Bearer realm="a""#), ("Bearer", "Bearer"), ("forbearer abc", "forbearer abc"),
        ("Basic dXNlcjpwdw==", "Basic REDACTED"), ("basic dXNlcjpwdw", "basic REDACTED"),
        ("Basic training, basic information", "Basic training, basic information"),
        ("key AKIAIOSFODNN7EXAMPLE.", "key REDACTED."), ("ASIAIOSFODNN7EXAMPLE", "REDACTED"),
        ("AKIAIOSFODNN7EXAMPLEX", "AKIAIOSFODNN7EXAMPLEX"), ("xAKIAIOSFODNN7EXAMPLE", "xAKIAIOSFODNN7EXAMPLE"),
        (#"\nAKIAIOSFODNN7EXAMPLE"#, #"\nREDACTED"#), ("%20AKIAIOSFODNN7EXAMPLE", "%20REDACTED"),
        (github, "REDACTED"), ("ghp_short", "ghp_short"), ("github_pat_0123456789abcdefABCDEF_1", "REDACTED"),
        ("\\n\(github)", "\\nREDACTED"), ("%20\(github)", "%20REDACTED"), ("xyz\(github)", "xyz\(github)"),
        ("xyz\(jwt) e", "xyzREDACTED e"), ("xyze", "xyze"),
        ("xoxb-1234567890-abc", "REDACTED"), ("sk_live_0123456789", "REDACTED"), ("whsec_0123456789ab", "REDACTED"),
        ("sk-proj-0123456789abcdefABC_-", "REDACTED"),
        ("sk-fading-circle-container-box", "sk-fading-circle-container-box"),
        ("AIza0123456789abcdefghij0123456789_-ABC", "REDACTED"), ("ya29.0123456789", "REDACTED"),
        ("task-0123456789abcdefghij", "task-0123456789abcdefghij"),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
            "a\nREDACTED\nb"
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIE-", "REDACTED"),
        ("-----BEGIN CERTIFICATE-----\nMIIE", "-----BEGIN CERTIFICATE-----\nMIIE"),
        ("card 4111111111111111.", "card REDACTED."), ("4111 1111 1111 1111", "REDACTED"),
        ("4111-1111-1111-1111 12/27", "REDACTED 12/27"), ("4111 1111 1111 1111 12", "REDACTED 12"),
        ("3782 822463 10005", "REDACTED"), ("4222222222222", "REDACTED"), ("6304000000000000000", "REDACTED"),
        ("411111111111111", "411111111111111"), ("4111111111111112", "4111111111111112"),
        ("x4111111111111111", "x4111111111111111"), ("4111111111111111x", "4111111111111111x"),
        ("0.4111111111111111", "0.4111111111111111"), ("4111111111111111.5", "4111111111111111.5"),
        ("1700000000000", "1700000000000"), ("12 4111 1111 1111 1111", "12 REDACTED"),
        ("41111111111111111111111111", "41111111111111111111111111"),
        ("10 20 30 40 50 60 70 80", "10 20 30 40 50 60 70 80"),
    ]

    static let named: [(String, String)] = [
        ("password=hunter2 a=1", "password=REDACTED a=1"), (#"token="a b" c"#, #"token="REDACTED" c"#),
        ("pass%77ord=x", "pass%77ord=REDACTED"), ("/cb?code=1&x=2 c", "/cb?code=REDACTED&x=2 c"),
        ("key=abc key=0123456789abcdef", "key=abc key=REDACTED"), ("password=", "password="), ("=x", "=x"),
        (#"{"password": "a\"b", "a": 1}"#, #"{"password": "REDACTED", "a": 1}"#),
        (#"{\"pin\":\"1\",\"a\":2}"#, #"{\"pin\":\"REDACTED\",\"a\":2}"#),
        (#"{"pin":1234,"tokens":{"a":"}"},"b":2"#, #"{"pin":REDACTED,"tokens":REDACTED,"b":2"#),
        ("Authorization: Bearer x y\r\nA: b", "Authorization: Bearer REDACTED\r\nA: b"),
        ("> X-Api-Key: k v\n< Set-Cookie: a=b; Path=/", "> X-Api-Key: REDACTED\n< Set-Cookie: a=REDACTED; Path=/"),
        ("bad password: hunter2, sorry", "bad password: REDACTED, sorry"), ("error code: 404", "error code: 404"),
        (
            "GET https://u:p@h/a?token=x&b=1: no answer",
            "GET https://REDACTED:REDACTED@h/a?token=REDACTED&b=1: no answer"
        ),
        ("<https://h/?state=1&code=2>", "<https://h/?state=REDACTED&code=REDACTED>"), ("a://", "a://"), (":", ":"),
        ("12:30:00 http://h:80/", "12:30:00 http://h:80/"),
        ("failed, Authorization: Bearer abc123", "failed, Authorization: Bearer REDACTED"),
        ("curl -H 'Authorization: Token 9944b09' -v", "curl -H 'Authorization: Token REDACTED' -v"),
        (
            #"-H "Authorization: Digest username='u', response='r'" -v"#, #"-H "Authorization: Digest REDACTED" -v"#
        ),
        ("  Cookie: a=1; JSESSIONID=S\n  A: b", "  Cookie: a=REDACTED; JSESSIONID=REDACTED\n  A: b"),
        ("* [HTTP/2] [1] [cookie: a=1; b=S]", "* [HTTP/2] [1] [cookie: a=REDACTED; b=REDACTED]"),
        (
            #"got WWW-Authenticate: Digest realm="a", nonce="n""#,
            #"got WWW-Authenticate: Digest realm="a", nonce="REDACTED""#
        ),
        (
            #"{ Authorization: "Token a", Cookie: 'a=1', b: 2 }"#,
            #"{ Authorization: "REDACTED", Cookie: 'REDACTED', b: 2 }"#
        ),
        (#"msg="no, Cookie: a=1; b=2" status=5"#, #"msg="no, Cookie: a=REDACTED; b=REDACTED" status=5"#),
        (#""a -H \"Cookie: a=1; b=2\" -v", c"#, #""a -H \"Cookie: a=REDACTED; b=REDACTED\" -v", c"#),
        ("authorization=Bearer abc123 x", "authorization=REDACTED x"), ("token=Basic", "token=REDACTED"),
        (#"{"authorization": Token abc}"#, #"{"authorization": REDACTED}"#),
        (#"{\"password\":\"pa\\\"ss\"} x"#, #"{\"password\":\"REDACTED\"} x"#),
        (#"{\"tokens\":{\"a\":\"}\\\"\"}} x"#, #"{\"tokens\":REDACTED} x"#),
        (#"\\\"pin\\\":\\\"a\\\\\\\"b\\\",1"#, #"\\\"pin\\\":\\\"REDACTED\\\",1"#),
        ("> GET /login?next=%2Fcb%3Ftoken%3Dabc HTTP/1.1", "> GET /login?next=%2Fcb%3Ftoken%3DREDACTED HTTP/1.1"),
        ("GET /cb?state=xyz&code=1 #state=a", "GET /cb?state=REDACTED&code=REDACTED #state=a"),
        ("/a?ghp_0123456789abcdefghijABCDEFGHIJ012345=1&b", "/a?REDACTED=1&b"),
        ("really? a=1 #1=b c?d=e:f", "really? a=1 #1=b c?d=e:f"), ("#password: x", "#password: REDACTED"),
        ("authors: A, cookies are fine [1]", "authors: A, cookies are fine [1]"),
        ("[db]\npassword = hunter2\nuser = ana", "[db]\npassword = REDACTED\nuser = ana"),
        ("pin\t=\t1234;", "pin\t=\tREDACTED;"), (#"password = "a b" c"#, #"password = "REDACTED" c"#),
        ("pwd = a=b=", "pwd = REDACTED"), ("token= abc x", "token= REDACTED x"), ("token= user=ana", "token= user=ana"),
        ("secret= dGVzdA==", "secret= REDACTED"),
        ("if password == x or pin != y", "if password == x or pin != y"), ("password =\nnext", "password =\nnext"),
        ("password : hunter2", "password : REDACTED"), ("error code : 404", "error code : 404"),
        ("see //u:PW@h/a for it", "see //REDACTED:REDACTED@h/a for it"), ("(//u@h/)", "(//REDACTED:REDACTED@h/)"),
        ("// mail a@b, //cdn.example/x@1", "// mail a@b, //cdn.example/x@1"), ("a///b@c", "a///b@c"),
        ("in 'http://u:PW#x@h:1'", "in 'http://REDACTED:REDACTED@h:1'"),
        ("in 'http://u:PW x@h:1', so", "in 'http://REDACTED:REDACTED@h:1', so"),
        ("write http://HOST:PORT, or mail", "write http://HOST:PORT, or mail"),
    ]

    @Test(arguments: known)
    func secretWithAKnownPatternIsRedacted(text: String, expected: String) {
        #expect(Redactor().redact(text: text) == expected)
    }

    @Test(arguments: named)
    func namedSecretIsRedacted(text: String, expected: String) {
        #expect(Redactor().redact(text: text) == expected)
    }

    /// The finished part of the text doesn't change, regardless of the rest.
    @Test(arguments: known + named)
    func splittingATextDoesNotChangeTheResult(text: String, expected: String) {
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            var first = TextScan(Redactor(), bytes, in: 0..<cut, isFinal: false, rules: .all, depth: 0)
            let settled = first.run(from: 0)
            var second = TextScan(Redactor(), bytes, in: 0..<bytes.count, rules: .all, depth: 0)
            #expect(second.run(from: settled) == bytes.count)
            let redacted = bytes.applying(first.edits + second.edits, in: 0..<bytes.count)
            #expect(String(decoding: redacted, as: UTF8.self) == expected, "cut at \(cut)")
        }
    }

    private static let timeIsProportionalToTheTextArguments: [String] = [
        "eyJ", "4111 ", "-----BEGIN PRIVATE KEY-----", "Bearer ", "a://", "\"pin\":", "ghp_", "=", "token={",
        "sk-", "data: [\n", "{\"state\":1,", "\"key\": ", "a=1&", "Bearer", "AKIA", "basic ",
        "?a=", "#a=?", "//", "//a:", "//a:b/", "token = ", "token  ", "a://b:c ", "\"Cookie: ", "[Cookie: a=\"",
        "=\\\\\\", "token=Bearer ", "\\\"pin\\\":", "a://b;token=", "key=]",
    ]

    /// The time limit is thousands of times the usual duration.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: Self.timeIsProportionalToTheTextArguments
    )
    func timeIsProportionalToTheText(piece: String) {
        let text = String(repeating: piece, count: 100_000 / piece.utf8.count)
        #expect(!Redactor().redact(text: text).isEmpty)
    }

    @Test func tooLongCandidateIsRedacted() {
        let text = "a ghp_" + String(repeating: "x", count: TextScan.window)
        #expect(Redactor().redact(text: text) == "a REDACTED")
    }

    @Test func auditListsPlacesWithoutValues() {
        var audit = Redactor.Audit()
        let redactor = Redactor()
        _ = redactor.redact(
            [.authorization: "Bearer hidden", .location: "/?pin=hidden"],
            at: "request.headers",
            recordingTo: &audit
        )
        _ = redactor.redact(url: "https://hidden@h/?a=1&otp=hidden#sid=hidden", at: "request.url", recordingTo: &audit)
        _ = redactor.redact(text: "password=hidden \(Self.jwt) \(Self.jwt)", at: "error", recordingTo: &audit)
        #expect(
            audit.places == [
                "request.headers.Authorization", "request.headers.Location:?pin", "request.url:user",
                "request.url:?otp",
                "request.url:#sid", "error:=password", "error:<JWT>",
            ]
        )
    }

    /// The check by length and bytes agrees with the scan.
    @Test(arguments: [
        "bearerBEARER x", "basicBASIC YTo=", "eyJ.AKIAghp_sk-", "411 11-", "pw=x:y?#&%\"'{}[]<>/token",
    ])
    func harmlessTextContainsNoSecrets(alphabet: String) {
        let alphabet = Array(alphabet.utf8)
        var (seed, harmless) = (UInt64(1), 0)
        func next(below limit: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % limit
        }
        let words = ["bearer", "Basic", "YTo=", "eyJ", "token", "x-api-key", "4111"].map { Array($0.utf8) }
        for _ in 0..<20_000 {
            var text = next(below: 2) == 0 ? [] : words[next(below: words.count)]
            for _ in 0..<next(below: 14) { text.append(alphabet[next(below: alphabet.count)]) }
            guard TextScan.isHarmless(text, 0..<text.count) else { continue }
            harmless += 1
            var scan = TextScan(Redactor(), text, in: 0..<text.count, rules: [.all, .lines, .elements], depth: 0)
            let end = scan.run(from: 0)
            #expect(end == text.count && scan.edits.isEmpty, "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(harmless > 0)
    }

    private static let harmlessTextIsRecognizedByLengthAndBytesArguments: [(String, Bool)] = [
        ("bearer x", false), ("a bearer", false), ("a word", true), ("word", true), ("", true), ("a=b", false),
        ("1234567890123", false), ("123456789012", true), ("a.b", false), ("é", false), ("a\tb", true),
    ]

    @Test(arguments: Self.harmlessTextIsRecognizedByLengthAndBytesArguments)
    func harmlessTextIsRecognizedByLengthAndBytes(text: String, isHarmless: Bool) {
        let bytes = Array(text.utf8)
        #expect(TextScan.isHarmless(bytes, 0..<bytes.count) == isHarmless)
    }
}
