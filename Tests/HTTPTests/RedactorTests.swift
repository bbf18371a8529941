import BeagleNetHTTP
import Testing

struct RedactorTests {
    private let redactor = Redactor()

    @Test(
        arguments: [
            "Authorization", "proxy-authorization", "COOKIE", "Set-Cookie", "Cookie2", "WWW-Authenticate",
            "Proxy-Authenticate", "Authentication-Info", "X-Api-Key", "Api-Key", "apikey", "X-Auth-Token",
            "X-Access-Token", "X-Refresh-Token", "X-Session-Id", "X-CSRF-Token", "X-XSRF-Token", "X-Csrf",
            "X-Amz-Security-Token", "X-Goog-Api-Key", "X-Goog-Iam-Authorization-Token", "X-Vault-Token",
            "Private-Token", "X-Hub-Signature-256", "DPoP", "X-Client-Secret", "X-Password", "X-Auth", "Session",
            "X-Credential", "Cookie2", "X-Goog-Iam-Authorization-Token", "X-Shopify-Access-Token", "X-Gitlab-Token",
            "X-Hub-Signature", "X-Forwarded-Access-Token", "SAMLResponse", "X-SAML-Assertion", "X_API_KEY",
            "Ocp-Apim-Subscription-Key", "X-Functions-Key", "CF-Access-Client-Secret", "X-Auth-Key",
            "Cf-Access-Jwt-Assertion", "X-Goog-IAP-JWT-Assertion", "X-Acme-Access-Key",
        ]
    )
    func credentialHeaderIsSecret(name: String) {
        #expect(redactor.isSecret(header: name))
    }

    @Test(
        arguments: [
            "Accept", "Content-Type", "Author", "Authority", "X-Auth-Type", "beagle-platform", "beagle-hash", "ETag",
            "Location", "Idempotency-Key", "X-Request-Id", "Keep-Alive", "Sec-WebSocket-Key", "Public-Key-Pins",
            "X-Session-Type", "Spin", "Authoring", "Server", "",
        ]
    )
    func otherHeaderIsNotSecret(name: String) {
        #expect(!redactor.isSecret(header: name))
    }

    @Test(
        "a secret name is secret in header fields, queries, forms, JSON and GraphQL",
        arguments: [
            "Access-Key", "Private-Key", "Subscription-Key", "Encryption-Key", "Signing-Key", "Session-Key", "JWT",
            "Pwd",
            "Assertion", "Client-Assertion", "SSN", "Sig", "Pass", "Code", "Pin", "OTP", "TOTP", "MFA", "IBAN", "CVV",
            "Card-Number", "Relay-State", "AWS-Access-Key-Id", "DPoP", "Api-Key", "Auth-Token", "Functions-Key",
        ]
    )
    func secretNameIsSecretEverywhere(name: String) throws {
        let plain = name.replacing("-", with: "_")
        for name in [name, name.lowercased(), "X-\(name)"] {
            #expect(redactor.isSecret(header: name), "\(name)")
            #expect(redactor.isSecret(name: name, length: 1), "\(name)")
        }
        #expect(redactor.redact(url: "/?\(name)=v&x-\(plain)=v") == "/?\(name)=REDACTED&x-\(plain)=REDACTED")
        let texts = [
            ("application/json", #"{"\#(plain)":"v","a":1}"#, #"{"\#(plain)":"REDACTED","a":1}"#),
            ("application/x-www-form-urlencoded", "\(plain)=v&a=1", "\(plain)=REDACTED&a=1"),
            ("application/graphql", #"{a(\#(plain): "v")}"#, #"{a(\#(plain): "REDACTED")}"#),
        ]
        for (type, text, expected) in texts {
            let data = try #require(redactor.redact(body: Data(text.utf8), contentType: type).data)
            #expect(String(decoding: data, as: UTF8.self) == expected)
        }
    }

    @Test(
        arguments: ["xcode", "X-Page", "xpass_count", "access_keys_count", "x"]
    )
    func otherNameIsNotSecret(name: String) {
        #expect(!redactor.isSecret(name: name, length: 1))
    }

    private static let invalidURLIsRedactedArguments: [(String, String)] = [
        ("//u:PW@h/x", "//REDACTED:REDACTED@h/x"), ("///u:PW@h/x", "///REDACTED:REDACTED@h/x"),
        ("http:///u:PW@h/x", "http:///REDACTED:REDACTED@h/x"), ("http:/u:PW@h/x", "http:/REDACTED:REDACTED@h/x"),
        (#"http:\\u:PW@h/x"#, #"http:\\REDACTED:REDACTED@h/x"#), ("u:PW@h/x", "REDACTED:REDACTED@h/x"),
        ("http://u:PW#x@h:1", "http://REDACTED:REDACTED@h:1"),
        ("http://u:PW/x@h:1/a", "http://REDACTED:REDACTED@h:1/a"),
        ("http://u:PW?x@h:1?a=1", "http://REDACTED:REDACTED@h:1?a=1"),
        ("http://u:PW x@h:1", "http://REDACTED:REDACTED@h:1"),
        ("http://u:PW@h:99999", "http://REDACTED:REDACTED@h:99999"),
        ("http://u:PW@[::1", "http://REDACTED:REDACTED@[::1"), ("ftp://u:PW@h", "ftp://REDACTED:REDACTED@h"),
        ("http://u:PW@x@h", "http://REDACTED:REDACTED@h"), ("http://h:80/a@b", "http://h:80/a@b"),
        ("http://h:/a@b", "http://h:/a@b"), ("http://[::1]/a@b", "http://[::1]/a@b"),
        ("http://h:abc/x", "http://h:abc/x"),
        ("https://@{host}/a", "https://@{host}/a"), ("mailto:a@b.example", "mailto:a@b.example"),
        ("data:text/plain,a@b", "data:text/plain,a@b"),
        ("/users/a@b", "/users/a@b"), ("a/b:c@d", "a/b:c@d"),
    ]

    @Test(arguments: Self.invalidURLIsRedactedArguments)
    func invalidURLIsRedacted(url: String, expected: String) {
        #expect(redactor.redact(url: url) == expected)
        #expect(redactor.redact(url: expected) == expected)
    }

    private static let urlIsRedactedArguments: [(String, String)] = [
        ("https://h/p?a=1&b=%20", "https://h/p?a=1&b=%20"),
        ("https://h/?access_token=abc&x=1", "https://h/?access_token=REDACTED&x=1"),
        ("https://h/?Access-Token=abc", "https://h/?Access-Token=REDACTED"),
        ("https://h/?user[password]=p", "https://h/?user[password]=REDACTED"),
        ("https://h/?%70assword=p", "https://h/?%70assword=REDACTED"),
        ("https://h/?pass%5Fword=p", "https://h/?pass%5Fword=REDACTED"),
        ("https://h/?state=s&code=4711", "https://h/?state=REDACTED&code=REDACTED"),
        ("https://h/?state=open&a=1", "https://h/?state=open&a=1"),
        ("https://h/?a=1#state=s&session_state=x", "https://h/?a=1#state=REDACTED&session_state=x"),
        (
            "https://h/?token_type=bearer&client-assertion-type=x",
            "https://h/?token_type=bearer&client-assertion-type=x"
        ),
        ("https://h/?x=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln&y=1", "https://h/?x=REDACTED&y=1"),
        ("https://h/v1/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln/a", "https://h/v1/REDACTED/a"),
        ("/files/ghp_0123456789abcdefghijABCDEFGHIJ012345?a", "/files/REDACTED?a"),
        ("/files/a%2Fghp_0123456789abcdefghijABCDEFGHIJ012345?a", "/files/a%2FREDACTED?a"),
        (
            "https://h/?next=https%3A%2F%2Fu%3Ap%40h%2F%3Ftoken%3Dx%26a%3D1&b=2",
            "https://h/?next=https%3A%2F%2FREDACTED:REDACTED%40h%2F%3Ftoken%3DREDACTED%26a%3D1&b=2"
        ),
        ("https://h/?a=1&amp;code=2", "https://h/?a=1&amp;code=REDACTED"),
        ("https://h/?card=4111&cvv=123&otp=9", "https://h/?card=REDACTED&cvv=REDACTED&otp=REDACTED"),
        ("https://h/?key=name", "https://h/?key=name"),
        ("https://h/?key=0123456789abcdef", "https://h/?key=REDACTED"),
        ("https://h/?token=&token", "https://h/?token=&token"),
        ("https://h/?sig=a=b=c", "https://h/?sig=REDACTED"),
        ("https://u:p@h/x@y", "https://REDACTED:REDACTED@h/x@y"),
        ("https://u@p@h/", "https://REDACTED:REDACTED@h/"),
        ("/cb#id_token=x&b=2", "/cb#id_token=REDACTED&b=2"),
        ("https://h?%zz=1&%", "https://h?%zz=1&%"), ("", ""),
        ("https://h/reset?eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "https://h/reset?REDACTED"),
        ("https://h/#ghp_0123456789abcdefghijABCDEFGHIJ012345", "https://h/#REDACTED"),
        ("https://h/?ghp_0123456789abcdefghijABCDEFGHIJ012345=1&a", "https://h/?REDACTED=1&a"),
        ("https://h/?access_token%3Dabc", "https://h/?access_token%3DREDACTED"),
        ("https://h/?a&b+c#top", "https://h/?a&b+c#top"),
        ("https://app/#/cb?code=Splx&state=xyz", "https://app/#/cb?code=REDACTED&state=REDACTED"),
        ("https://app/#/list?page=2&state=open", "https://app/#/list?page=2&state=open"),
        ("https://h/a;token=abc", "https://h/a;token=REDACTED"), ("/a;v=1.2;w/b=c", "/a;v=1.2;w/b=c"),
        ("/a;jsessionid=x?b=1", "/a;jsessionid=REDACTED?b=1"),
        ("https://proxy/https://user:hunter2@inner/", "https://proxy/https://REDACTED:REDACTED@inner/"),
        ("/verify/ghp_0123456789abcdefghijABCDEFGHIJ012345//home", "/verify/REDACTED//home"),
        ("/a//ghp_0123456789abcdefghijABCDEFGHIJ012345", "/a//REDACTED"),
        (
            "/login/ghp_0123456789abcdefghijABCDEFGHIJ012345/https://user:hunter2@app/ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "/login/REDACTED/https://REDACTED:REDACTED@app/REDACTED"
        ),
        ("https://h/hooks/whsec_abcdefghij+KLMNOPQRST", "https://h/hooks/REDACTED"),
        ("https://h/a+b/%2B/c@d:1", "https://h/a+b/%2B/c@d:1"),
    ]

    @Test(
        "secret values in URLs are replaced, and everything else is unchanged",
        arguments: Self.urlIsRedactedArguments
    )
    func urlIsRedacted(url: String, expected: String) {
        #expect(redactor.redact(url: url) == expected)
    }

    @Test func foundationURLIsRedacted() throws {
        #expect(redactor.redact(url: try #require(URL(string: "http://h/?otp=1"))) == "http://h/?otp=REDACTED")
    }

    private static let redactedFieldKeepsItsFormArguments: [(String, String, String)] = [
        ("Authorization", "Bearer abc", "Bearer REDACTED"), ("Authorization", "abc", "REDACTED"),
        ("Cookie", "a=1; b=2", "a=REDACTED; b=REDACTED"), ("Cookie", "loose; b=2", "REDACTED; b=REDACTED"),
        ("Set-Cookie", "a=1; Path=/; Secure", "a=REDACTED; Path=/; Secure"), ("X-Api-Key", "k v", "REDACTED"),
        ("Location", "https://h/?code=1", "https://h/?code=REDACTED"), ("Accept", "token=1", "token=1"),
        (
            "Link", "<https://h/?a=1>; rel=next, <https://h/?token=x&b=2#otp=1>; rel=last,</?pin=1>",
            "<https://h/?a=1>; rel=next, <https://h/?token=REDACTED&b=2#otp=REDACTED>; rel=last,</?pin=REDACTED>"
        ),
        ("Link", "https://u:p@h/?token=x", "https://REDACTED:REDACTED@h/?token=REDACTED"),
        ("Refresh", "5; url=/a?token=x", "5; url=/a?token=REDACTED"),
        ("Refresh", "0; url=/a?x=1,2;3&token=b", "0; url=/a?x=1,2;3&token=REDACTED"),
        ("Refresh", "0;URL='/a?x=1,2&token=b'", "0;URL='/a?x=1,2&token=REDACTED'"), ("Refresh", "5", "5"),
        (
            "Link", #"<https://api/items?fields=id,name&access_token=a;b>; rel="next""#,
            #"<https://api/items?fields=id,name&access_token=REDACTED>; rel="next""#
        ),
        ("Link", "</a?pin=1", "</a?pin=REDACTED"),
        (
            "Set-Cookie", "a=1; Path=/, sid=SECRET; HttpOnly, b=2; Max-Age=1",
            "a=REDACTED; Path=REDACTED; HttpOnly, b=REDACTED; Max-Age=1"
        ),
        (
            "Set-Cookie", "a=1; expires=Wed, 21 Oct 2015 07:28:00 GMT; SameSite=Lax; Domain=h; Priority=High;",
            "a=REDACTED; expires=Wed, 21 Oct 2015 07:28:00 GMT; SameSite=Lax; Domain=h; Priority=High;"
        ),
        ("Location", "/cb?code=1&state=2", "/cb?code=REDACTED&state=REDACTED"),
        (
            "WWW-Authenticate", #"Digest realm="a, b", nonce="n\", x", qop=auth, opaque=o, Basic realm=x"#,
            #"Digest realm="a, b", nonce="REDACTED", qop=auth, opaque=REDACTED, Basic realm=x"#
        ),
        ("WWW-Authenticate", "Negotiate abc==, NTLM", "Negotiate REDACTED, NTLM"),
        (
            "WWW-Authenticate", #"Bearer error_description="eyJh.eyJz.c2ln expired", scope="a b""#,
            #"Bearer error_description="REDACTED expired", scope="a b""#
        ),
        (
            "Authentication-Info", #"nextnonce="x", rspauth="y", cnonce="z", nc=00000001, qop=auth"#,
            #"nextnonce="REDACTED", rspauth="REDACTED", cnonce="REDACTED", nc=00000001, qop=auth"#
        ),
        ("X-Note", "Bearer abc", "Bearer REDACTED"), ("User-Agent", "a/1 (https://h/?a=1)", "a/1 (https://h/?a=1)"),
        ("X-Next", "see https://u:p@h/", "see https://REDACTED:REDACTED@h/"),
    ]

    @Test(arguments: Self.redactedFieldKeepsItsFormArguments)
    func redactedFieldKeepsItsForm(name: String, value: String, expected: String) throws {
        let redacted = redactor.redact([try #require(HTTPField.Name(name)): value])
        #expect(redacted.map(\.name) == [name])
        #expect(redacted.map(\.value) == [expected])
    }

    @Test func fieldsKeepTheirOrder() throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .accept, value: "a"))
        fields.append(HTTPField(name: .setCookie, value: "a=1"))
        fields.append(HTTPField(name: .setCookie, value: "b=2"))
        #expect(redactor.redact(fields).map(\.value) == ["a", "a=REDACTED", "b=REDACTED"])
    }

    @Test func appOverridesSecretNames() {
        let redactor = Redactor(secrets: ["X-Pet", "pet_name"], visibleNames: ["X-Session-Id", "code"])
        #expect(redactor.isSecret(header: "x-pet"))
        #expect(!redactor.isSecret(header: "x-session-id"))
        #expect(redactor.redact(url: "/?pet-name=x&code=1&pin=2") == "/?pet-name=REDACTED&code=1&pin=REDACTED")
        #expect(redactor.redact(text: "no pet with pet_name: x, code: 1") == "no pet with pet_name: REDACTED, code: 1")
        #expect(redactor.redact(text: "a X-Session-Id: x") == "a X-Session-Id: x")
        #expect(redactor.isSecret(header: "Pet-Name") && !redactor.isSecret(header: "Code"))
        #expect(redactor.isSecret(name: "user[pin]", length: 1) && !redactor.isSecret(name: "user.id", length: 1))
    }

    private static let bodySummaryHasSizeAndMediaTypeArguments: [(String?, String?, String)] = [
        (nil, "text/plain", "no body"), ("", "text/plain", "no body"),
        ("secret", "application/JSON; charset=x", "6 bytes of application/json"),
        ("secret", nil, "6 bytes of unknown type"),
        ("secret", "the password x/y", "6 bytes of unknown type"), ("secret", "x", "6 bytes of unknown type"),
        ("secret", "a/b/c", "6 bytes of unknown type"), ("secret", "a/\u{7}", "6 bytes of unknown type"),
    ]

    @Test(arguments: Self.bodySummaryHasSizeAndMediaTypeArguments)
    func bodySummaryHasSizeAndMediaType(body: String?, type: String?, expected: String) {
        #expect(redactor.summary(of: body.map { Data($0.utf8) }, contentType: type) == expected)
    }

    @Test func errorsAndMetricsDoNotShowSecretsOfURLs() {
        var error = NetworkError(.badURL, during: .build, "the URL contains a user name")
        error.request = HTTPRequest(method: .get, scheme: "http", authority: "me:hidden@h:1", path: "/a?token=hidden")
        #expect("\(error)".hasPrefix("GET http://…@h:1/a?…: "))

        var metrics = TransferMetrics()
        metrics.hops = [
            TransferMetrics.Hop(method: "GET", url: "http://h/a?token=hidden", status: 302, duration: .zero)
        ]
        var shown = "\(metrics)"
        dump(metrics, to: &shown)
        #expect(shown.contains("GET http://h/a?token=REDACTED: 302"))
        #expect(!shown.contains("hidden"))
    }
}
