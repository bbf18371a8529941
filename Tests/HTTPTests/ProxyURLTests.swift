import BeagleNetHTTP
import Testing

struct ProxyURLTests {
    struct Row: Sendable {
        let url: String
        let scheme: Proxy.Scheme
        let host: String
        let port: Int
        var user: String?
        var password: String?
    }

    private static let proxyURLIsParsedArguments: [Row] = [
        Row(url: "proxy", scheme: .http, host: "proxy", port: 1080),
        Row(url: "proxy:3128", scheme: .http, host: "proxy", port: 3128),
        Row(url: "HTTP://proxy:3128/", scheme: .http, host: "proxy", port: 3128),
        Row(url: "https://proxy", scheme: .https, host: "proxy", port: 443),
        Row(url: "socks5h://[::1]:9050", scheme: .socks5h, host: "[::1]", port: 9050),
        Row(url: "socks4a://me@proxy", scheme: .socks4a, host: "proxy", port: 1080, user: "me", password: ""),
        Row(
            url: "http://me:100%@b%C3%BCcher.de",
            scheme: .http,
            host: "xn--bcher-kva.de",
            port: 1080,
            user: "me",
            password: "100%"
        ),
        Row(url: "bücher.de:1", scheme: .http, host: "xn--bcher-kva.de", port: 1),
        Row(url: "http://a@b:c:d@proxy", scheme: .http, host: "proxy", port: 1080, user: "a@b", password: "c:d"),
        Row(url: "http://me:p%40ss%3A@proxy:80", scheme: .http, host: "proxy", port: 80, user: "me", password: "p@ss:"),
    ]

    @Test(arguments: Self.proxyURLIsParsedArguments)
    func proxyURLIsParsed(_ row: Row) throws {
        let proxy = try Proxy(url: row.url)
        #expect((proxy.scheme, proxy.host, proxy.port) == (row.scheme, row.host, row.port))
        #expect(proxy.credentials == row.user.map { Credentials(user: $0, password: row.password ?? "") })
    }

    @Test(arguments: [
        "", "://", "ftp://proxy", "http://", "http://me:s3same@", "http://a/path", "a?q", "a#f", "a:port",
        "http://me:s3same@a b",
        "http://me:s3same@a:99999", "http://a%20b",
    ])
    func invalidProxyURLIsAnErrorWithoutItsSecrets(_ url: String) {
        let error = #expect(throws: NetworkError.self) { try Proxy(url: url) }
        #expect(error?.kind == .badConfiguration)
        #expect(error?.message.hasPrefix("TransferOptions.proxy: ") == true)
        #expect(error.map { "\($0)".contains("s3same") } == false)
    }
}
