import BeagleNetHTTP
import BeagleNetRequestBuilder
import Testing

struct HeaderTests {
    private let builder = HttpRequestBuilder()
    private let defaults = ["User-Agent: BeagleNet/\(beagleNetVersion)"]

    private static let headersFollowTheRequestTypeArguments: [(Request.RequestType, String, String?)] = [
        (.fetchComponent, "application/json", nil), (.form(.get, ["a": "b"]), "application/json", nil),
        (.form(.delete), "application/json", nil), (.form(.post), "application/json", "application/json"),
        (.form(.put), "application/json", "application/json"),
        (.fetchImage, "image/avif,image/webp,image/png,image/jpeg,*/*;q=0.5", nil),
        (.raw("GET"), "*/*", nil), (.raw("POST", body: 1), "*/*", "application/json"),
    ]

    @Test(
        "row 12: Accept names the types that the app can read; Content-Type is sent only with a body",
        arguments: Self.headersFollowTheRequestTypeArguments
    )
    func headersFollowTheRequestType(type: Request.RequestType, accept: String, contentType: String?) throws {
        let expected = ["Accept: \(accept)"] + defaults + [contentType.map { "Content-Type: \($0)" }].compactMap { $0 }
        #expect(try builder.message("http://h/", type).headers == expected)
        var withType = builder
        withType.additionalHeaders = ["Content-Type": "a/b"]
        let headers = try withType.message("http://h/", type).headers
        #expect(headers.contains("Content-Type: a/b") == (contentType != nil))
    }

    @Test func appChoosesPlatformAndUserAgent() throws {
        var builder = builder
        builder.baseURL = URL(string: "http://h")
        builder.platform = "WEB"
        builder.userAgent = "App/1"
        #expect(
            try builder.message("http://h/").headers == [
                "Accept: application/json", "beagle-platform: WEB", "User-Agent: App/1",
            ]
        )
        builder.platform = nil
        builder.userAgent = nil
        #expect(try builder.message("http://h/").headers == ["Accept: application/json"])
        builder.platform = "A\r\nB"
        #expect(builder.refusal("http://h/")?.kind == .badRequest)
    }

    @Test func platformIsSentToDeclaredOriginsOnly() throws {
        var builder = HttpRequestBuilder()
        #if canImport(Darwin)
            #expect(builder.platform == "IOS")
        #else
            #expect(builder.platform == nil)
        #endif
        #expect(HttpRequestBuilder(compatibility: .beagle1).platform == "IOS")
        builder.platform = "IOS"
        let name = try #require(HTTPField.Name("beagle-platform"))
        func isSent(to url: String) throws -> Bool {
            let message = try builder.build(Request(url: try #require(URL(string: url)), type: .fetchComponent))
            let isSent = message.head.headerFields.contains(name)
            // After a redirect to another origin, the field is dropped.
            #expect(message.originScopedFields.contains(name) == isSent)
            return isSent
        }
        #expect(try !isSent(to: "http://h/"))
        builder.baseURL = URL(string: "http://h")
        #expect(try isSent(to: "http://h/"))
        #expect(try !isSent(to: "http://other/"))
        builder.origins = [Origin(scheme: "http", host: "other", port: 80)]
        #expect(try isSent(to: "http://h/"))
        #expect(try isSent(to: "http://other/"))
        #expect(try !isSent(to: "http://third/"))
    }

    @Test("row 8: raw requests carry the same headers as all others")
    func rawRequestsHaveTheSameHeadersAsOthers() throws {
        var builder = builder
        builder.additionalHeaders = ["App": "1"]
        let data = HttpAdditionalData(headers: ["Screen": "2"])
        let headers = try builder.message("http://h/", .raw("GET", headers: ["Own": "3"]), data).headers
        #expect(headers == ["Accept: */*"] + defaults + ["Screen: 2", "Own: 3", "App: 1"])
    }

    @Test("row 11: a later header replaces an earlier one, ignoring case")
    func laterHeaderReplacesAnEarlierOneIgnoringCase() throws {
        var builder = builder
        let data = HttpAdditionalData(headers: ["ACCEPT": "screen", "x": "screen"])
        func value(_ name: String) throws -> [String] {
            try builder.message("http://h/", .raw("POST", headers: ["X": "own", "y": "own"], body: 1), data).headers
                .filter { $0.lowercased().hasPrefix(name + ":") }
        }
        #expect(try value("accept") == ["ACCEPT: screen"])
        #expect(try value("x") == ["X: own"])
        builder.additionalHeaders = ["content-type": "text/plain", "Y": "app"]
        #expect(try value("content-type") == ["content-type: text/plain"])
        #expect(try value("y") == ["Y: app"])
        // The spelling is replaced too, even if the value is the same.
        builder.additionalHeaders = ["Beagle-Platform": "IOS", "CONTENT-TYPE": "application/json"]
        #expect(try value("beagle-platform") == ["Beagle-Platform: IOS"])
        #expect(try value("content-type") == ["CONTENT-TYPE: application/json"])
    }

    @Test func dictionaryHeadersAreSortedByName() throws {
        let headers = Dictionary(uniqueKeysWithValues: (10..<40).map { ("k\($0)", "v") })
        let message = try builder.message("http://h/", .raw("GET", headers: headers))
        #expect(message.headers.suffix(30) == (10..<40).map { "k\($0): v" }[...])
    }

    private struct Tagged: RemoteScreenAdditionalData {
        var headers = ["Tag": "1"]
    }

    private struct Posted: RemoteScreenAdditionalData {
        var headers = ["Tag": "1"]
        var httpData: HttpAdditionalData.HttpData? { .init(method: .POST, body: Data("{}".utf8)) }
    }

    @Test("row 15: any type of additional data is sent")
    func anyAdditionalDataIsSent() throws {
        let tagged = try builder.message("http://h/", .fetchComponent, Tagged())
        #expect(tagged.headers.contains("Tag: 1"))
        #expect(tagged.method == "GET")
        #expect(tagged.body == nil)
        let posted = try builder.message("http://h/", .fetchComponent, Posted())
        #expect(posted.headers.contains("Tag: 1"))
        #expect(posted.method == "POST")
        #expect(posted.body == "{}")
    }

    private static let headerNameMustBeATokenArguments: [String] = [
        "", " ", "a b", "a:b", ":path", "a\r\nb", "é", "a\0", "(a)", "X-Key: secret", "X-Key secret",
    ]

    @Test(
        "rows 41 and 47: header names that are not tokens are rejected",
        arguments: Self.headerNameMustBeATokenArguments
    )
    func headerNameMustBeAToken(name: String) {
        for error in refusals(name, "secret") {
            #expect(error?.kind == .badRequest)
            #expect(error?.description.contains("secret") == false)
        }
    }

    private static let valueThatBreaksTheMessageIsRejectedArguments: [String] = [
        "secret\r\nX: y", "secret\n", "secret\r", "se\0cret", " secret", "secret ", "\tsecret", "secret\u{7F}",
        "secret\u{1}",
    ]

    @Test(
        "row 47: values that would break the message are rejected and not shown",
        arguments: Self.valueThatBreaksTheMessageIsRejectedArguments
    )
    func valueThatBreaksTheMessageIsRejected(value: String) {
        for error in refusals("X-Name", value) {
            #expect(error?.kind == .badRequest)
            #expect(error?.message.contains("X-Name") == true)
            #expect(error?.description.contains("secret") == false)
        }
    }

    @Test("row 43: values with an expression are rejected", arguments: ["@{token}", "Bearer @{ctx.token}"])
    func valueWithAnExpressionIsRejected(value: String) {
        for error in refusals("X-Name", value) { #expect(error?.message.contains("@{…}") == true) }
    }

    @Test("inner spaces, tabs, non-ASCII text and empty values are accepted", arguments: ["a b", "a\tb", "é", ""])
    func valueWithSpacesOrNonASCIITextIsAccepted(value: String) throws {
        let message = try builder.message("http://h/", .raw("GET", headers: ["X": value]))
        #expect(message.headers.last == "X: \(value)")
    }

    @Test(
        arguments: [
            "Content-Length", "transfer-encoding", "Trailer", "Connection", "Keep-Alive", "Proxy-Connection", "Upgrade",
            "TE",
            "HTTP2-Settings", "HOST",
        ]
    )
    func framingAndConnectionHeadersAreRejected(name: String) {
        for error in refusals(name, "1") {
            #expect(error?.message.contains(name) == true)
            #expect(error?.advice?.contains("remove it") == true)
        }
    }

    /// The errors for a header set in each place that accepts headers.
    private func refusals(_ name: String, _ value: String) -> [NetworkError?] {
        var appWide = builder
        appWide.additionalHeaders = [name: value]
        var beagle1 = HttpRequestBuilder(compatibility: .beagle1)
        beagle1.additionalHeaders = [name: value]
        let data = HttpAdditionalData(headers: [name: value])
        return [
            appWide.refusal("http://h/"), beagle1.refusal("http://h/"), builder.refusal("http://h/", .fetchImage, data),
            builder.refusal("http://h/", .raw("GET", headers: [name: value])),
        ]
    }
}
