import BeagleNetHTTP
import BeagleNetRequestBuilder
import Testing

struct TargetTests {
    private let builder = HttpRequestBuilder()

    private static let urlIsSentUnchangedExceptForItsFragmentArguments: [(String, String)] = [
        ("http://h", "http://h/"), ("HTTP://H/", "http://H/"), ("https://h:443/a", "https://h:443/a"),
        ("http://h:/a", "http://h/a"), ("http://h?a", "http://h/?a"), ("http://h/a?", "http://h/a?"),
        ("http://h/a#f", "http://h/a"), ("http://h/a?b#f?g", "http://h/a?b"), ("http://h#f", "http://h/"),
        ("http://h/a@b:c", "http://h/a@b:c"), ("http://h/?u=a@b", "http://h/?u=a@b"),
        ("http://[::1]/", "http://[::1]/"),
        ("http://[::1]:8080/", "http://[::1]:8080/"), ("http://[fe80::1%25eth0]/", "http://[fe80::1%25eth0]/"),
        ("http://127.0.0.1:1/", "http://127.0.0.1:1/"), ("http://h:65535/", "http://h:65535/"),
        ("http://h:0080/a", "http://h:80/a"), ("http://h:00000000000000000000080/a", "http://h:80/a"),
        ("http://a_b.c/", "http://a_b.c/"), ("http://h/ü", "http://h/%C3%BC"),
        ("http://exa%6Dple.com/%2f", "http://example.com/%2f"), ("http://h/a b", "http://h/a%20b"),
    ]

    @Test(arguments: Self.urlIsSentUnchangedExceptForItsFragmentArguments)
    func urlIsSentUnchangedExceptForItsFragment(url: String, expected: String) throws {
        #expect(try builder.message(url).url == expected)
        #expect(try HttpRequestBuilder(compatibility: .beagle1).message(url).url == expected)
    }

    @Test(
        "a non-ASCII host is sent in its ASCII form, percent-encoded or not",
        arguments: ["http://münchen.de/", "http://m%C3%BCnchen.de/", "http://xn--mnchen-3ya.de/"]
    )
    func nonASCIIHostIsSentInItsASCIIForm(url: String) throws {
        var builder = builder
        #expect(try builder.message(url).url == "http://xn--mnchen-3ya.de/")
        builder.allowedHosts = ["münchen.de"]
        builder.origins = [Origin(scheme: "http", host: "München.de")]
        builder.additionalHeaders = ["App": "1"]
        #expect(try builder.message(url).headers.contains("App: 1"))
        builder.allowedHosts = ["munchen.de"]
        #expect(builder.refusal(url)?.message.contains("xn--mnchen-3ya.de") == true)
    }

    private static let invalidURLIsRejectedArguments: [(String, NetworkError.Kind, String)] = [
        ("/a", .badURL, "no base URL is set for the path /a"), ("www.x", .badURL, "the URL www.x has no scheme"),
        ("//h/a", .badURL, "the URL h/a has no scheme"), ("/a?token=hidden", .badURL, "no base URL"),
        ("h/a?password=hidden", .badURL, "no scheme"),
        ("http:///a", .badURL, "no host"), ("http://", .badURL, "no host"), ("http:a", .badURL, "no host"),
        ("http://:80/", .badURL, "no host"), ("http://?a", .badURL, "no host"),
        ("http://h:0/", .badURL, "the port"), ("http://h:+80/", .badURL, "the port"),
        ("http://h:-80/", .badURL, "the port"), ("http://h:8x/", .badURL, "the port"),
        ("http://h:65536/", .badURL, "the port"), ("http://h:99999999999999999999/", .badURL, "port"),
        ("http://u:987654/x@h/", .badURL, "the port"),
        ("http://u:hidden@h/", .badURL, "user name or password"), ("http://u@h/", .badURL, "user name or password"),
        ("http://a%20b/", .badURL, "invalid character"), ("http://a%00b/", .badURL, "invalid character"),
        ("http://a%0D%0Ab/", .badURL, "invalid character"), ("http://a%40b/", .badURL, "invalid character"),
        ("http://a%2Fb/", .badURL, "invalid character"), ("http://%ff/", .badURL, "invalid character"),
        ("http://[h]/", .badURL, "IPv6"), ("http://[80]/", .badURL, "IPv6"), ("http://[::1%25]/", .badURL, "IPv6"),
        ("http://[%0D]/", .badURL, "IPv6"),
        ("ftp://h/", .unsupportedScheme, "ftp"), ("file:///etc/passwd", .unsupportedScheme, "file"),
        ("data:text/plain,x", .unsupportedScheme, "data"), ("localhost:80/", .unsupportedScheme, "localhost"),
        ("HOST:80/a", .unsupportedScheme, "host"),
        ("javascript:alert(1)", .unsupportedScheme, "javascript"),
    ]

    @Test(
        "row 47: invalid URLs are rejected with a reason",
        arguments: Self.invalidURLIsRejectedArguments
    )
    func invalidURLIsRejected(url: String, kind: NetworkError.Kind, reason: String) throws {
        // Foundation rejects some of them itself.
        guard URL(string: url) != nil else { return }
        for builder in [builder, HttpRequestBuilder(compatibility: .beagle1)] {
            let error = builder.refusal(url)
            #expect(error?.kind == kind)
            #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
            for secret in ["hidden", "987654"] { #expect(error?.description.contains(secret) == false) }
        }
    }

    private static let errorAdvisesACorrectionArguments: [(String, String)] = [
        ("/home", "set one, as in BeagleEnvironment(name:baseURL:), or write the whole URL: https://HOST/home"),
        ("www.x/a", "write https://www.x/a, or begin with / and set a base URL"),
        ("localhost:80/", "use http or https; if localhost is a host, write http://localhost:…"),
        ("ftp://h/", "use http or https"),
    ]

    @Test(arguments: Self.errorAdvisesACorrectionArguments)
    func errorAdvisesACorrection(url: String, advice: String) {
        #expect(builder.refusal(url)?.advice == advice)
    }

    @Test func anyCombinationOfURLPartsIsValidOrRejected() throws {
        let pieces = ["h", "@", ":", "80", "[", "]", "::1", "/", "?", "#", "%", "%0D", "%40", "..", "é", "\\", "&"]
        var built = 0
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    guard let url = URL(string: "http://\(first)\(second)\(third)") else { continue }
                    let request = Request(url: url, type: .fetchImage, query: [URLQueryItem(name: "q", value: "1")])
                    guard let head = try? builder.build(request).head else { continue }
                    built += 1
                    let authority = try #require(head.authority)
                    let path = try #require(head.path)
                    #expect(!authority.isEmpty && !authority.utf8.contains { $0 < 0x21 || "/?#@%\\".utf8.contains($0) })
                    #expect(path.hasPrefix("/") && path.hasSuffix("q=1") && !path.contains("#"))
                    #expect(path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
                }
            }
        }
        #expect(built > 300)
    }

    @Test(
        "row 43: an unevaluated expression is rejected",
        arguments: [
            "http://h/@{ctx}", "http://h/?a=@{b}", "@{url}", "/@{path}", "http://h/@%7bx%7d", "http://h/@{sum(a, 'b')}",
            "http://h/@%7Ba.b%5B0%5D.c%7D",
        ]
    )
    func unevaluatedExpressionIsRejected(url: String) {
        #expect(builder.refusal(url)?.message.contains("@{…}") == true)
    }

    @Test func pathIsAppendedToTheBaseURL() throws {
        var builder = builder
        builder.baseURL = URL(string: "https://h/v1/?k=1")
        #expect(try builder.message("/a?b").url == "https://h/v1/a?k=1&b")
        #expect(try builder.message("//evil.example/a").url == "https://h/v1//evil.example/a?k=1")
        #expect(try builder.message("http://other/a").url == "http://other/a")
        #expect(builder.refusal("www.x")?.message.contains("no scheme") == true)
        builder.baseURL = URL(string: "/relative")
        builder.additionalHeaders = ["App": "1"]
        #expect(try !builder.message("http://other/a").headers.contains("App: 1"))
        #expect(builder.refusal("/a")?.kind == .badURL)
    }

    @Test("row 47: hosts that are not allowed are rejected")
    func hostThatIsNotAllowedIsRejected() throws {
        var builder = builder
        builder.allowedHosts = ["h", "[::1]"]
        #expect(try builder.message("http://H:81/").url == "http://H:81/")
        #expect(try builder.message("http://[::1]/").url == "http://[::1]/")
        #expect(builder.refusal("http://a.h/")?.message.contains("a.h") == true)
        #expect(builder.refusal("http://hh/")?.kind == .badURL)
    }

    private static let appWideHeadersAreSentToOwnOriginsOnlyArguments: [([String], String?, String, Bool)] = [
        // Origins, base URL, requested URL, whether the header is sent.
        ([], "https://h", "https://h/a", true), ([], "https://h", "/a", true),
        ([], "https://h", "https://cdn.h/", false), ([], "https://h", "http://h/", false),
        ([], "https://h", "https://h:444/", false), (["https://a", "http://b:81"], nil, "https://A/x", true),
        (["https://a", "http://b:81"], nil, "http://b:81/", true),
        (["https://a", "http://b:81"], nil, "http://b/", false),
        (["https://a"], "https://h", "https://h/", false),
    ]

    @Test(
        "row 13: app-wide headers are sent only to the app's own origins",
        arguments: Self.appWideHeadersAreSentToOwnOriginsOnlyArguments
    )
    func appWideHeadersAreSentToOwnOriginsOnly(origins: [String], base: String?, url: String, isSent: Bool) throws {
        var builder = builder
        builder.origins = Set(origins.compactMap { URL(string: $0).flatMap(Origin.init(_:)) })
        builder.baseURL = base.flatMap(URL.init(string:))
        builder.additionalHeaders = ["Authorization": "Bearer x", "App": "1"]
        for type in [Request.RequestType.fetchComponent, .fetchImage, .form(.post), .raw("GET")] {
            let built = try builder.build(Request(url: try #require(URL(string: url)), type: type))
            #expect((built.head.headerFields[.authorization] != nil) == isSent)
            #expect((built.originScopedFields.map(\.canonicalName).sorted() == ["app", "authorization"]) == isSent)
            #expect(isSent || built.originScopedFields.isEmpty)
        }
    }

    @Test(
        "row 13: a credential among the app-wide headers is rejected if no origins are declared",
        arguments: ["Authorization", "cookie", "Proxy-Authorization", "X-Api-Key"]
    )
    func appWideCredentialWithoutOriginsIsRejected(name: String) throws {
        var builder = builder
        builder.additionalHeaders = ["App": "1"]
        #expect(try builder.message("http://any/").headers.contains("App: 1"))
        builder.additionalHeaders[name] = "hunter2"
        let error = builder.refusal("http://any/")
        #expect(error?.kind == .badRequest)
        #expect(error?.message.contains(name) == true)
        #expect(error?.advice?.contains("origins") == true)
        #expect(error?.description.contains("hunter2") == false)
        builder.compatibility = .beagle1
        #expect(try builder.message("http://any/").headers.contains("\(name): hunter2"))
    }

    @Test("row 13: without declared origins, environment headers are sent everywhere, except credentials")
    func environmentCredentialWithoutOriginsIsRejected() throws {
        var builder = builder
        builder.environmentHeaders = ["X-Tenant": "1"]
        #expect(try builder.message("http://any/").headers.contains("X-Tenant: 1"))
        let built = try builder.build(Request(url: try #require(URL(string: "http://any/")), type: .fetchImage))
        #expect(built.originScopedFields.map(\.canonicalName) == ["x-tenant"])
        builder.environmentHeaders["Authorization"] = "hunter2"
        for compatibility in [HttpRequestBuilder.Compatibility.standard, .beagle1] {
            builder.compatibility = compatibility
            let error = builder.refusal("http://any/")
            #expect(error?.kind == .badRequest)
            #expect(error?.message.contains("Authorization") == true)
            #expect(error?.advice?.contains("base URL") == true)
            #expect(error?.description.contains("hunter2") == false)
        }
    }

    @Test("row 13: environment headers are sent to the environment's own origin and to declared ones")
    func environmentHeadersAreSentToOwnAndDeclaredOrigins() throws {
        for compatibility in [HttpRequestBuilder.Compatibility.standard, .beagle1] {
            var builder = HttpRequestBuilder(compatibility: compatibility)
            builder.baseURL = URL(string: "https://h")
            builder.origins = [Origin(scheme: "https", host: "a")]
            builder.additionalHeaders = ["App": "1", "x-both": "app"]
            builder.environmentHeaders = ["Authorization": "Bearer x", "X-Both": "environment"]
            let own = try builder.message("/").headers
            #expect(own.contains("Authorization: Bearer x"))
            #expect(!own.contains("App: 1"))
            let declared = try builder.message("https://a/").headers
            #expect(declared.contains("Authorization: Bearer x"))
            #expect(declared.contains("x-both: app"))
            let other = try builder.build(Request(url: try #require(URL(string: "https://b")), type: .fetchImage))
            #expect(other.head.headerFields[.authorization] == nil)
            #expect(other.originScopedFields.isEmpty)
            let scoped = try builder.build(Request(url: try #require(URL(string: "/")), type: .fetchImage))
            #expect(scoped.originScopedFields.contains(.authorization))
        }
    }
}
