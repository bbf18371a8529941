import BeagleNetHTTP
import Testing

struct OriginTests {
    private static let originConsistsOfSchemeHostAndPortArguments: [(String, String, Bool)] = [
        ("https://a.com", "https://A.com:443/x?y#z", true), ("http://a.com", "http://a.com:80", true),
        ("https://a.com", "http://a.com", false), ("https://a.com", "https://a.com:8443", false),
        ("https://a.com", "https://b.a.com", false), ("http://[::1]/", "http://[::1]:80/", true),
    ]

    /// RFC 6454, 4.
    @Test(arguments: Self.originConsistsOfSchemeHostAndPortArguments)
    func originConsistsOfSchemeHostAndPort(one: String, other: String, areSame: Bool) throws {
        let first = try #require(URL(string: one).flatMap(Origin.init(_:)))
        let second = try #require(URL(string: other).flatMap(Origin.init(_:)))
        #expect((first == second) == areSame)
    }

    @Test(arguments: ["/a", "www.x", "file:///etc", "mailto:a@b.c"])
    func urlWithoutAHostHasNoOrigin(text: String) throws {
        #expect(Origin(try #require(URL(string: text))) == nil)
    }

    @Test func addressesKeepTheirBrackets() throws {
        #expect(Origin(try #require(URL(string: "http://[::1]:8080/")))?.host == "[::1]")
    }

    @Test(arguments: [
        ("https://a.example", "https://a.example"), ("HTTPS://A.example:443/path?query", "https://a.example"),
        ("http://a.example:443", "http://a.example:443"), ("http://[::1]:80/", "http://[::1]"),
    ])
    func descriptionIsThatOfAURL(url: String, description: String) throws {
        let origin = try #require(URL(string: url).flatMap(Origin.init(_:)))
        #expect("\(origin)" == description)
    }

    private static let originOfARequestIsReadArguments: [(String, String, String, Int)] = [
        ("http", "A.com", "a.com", 80), ("https", "a.com", "a.com", 443), ("http", "a.com:8080", "a.com", 8080),
        ("http", "[::1]", "[::1]", 80), ("https", "[::1]:1", "[::1]", 1), ("http", "a.com:", "a.com", 80),
    ]

    @Test(arguments: Self.originOfARequestIsReadArguments)
    func originOfARequestIsRead(scheme: String, authority: String, host: String, port: Int) {
        let origin = Origin(of: HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/"))
        #expect(origin == Origin(scheme: scheme, host: host, port: port))
    }
}
