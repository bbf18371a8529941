import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct ReissueRequestBuilderTests {
    private func entry(
        _ method: String = "GET",
        _ url: String = "https://api.example.com/a?b=c%20d#f",
        _ fields: [(String, String)] = [],
        _ body: LogEntry.Body? = nil,
        redactions: [String] = []
    ) -> LogEntry {
        let fields = fields.map { LogEntry.Field($0.0, $0.1) }
        return LogEntry(
            started: Date(timeIntervalSince1970: 0),
            request: LogEntry.Request(method: method, url: url, fields: fields, body: body),
            response: LogEntry.Response(status: 200),
            redactions: redactions
        )
    }

    private func request(
        _ entry: LogEntry,
        headers: [Reissuer.HeaderMapping] = [],
        hosts: [String: Reissuer.Target] = [:],
        unsafe: Bool = false
    ) throws -> TransferRequest {
        let routes = ReissueRoutes(fallback: try Reissuer.Target("http://127.0.0.1:81"), hosts: hosts)
        let message = ReissueRequestBuilder(routes: routes, headers: headers, allowsUnsafeMethods: unsafe)
        let recording = Recording([entry])
        return try message.request(entry) { body throws(NetworkError) in try recording.wholeBody(body) }
    }

    private func fields(_ request: TransferRequest) -> [String] {
        request.head.headerFields.map { "\($0.name.rawName): \($0.value)" }
    }

    @Test func schemeHostAndPortAreReplaced() throws {
        #expect(try request(entry()).head.urlText == "http://127.0.0.1:81/a?b=c%20d")
        #expect(try request(entry("GET", "HTTPS://user:pw@h.example?x")).head.urlText == "http://127.0.0.1:81/?x")
        let hosts = [
            "api.example.com": try Reissuer.Target("https://one"), "h:8443": try Reissuer.Target("https://two:1"),
        ]
        #expect(try request(entry(), hosts: hosts).head.urlText == "https://one/a?b=c%20d")
        #expect(try request(entry("GET", "https://API.example.com:8080/"), hosts: hosts).head.urlText == "https://one/")
        #expect(try request(entry("GET", "https://h:8443/"), hosts: hosts).head.urlText == "https://two:1/")
        #expect(try request(entry("GET", "https://h/"), hosts: hosts).head.urlText == "http://127.0.0.1:81/")
    }

    private static let invalidURLIsPercentEncodedArguments: [(String, String)] = [
        ("/a b?q=c d%2F", "/a%20b?q=c%20d%2F"), ("/x?a=b|c&s=%3D", "/x?a=b%7Cc&s=%3D"), ("/é/%C3%A9", "/%C3%A9/%C3%A9"),
        ("/s?d=100%", "/s?d=100%25"),
    ]

    /// Recorders write URLs as the user typed them.
    @Test(arguments: Self.invalidURLIsPercentEncodedArguments) func invalidURLIsPercentEncoded(
        target: String,
        sent: String
    ) throws {
        #expect(
            try request(entry("GET", "https://api.example.com\(target)")).head.urlText == "http://127.0.0.1:81\(sent)"
        )
    }

    @Test func internationalTargetHostIsConvertedToASCII() throws {
        #expect("\(try Reissuer.Target("http://bücher.de:81"))" == "http://xn--bcher-kva.de:81")
        #expect(throws: NetworkError.self) { try Reissuer.Target("http://a b") }
    }

    @Test func connectionFieldsAreNotSent() throws {
        let sent = try request(
            entry(
                "GET",
                "https://h/",
                [
                    (":method", "GET"), (":authority", "h"), ("Host", "h"), ("Connection", "keep-alive, X-Hop"),
                    ("X-Hop", "1"),
                    ("Keep-Alive", "1"), ("TE", "trailers"), ("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"),
                    ("Content-Length", "3"), ("Expect", "100-continue"), ("Proxy-Authorization", "Basic REDACTED"),
                    ("Accept-Encoding", "zstd"), ("Accept", "*/*"), ("x-a", "1"), ("X-A", "2"),
                ]
            )
        )
        #expect(fields(sent) == ["Accept: */*", "x-a: 1", "X-A: 2"])
    }

    @Test(arguments: [
        "request.url:?token", "request.postData.text:=password", "request.postData.params.password",
    ])
    func requestWithRemovedSecretsIsSkipped(_ place: String) throws {
        let form = LogEntry.Body(.data(Data("a=1".utf8)), mediaType: "application/x-www-form-urlencoded")
        #expect(throws: SkipReason.self) {
            try request(entry("POST", "https://h/", [], form, redactions: [place]), unsafe: true)
        }
        let unsent = ["request.url:#token", "request.url:user", "response.content.text:$.token"]
        #expect(try request(entry("POST", "https://h/", [], form, redactions: unsent), unsafe: true).body != nil)
    }

    @Test func mappedHeadersReplaceRecordedOnes() throws {
        let token = try Reissuer.HeaderMapping("Authorization=Bearer env:TOKEN", environment: ["TOKEN": "canary"])
        let recorded = entry("GET", "https://h/", [("authorization", "Bearer REDACTED"), ("A", "1")])
        #expect(try fields(request(recorded, headers: [token])) == ["A: 1", "Authorization: Bearer canary"])
        #expect(try fields(request(entry(), headers: [token])) == ["Authorization: Bearer canary"])
    }

    @Test func hostWithItsOwnTargetReceivesNoNewSecret() throws {
        let token = Reissuer.HeaderMapping(.authorization, "canary")
        let hosts = ["cdn.example.com": try Reissuer.Target("http://other")]
        let plain = entry("GET", "https://cdn.example.com/i.png")
        #expect(try fields(request(plain, headers: [token], hosts: hosts)) == [])
        let image = entry("GET", "https://cdn.example.com/i.png", [("Authorization", "REDACTED")])
        #expect(try fields(request(image, headers: [token], hosts: hosts)) == ["Authorization: canary"])
    }

    @Test func requestThatNeedsASecretIsSkipped() {
        let form = LogEntry.Body(
            .data(Data("a=1&password=REDACTED".utf8)),
            mediaType: "application/x-www-form-urlencoded"
        )
        let table: [(LogEntry, String)] = [
            (entry("GET", "https://h/", [("Cookie", "a=REDACTED; b=1")]), "the secret in Cookie"),
            (
                entry("GET", "https://h/", [], redactions: ["request.headers.Authorization"]),
                "the secret in authorization"
            ),
            (entry("GET", "https://h/?token=REDACTED"), "its URL has a secret"),
            (entry("POST", "https://h/", [], form), "its body has a secret"),
            (entry("POST", "https://h/", [], LogEntry.Body(.omitted("unredactable"))), "unredactable"),
            (entry("PUT", "https://h/", [], LogEntry.Body(.data(Data()), isTruncated: true)), "beginning"),
        ]
        for (entry, reason) in table {
            let error = #expect(throws: SkipReason.self) { try request(entry, unsafe: true) }
            #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "sent")")
            #expect(error?.reason.contains("REDACTED") == false)
        }
    }

    @Test func unsafeMethodsAreSkippedUnlessAllowed() throws {
        for method in ["GET", "HEAD", "OPTIONS"] { #expect(try request(entry(method)).head.method.rawValue == method) }
        for method in ["POST", "PUT", "DELETE", "PATCH", "get", "PROPFIND"] {
            let error = #expect(throws: SkipReason.self) { try request(entry(method)) }
            #expect(error?.reason.contains("allow unsafe methods") == true)
            #expect(try request(entry(method), unsafe: true).head.method.rawValue == method)
        }
        for method in ["CONNECT", "TRACE", "not a method"] {
            #expect(throws: SkipReason.self) { try request(entry(method), unsafe: true) }
        }
    }

    @Test(arguments: ["", "/a", "ws://h/", "data:text/plain,x", "chrome-extension://x/y", "http:///x"])
    func nonHTTPURLIsSkipped(_ url: String) {
        #expect(throws: SkipReason.self) { try request(entry("GET", url)) }
    }

    @Test func invalidFieldIsSkipped() {
        #expect(throws: SkipReason.self) { try request(entry("GET", "https://h/", [("a b", "1")])) }
        #expect(throws: SkipReason.self) { try request(entry("GET", "https://h/", [("A", "1\r\nB: 2")])) }
    }

    private static let invalidTargetIsRejectedArguments: [(String, String)] = [
        ("staging.example.com", "no scheme"), ("", "no scheme"), ("https://", "no scheme"), ("ftp://h", "neither http"),
        ("https://u:canary@h", "has a user"), ("https://h/path", "path"), ("https://h?q=1", "path"),
        ("https://:80", "has no host"),
    ]

    @Test(arguments: Self.invalidTargetIsRejectedArguments)
    func invalidTargetIsRejected(_ url: String, _ reason: String) {
        let error = #expect(throws: NetworkError.self) { try Reissuer.Target(url) }
        #expect(error?.kind == .badURL)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("canary") == false)
    }

    @Test func targetMayHaveAPortAndASlash() throws {
        #expect(try Reissuer.Target("HTTPS://h:8443/").description == "https://h:8443")
        #expect(try Reissuer.Target("http://[::1]:80").description == "http://[::1]:80")
    }

    private static let invalidMappingIsRejectedArguments: [(String, String)] = [
        ("Authorization", "must be Name=value"), ("a b=c", "must be Name=value"), ("=x", "must be Name=value"),
        ("Authorization=env:NONE", "variable NONE"), ("Authorization=env:EMPTY", "variable EMPTY"),
        ("Authorization=env:FEED", "cannot be sent"),
    ]

    @Test(arguments: Self.invalidMappingIsRejectedArguments)
    func invalidMappingIsRejected(_ text: String, _ reason: String) {
        let environment = ["EMPTY": "", "FEED": "canary\ncanary"]
        let error = #expect(throws: NetworkError.self) { try Reissuer.HeaderMapping(text, environment: environment) }
        #expect(error?.kind == .badConfiguration)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.description.contains("canary") == false)
    }

    private static let mappingHasAValueOrAVariableArguments: [(String, String)] = [
        ("X=1", "1"), ("X=a=b", "a=b"), ("X=env:T", "t"), ("X=Bearer env:T", "Bearer t"), ("X=", ""),
        ("X=myenv:T", "myenv:T"),
    ]

    @Test(arguments: Self.mappingHasAValueOrAVariableArguments)
    func mappingHasAValueOrAVariable(_ text: String, _ value: String) throws {
        #expect(try Reissuer.HeaderMapping(text, environment: ["T": "t"]).value == value)
    }
}
