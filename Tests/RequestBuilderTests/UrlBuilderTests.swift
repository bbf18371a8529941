import BeagleNetHTTP
import BeagleNetRequestBuilder
import Testing

struct UrlBuilderTests {
    private static let pathIsAppendedToTheBaseURLArguments: [(String?, String, String)] = [
        // Base, path, URL.
        ("https://h", "/a", "https://h/a"), ("https://h/", "/a", "https://h/a"),
        ("https://h/v1", "/a", "https://h/v1/a"),
        ("https://h/v1/", "/a", "https://h/v1/a"), ("https://h:8080", "/", "https://h:8080/"),
        ("https://h/v1", "//x/y", "https://h/v1//x/y"),
        ("https://h", "//evil.example/a", "https://h//evil.example/a"),
        ("https://h", "https://other/a?b#c", "https://other/a?b#c"), ("https://h", "www.x", "www.x"),
        ("https://h", "a/b", "a/b"), (nil, "/a?b=1", "/a?b=1"), (nil, "https://h", "https://h"), (nil, "a", "a"),
        ("https://h", "/a?b=1&c=2#d", "https://h/a?b=1&c=2#d"), ("https://h", "/a/../b", "https://h/a/../b"),
        ("https://[::1]:80/x", "/a", "https://[::1]:80/x/a"),
    ]

    @Test(
        "a path is appended to the base URL; other URLs are unchanged",
        arguments: Self.pathIsAppendedToTheBaseURLArguments
    )
    func pathIsAppendedToTheBaseURL(base: String?, path: String, expected: String) throws {
        let builder = UrlBuilder(baseUrl: try base.map { try #require(URL(string: $0)) })
        #expect(builder.build(path: path)?.absoluteString == expected)
        #expect(try builder.url(for: path).absoluteString == expected)
    }

    private static let onlyInvalidCharactersAreEncodedArguments: [(String, String)] = [
        ("/a b", "/a%20b"), ("/á?y=ç#ü", "/%C3%A1?y=%C3%A7#%C3%BC"), ("/a%20b c", "/a%20b%20c"),
        ("/100%", "/100%25"), ("/%zz%41", "/%25zz%41"), ("/%2fx", "/%2fx"),
        ("/a|b\\c\"<>^`{}", "/a%7Cb%5Cc%22%3C%3E%5E%60%7B%7D"),
        ("/-._~:@!$&'()*+,;=/", "/-._~:@!$&'()*+,;=/"), ("/p?-._~:/?@!$&'()*+,;=", "/p?-._~:/?@!$&'()*+,;="),
        ("/p?q=1 2", "/p?q=1%202"), ("/p?q=100%", "/p?q=100%25"), ("/p#a#b", "/p#a%23b"), ("/p?a?b", "/p?a?b"),
        ("/p?u=https://x.y/z?q", "/p?u=https://x.y/z?q"), ("/日本", "/%E6%97%A5%E6%9C%AC"), ("/😀", "/%F0%9F%98%80"),
    ]

    @Test(
        "row 42: only characters that a component cannot contain are encoded",
        arguments: Self.onlyInvalidCharactersAreEncodedArguments
    )
    func onlyInvalidCharactersAreEncoded(path: String, expected: String) throws {
        let builder = UrlBuilder(baseUrl: URL(string: "https://h"))
        #expect(builder.build(path: path)?.absoluteString == "https://h" + expected)
        #expect(UrlBuilder().build(path: path)?.absoluteString == expected)
        #expect(UrlBuilder().build(path: "http://x" + path)?.absoluteString == "http://x" + expected)
    }

    private static let baseURLKeepsItsQueryAndLosesItsFragmentArguments: [(String, String, String)] = [
        ("https://h/v?k=1", "/a", "https://h/v/a?k=1"), ("https://h/v/?k=1", "/a?b=2", "https://h/v/a?k=1&b=2"),
        ("https://h?k=1", "/a", "https://h/a?k=1"), ("https://h/v#f", "/a", "https://h/v/a"),
        ("https://h/v#f", "/a#g", "https://h/v/a#g"), ("https://h/?", "/a?b", "https://h/a?b"),
    ]

    @Test(
        "row 42: a base URL keeps its query and loses its fragment",
        arguments: Self.baseURLKeepsItsQueryAndLosesItsFragmentArguments
    )
    func baseURLKeepsItsQueryAndLosesItsFragment(base: String, path: String, expected: String) throws {
        #expect(UrlBuilder(baseUrl: URL(string: base)).build(path: path)?.absoluteString == expected)
    }

    @Test func encodingTwiceChangesNothing() throws {
        let builder = UrlBuilder(baseUrl: URL(string: "https://h"))
        for scalar in (0x20...0x2FF).compactMap(Unicode.Scalar.init(_:)) where scalar != "\u{7F}" {
            let once = try builder.url(for: "/\(scalar)?\(scalar)=%41#\(scalar)").absoluteString
            #expect(try builder.url(for: once).absoluteString == once)
        }
    }

    private static let unevaluatedExpressionIsRejectedArguments: [String] = [
        "/a/@{ctx.id}", "@{url}", "https://@{host}/a", "/a?b=@{c}", "/a/@%7Bctx%7D", "/\\\\@{a}", "/@@{a}",
        "/@{a[0][12].b-c}", "/@{ a }", "/@{sum(1, -2.5, 'x\\'}', if(a, b))}", "/@{now()}", "/@{'text'}", "/@{true}",
        "/@{1}",
    ]

    @Test(
        "row 43: an unevaluated expression is rejected",
        arguments: Self.unevaluatedExpressionIsRejectedArguments
    )
    func unevaluatedExpressionIsRejected(path: String) {
        let error = #expect(throws: NetworkError.self) { try UrlBuilder().url(for: path) }
        #expect(error?.kind == .badURL)
        #expect(error?.message.contains("@{…}") == true)
    }

    private static let textThatOnlyLooksLikeAnExpressionIsAcceptedArguments: [String] = [
        "/{a}", "/@a{b}", "/@{a", "/a@%7", "/@", "/@{}", "/@{[2]}", "/\\@{client}", "/%5C@%7Bclient%7D", "/@{a b}",
        "/@{a.}", "/@{a[b]}", "/@{a[0}", "/@{sum(a}", "/@{sum(,)}", "/@{'a}", "/@{-}", "/%40{a}", "/@{.a}",
        "/hi @{?x={}}",
    ]

    @Test(arguments: Self.textThatOnlyLooksLikeAnExpressionIsAcceptedArguments)
    func textThatOnlyLooksLikeAnExpressionIsAccepted(path: String) {
        #expect(UrlBuilder().build(path: path) != nil)
    }

    private static let invalidURLIsRejectedWithAReasonArguments: [(String, String)] = [
        ("", "empty"), ("/a\nb", "line break"), ("/a\r\nHost: x", "line break"), ("/\0", "control"),
        ("/a\u{7F}", "control"),
        ("\t/a", "control"), ("//host/a", "would be read as a host"), ("http://h:port/", "the port"),
        ("http://a b/", "invalid character"), ("http://a%20b/", "invalid character"),
        ("http://h /", "invalid character"),
        ("http://h\\/", "invalid character"), ("http://ﬁ.net/", "cannot be converted to ASCII"),
        ("http://a\u{200D}b/", "cannot be converted to ASCII"),
        ("a b:c", "the URL a b:c has no scheme"),
        ("127.0.0.1:8090/home", "the URL 127.0.0.1:8090/home has no scheme"),
        ("1.2.3.4:80/?token=hidden", "has no scheme"),
    ]

    @Test(arguments: Self.invalidURLIsRejectedWithAReasonArguments)
    func invalidURLIsRejectedWithAReason(path: String, reason: String) {
        let error = #expect(throws: NetworkError.self) { try UrlBuilder().url(for: path) }
        #expect(error?.kind == .badURL)
        #expect(error?.phase == .build)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.description.contains("hidden") == false)
        #expect(UrlBuilder().build(path: path) == nil)
    }

    private static let hostIsWrittenInItsASCIIFormArguments: [(String, String)] = [
        ("http://bücher.de/ü", "http://xn--bcher-kva.de/%C3%BC"),
        ("http://b%C3%BCcher.de", "http://xn--bcher-kva.de"),
        ("http://u:p@bücher.de:80/", "http://u:p@xn--bcher-kva.de:80/"), ("http://[::1]:1/", "http://[::1]:1/"),
        // The same number of bytes in UTF-8 and in ASCII.
        ("http://中中中:81/", "http://xn--fiqaa:81/"),
        ("HTTP://Host/", "HTTP://Host/"), ("file:///a b", "file:///a%20b"),
    ]

    @Test(arguments: Self.hostIsWrittenInItsASCIIFormArguments)
    func hostIsWrittenInItsASCIIForm(path: String, expected: String) throws {
        #expect(try UrlBuilder().url(for: path).absoluteString == expected)
    }
}
