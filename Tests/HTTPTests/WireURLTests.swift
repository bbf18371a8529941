import BeagleNetHTTP
import Foundation
import Testing

/// A reference and its URL, resolved against `http://h/from/a/b?c=d%2F`.
private struct Row: Sendable, CustomTestStringConvertible {
    let reference: String
    let url: String
    var testDescription: String { reference }

    init(_ reference: String, _ url: String) {
        self.reference = reference
        self.url = url
    }
}

struct WireURLTests {
    private let base = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/from/a/b?c=d%2F")

    /// Invalid characters are encoded, and escapes are kept (RFC 3986, 2.1 and 2.4).
    private static let encoded: [Row] = [
        Row("http://x/a?u=https%3A%2F%2Fb&s=openid email", "http://x/a?u=https%3A%2F%2Fb&s=openid%20email"),
        Row("http://x/a%20b|c", "http://x/a%20b%7Cc"),
        Row("http://x/?a=b|c&sig=%3D%3d", "http://x/?a=b%7Cc&sig=%3D%3d"),
        Row("http://x/s?d=100%&n=caf%C3%A9", "http://x/s?d=100%25&n=caf%C3%A9"),
        Row("http://x/%zz%41", "http://x/%25zz%41"), Row("http://x/caf%C3%A9/é", "http://x/caf%C3%A9/%C3%A9"),
        Row("http://x/a b", "http://x/a%20b"), Row("http://x/?a[]=%5B", "http://x/?a%5B%5D=%5B"),
        Row("http://x/\\%5C", "http://x/%5C%5C"), Row("http://x/e\u{301}%20", "http://x/e%CC%81%20"),
        Row("http://bücher.de/%20 ", "http://xn--bcher-kva.de/%20%20"),
        Row("http://b%C3%BCcher.de/", "http://xn--bcher-kva.de/"),
        Row("HTTP://x:/a", "HTTP://x/a"), Row("http://x:0080/a", "http://x:80/a"),
        Row("http://[::1]:81/%2f", "http://[::1]:81/%2f"),
        Row("http://x/a/../b", "http://x/a/../b"), Row("//x/%20 ", "//x/%20%20"), Row("a b%20", "a%20b%20"),
        Row("?a|%7C", "?a%7C%7C"), Row("/a#b|%7C#", "/a#b%7C%7C%23"), Row("mailto:a@b.c", "mailto:a@b.c"),
        Row("http://u%40:p|w@x/", "http://u%40:p%7Cw@x/"), Row("data:text/plain,a b%20", "data:text/plain,a%20b%20"),
    ]

    @Test(arguments: encoded)
    private func invalidCharactersAreEncodedAndEscapesKept(_ row: Row) throws {
        #expect(try URLReference(row.reference).encoded() == row.url)
        #expect(try URLReference(row.reference).url().absoluteString == row.url)
        #expect(try URLReference(row.url).encoded() == row.url, "encoding is not idempotent")
        let decoded = try TapeDecoder.decode([URL].self, from: JSONEncoder().encode([row.reference]))
        #expect(decoded.map(\.absoluteString) == [row.url])
    }

    @Test(arguments: encoded)
    private func redirectResolvesToTheEncodedURL(_ row: Row) throws {
        guard row.url.lowercased().hasPrefix("http:"), !row.url.contains("@") else { return }
        let url = try WireURL(URLReference(row.reference).resolved(against: base))
        let expected = try WireURL(row.url.replacing("/a/../b", with: "/b"))
        #expect(url == expected)
    }

    private static let referenceIsResolvedArguments: [Row] = [
        Row("", "http://h/from/a/b?c=d%2F"), Row("#f", "http://h/from/a/b?c=d%2F"),
        Row("?y", "http://h/from/a/b?y"),
        Row("?", "http://h/from/a/b?"), Row("g", "http://h/from/a/g"), Row("./g", "http://h/from/a/g"),
        Row("g/", "http://h/from/a/g/"), Row("/g", "http://h/g"), Row("//g", "http://g/"),
        Row("g?y#s", "http://h/from/a/g?y"),
        Row(";x", "http://h/from/a/;x"), Row(".", "http://h/from/a/"), Row("./", "http://h/from/a/"),
        Row("..", "http://h/from/"), Row("../g", "http://h/from/g"), Row("../..", "http://h/"),
        Row("../../../g", "http://h/g"),
        Row("/./g", "http://h/g"), Row("/../g", "http://h/g"), Row("g.", "http://h/from/a/g."),
        Row("..g", "http://h/from/a/..g"),
        Row("./g/.", "http://h/from/a/g/"), Row("g/../h", "http://h/from/a/h"),
        Row("g;x=1/../y", "http://h/from/a/y"),
        Row("g?y/../x", "http://h/from/a/g?y/../x"), Row("/x//y", "http://h/x//y"), Row("//x/../y", "http://x/y"),
        Row("1:2/a", "http://h/from/a/1:2/a"), Row("%2e%2e/g", "http://h/from/a/%2e%2e/g"),
        Row("https://x", "https://x/"),
        Row("/\u{301}", "http://h/%CC%81"), Row("é/%C3%A9", "http://h/from/a/%C3%A9/%C3%A9"),
    ]

    /// RFC 3986, 5.4.
    @Test(arguments: Self.referenceIsResolvedArguments)
    private func referenceIsResolved(_ row: Row) throws {
        let url = try WireURL(URLReference(row.reference).resolved(against: base))
        #expect("\(url.scheme)://\(url.authority)\(url.target)" == row.url)
    }

    private static let referenceWithoutAnHTTPHostIsRejectedArguments: [(String, NetworkError.Kind)] = [
        ("http:g", .badURL), ("http:///g", .badURL), ("http://", .badURL), ("///g", .badURL),
        ("http://u@h/", .badURL),
        ("http://a b/", .badURL), ("http://a%20b/", .badURL), ("http://h:99999/", .badURL),
        ("http://evil\\@h/", .badURL),
        ("http://ﬁ.de/", .badURL), ("ftp://h/", .unsupportedScheme), ("javascript:alert(1)", .unsupportedScheme),
    ]

    @Test(arguments: Self.referenceWithoutAnHTTPHostIsRejectedArguments)
    func referenceWithoutAnHTTPHostIsRejected(reference: String, kind: NetworkError.Kind) {
        let error = #expect(throws: NetworkError.self) {
            try WireURL(URLReference(reference).resolved(against: base))
        }
        #expect(error?.kind == kind)
    }

    private static let hostNameIsConvertedToASCIIArguments: [(String, String?)] = [
        ("example.com", "example.com"), ("EXAMPLE.com", "EXAMPLE.com"), ("bücher.de", "xn--bcher-kva.de"),
        ("BÜCHER.DE", "xn--bcher-kva.de"), ("bu\u{308}cher.de", "xn--bcher-kva.de"), ("faß.de", "xn--fa-hia.de"),
        ("ς.gr", "xn--3xa.gr"), ("ДОМ.рф", "xn--d1aqf.xn--p1ai"), ("한국.kr", "xn--3e0b707e.kr"),
        ("한국.kr".decomposedStringWithCanonicalMapping, "xn--3e0b707e.kr"), ("क्ष.in", "xn--11b2ezc.in"),
        ("例え。テスト", "xn--r8jz45g.xn--zckzah"), ("ＥＸ．com", "ex.com"), ("☃.net", "xn--n3h.net"),
        ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"), ("MajiでKoiする5秒前", "xn--majikoi5-783gue6qz075azm5e"),
        ("ü.", "xn--tda."), ("a\u{200D}b", nil), ("ﬁ.net", nil), ("Ⅷ.com", nil), ("\u{301}a.de", nil),
        ("xn--ä.de", nil),
        (String(repeating: "ü", count: 64), nil), ("a\u{3000}b", nil), ("\u{E000}", nil),
    ]

    /// RFC 5891 and RFC 3492.
    @Test(arguments: Self.hostNameIsConvertedToASCIIArguments)
    func hostNameIsConvertedToASCII(host: String, expected: String?) {
        #expect(HostName.ascii(host) == expected)
        if let expected {
            // Foundation, which this process links, converts hosts with its own tables.
            #expect(URL(string: "http://\(host)/")?.host(percentEncoded: false)?.lowercased() == expected.lowercased())
            #expect(Origin(scheme: "http", host: host).host == expected.lowercased())
        }
    }

    @Test func internationalOriginIsEqualInEveryForm() throws {
        let origin = Origin(scheme: "https", host: "bücher.de")
        for url in [
            "https://bücher.de", "https://BÜCHER.de:443/x", "https://b%C3%BCcher.de/", "https://xn--bcher-kva.de/",
        ] {
            #expect(Origin(try #require(URL(string: url))) == origin)
        }
        let head = HTTPRequest(method: .get, scheme: "https", authority: "bücher.de:443", path: "/")
        #expect(Origin(of: head) == origin)
        #expect(Set(["Bücher.de"]).allows(host: "xn--bcher-kva.de"))
        #expect(!Set(["bucher.de"]).allows(host: "xn--bcher-kva.de"))
    }

    @Test func internationalHostIsStoredInASCIIForm() {
        let head = HTTPRequest(method: .get, scheme: "https", authority: "bücher.de", path: "/")
        #expect(HSTSStore([HSTSStore.Host(name: "Bücher.de.")]).requiresHTTPS("xn--bcher-kva.de"))
        let jar = CookieJar()
        jar.set(Cookie(name: "a", value: "1", domain: "Bücher.de"))
        jar.store(from: [.setCookie: "b=2; Domain=bücher.de"], of: head)
        #expect(jar.field(for: head, own: nil) == "a=1; b=2")
    }
}
