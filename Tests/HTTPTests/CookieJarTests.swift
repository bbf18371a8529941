import Foundation
import Testing

@testable import BeagleNetHTTP

struct CookieJarTests {
    /// A clock that a test advances.
    final class Clock: Sendable {
        private let time = Lock(Date(timeIntervalSince1970: 1_700_000_000))

        var now: Date { time.withLock { $0 } }

        func pass(_ seconds: TimeInterval) {
            time.withLock { $0 = $0.addingTimeInterval(seconds) }
        }
    }

    let clock = Clock()
    let jar: CookieJar

    init() {
        jar = CookieJar { [clock] in clock.now }
    }

    private func head(_ url: String) throws -> HTTPRequest {
        HTTPRequest(url: try #require(URL(string: url)))
    }

    private func set(_ text: String..., from url: String = "https://www.example.com/a/b") throws {
        var fields = HTTPFields()
        for text in text { fields.append(HTTPField(name: .setCookie, value: text)) }
        jar.store(from: fields, of: try head(url))
    }

    private func field(_ url: String, own: String? = nil) throws -> String? {
        jar.field(for: try head(url), own: own)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let from: String
        let text: String
        let to: String
        let isSent: Bool
        var testDescription: String { "\(text) of \(from) to \(to)" }

        init(_ from: String, _ text: String, _ to: String, _ isSent: Bool) {
            (self.from, self.text, self.to, self.isSent) = (from, text, to, isSent)
        }
    }

    static let rows: [Row] = [
        // Domain (5.1.3)
        .init("https://a.example.com/", "n=v", "https://a.example.com/", true),
        .init("https://a.example.com/", "n=v", "https://b.a.example.com/", false),
        .init("https://a.example.com/", "n=v", "https://example.com/", false),
        .init("https://a.example.com/", "n=v; Domain=example.com", "https://b.example.com/", true),
        .init("https://a.example.com/", "n=v; Domain=.EXAMPLE.com", "https://example.com/", true),
        .init("https://a.example.com/", "n=v; Domain=example.com", "https://badexample.com/", false),
        .init("https://a.example.com/", "n=v; Domain=b.example.com", "https://b.example.com/", false),
        .init("https://a.example.com/", "n=v; Domain=b.a.example.com", "https://a.example.com/", false),
        .init("https://example.com/", "n=v; Domain=example.com", "https://a.b.example.com/", true),
        .init("https://A.Example.com/", "n=v", "https://a.example.COM/", true),
        .init("https://127.0.0.1/", "n=v; Domain=0.0.1", "https://127.0.0.1/", false),
        .init("https://127.0.0.1/", "n=v; Domain=127.0.0.1", "https://127.0.0.1/", true),
        .init("https://[::1]/", "n=v", "https://[::1]:8443/", true),
        // Public suffixes (5.7, step 9)
        .init("https://a.co.uk/", "n=v; Domain=co.uk", "https://a.co.uk/", false),
        .init("https://a.github.io/", "n=v; Domain=github.io", "https://b.github.io/", false),
        .init("https://a.com/", "n=v; Domain=com", "https://a.com/", false),
        .init("https://github.io/", "n=v; Domain=github.io", "https://github.io/", true),
        .init("https://github.io/", "n=v; Domain=github.io", "https://a.github.io/", false),
        .init("https://localhost/", "n=v; Domain=localhost", "https://localhost/", true),
        // A trailing root dot doesn't change the public suffix.
        .init("https://a.co.uk./", "n=v; Domain=co.uk.", "https://a.co.uk./", false),
        .init("https://a.co.uk../", "n=v; Domain=co.uk..", "https://a.co.uk../", false),
        .init("https://github.io./", "n=v; Domain=github.io.", "https://github.io./", true),
        .init("https://github.io./", "n=v; Domain=github.io.", "https://a.github.io./", false),
        .init("https://a.example.com./", "n=v; Domain=example.com.", "https://b.example.com./", true),
        // Path (5.1.4)
        .init("https://h.org/a/b", "n=v", "https://h.org/a", true),
        .init("https://h.org/a/b", "n=v", "https://h.org/a/c?q", true),
        .init("https://h.org/a/b", "n=v", "https://h.org/ab", false),
        .init("https://h.org/a/b", "n=v", "https://h.org/", false),
        .init("https://h.org/a/b/", "n=v", "https://h.org/a/b", true),
        .init("https://h.org/a?x=/y/z", "n=v", "https://h.org/b", true),
        .init("https://h.org/", "n=v; Path=/x/", "https://h.org/x", false),
        .init("https://h.org/", "n=v; Path=/x/", "https://h.org/x/y", true),
        .init("https://h.org/a/b", "n=v; Path=x", "https://h.org/a/c", true),
        // Secure (5.7, steps 8 and 17)
        .init("https://h.org/", "n=v; Secure", "http://h.org/", false),
        .init("http://h.org/", "n=v; Secure", "https://h.org/", false),
        .init("http://h.org/", "n=v", "https://h.org/", true),
        .init("https://h.org/", "n=v; SameSite=None", "https://h.org/", true),
        .init("https://h.org/", "n=v; SameSite=None; Secure", "https://h.org/", true),
        // Prefixes (4.1.3)
        .init("https://h.org/", "__Secure-n=v", "https://h.org/", false),
        .init("https://h.org/", "__Secure-n=v; Secure", "https://h.org/", true),
        .init("https://h.org/", "__HOST-n=v; Secure", "https://h.org/", false),
        .init("https://h.org/", "__Host-n=v; Secure; Path=/", "https://h.org/", true),
        .init("https://h.org/", "__Host-n=v; Secure; Path=/x", "https://h.org/x", false),
        .init("https://h.org/", "__Host-n=v; Secure; Path=/; Domain=h.org", "https://h.org/", false),
        .init("https://h.org/", "=__Secure-n=v; Secure", "https://h.org/", false),
        // A combining mark doesn't hide a prefix.
        .init("https://h.org/", "__Secure-\u{301}n=v", "https://h.org/", false),
        .init("https://h.org/", "__Host-\u{301}n=v", "https://h.org/", false),
        // Time (5.5)
        .init("https://h.org/", "n=v; Max-Age=1", "https://h.org/", true),
        .init("https://h.org/", "n=v; Max-Age=0", "https://h.org/", false),
        .init("https://h.org/", "n=v; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://h.org/", false),
        .init("https://h.org/", "n=v; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=9", "https://h.org/", true),
    ]

    @Test(arguments: rows) func cookieIsSentOnlyToItsDomainAndPath(_ row: Row) throws {
        try set(row.text, from: row.from)
        #expect(try (field(row.to) != nil) == row.isSent)
    }

    @Test func cookieIsHostOnlyWithoutAPublicSuffixList() throws {
        let jar = CookieJar(suffixes: nil) { [clock] in clock.now }
        jar.store(from: [.setCookie: "n=v; Domain=example.com"], of: try head("https://a.example.com/"))
        #expect(jar.field(for: try head("https://a.example.com/"), own: nil) == "n=v")
        #expect(jar.field(for: try head("https://b.example.com/"), own: nil) == nil)
    }

    @Test func cookiesAreSortedByPathLengthAndAge() throws {
        try set("a=1; Path=/", "b=2; Path=/x", "c=3; Path=/", "d=4; Path=/x")
        #expect(try field("https://www.example.com/x") == "b=2; d=4; a=1; c=3")
        try set("a=5; Path=/")
        #expect(try field("https://www.example.com/") == "a=5; c=3", "a cookie keeps its age when its value changes")
    }

    @Test func cookieFieldOfTheRequestComesFirst() throws {
        try set("a=1; Path=/", "b=2; Path=/")
        #expect(try field("https://www.example.com/", own: "b=own; =; x") == "b=own; =; x; a=1")
        #expect(try field("https://www.example.com/", own: "") == "a=1; b=2")
        #expect(try field("https://elsewhere.org/", own: "b=own") == "b=own")
    }

    @Test func cookieExpires() throws {
        try set("a=1; Max-Age=10", "b=2; Max-Age=99999999999")
        clock.pass(9.5)
        #expect(try field("https://www.example.com/a") == "a=1; b=2")
        clock.pass(0.5)
        #expect(try field("https://www.example.com/a") == "b=2")
        clock.pass(400 * 86_400)
        #expect(jar.cookies.isEmpty, "no cookie lives longer than 400 days")
    }

    @Test func cookieIsRemovedByTheServerOrTheApp() throws {
        try set("a=1", "b=2")
        try set("a=; Max-Age=0")
        #expect(try field("https://www.example.com/a") == "b=2")
        jar.removeAll { $0.name == "b" }
        #expect(jar.cookies.isEmpty)
    }

    /// 5.7, step 17.
    @Test func insecureCookieDoesNotShadowASecureOne() throws {
        try set("a=1; Secure; Path=/login; Domain=example.com")
        try set("a=2; Path=/login", from: "http://www.example.com/")
        try set("a=2; Path=/login/x; Domain=example.com", from: "http://example.com/")
        #expect(jar.cookies.map(\.value) == ["1"])
        try set("a=2; Path=/", from: "http://www.example.com/")
        #expect(jar.cookies.count == 2)
    }

    @Test func expiredSecureCookieDoesNotBlockOthers() throws {
        try set("a=1; Secure; Path=/; Max-Age=10")
        clock.pass(10)
        try set("a=2; Path=/; Domain=example.com", from: "http://www.example.com/")
        #expect(jar.cookies.map(\.value) == ["2"])
    }

    @Test func jarKeepsAtMost180CookiesOfAHost() throws {
        for number in 1...180 { try set("n\(number)=v") }
        _ = try field("https://other.org/")
        try set("last=v")
        #expect(jar.cookies.count == 180)
        #expect(!jar.cookies.contains { $0.name == "n1" })
        #expect(jar.cookies.contains { $0.name == "last" })
    }

    @Test func jarKeepsAtMost3000Cookies() throws {
        for number in 1...3_001 { try set("n=v", from: "https://h\(number).org/") }
        #expect(jar.cookies.count == 3_000)
        #expect(!jar.cookies.contains { $0.domain == "h1.org" })
    }

    @Test func cookieFieldIsLimitedInLength() throws {
        for number in 1...10 { try set("n\(number)=" + String(repeating: "v", count: 1_000)) }
        let sent = try #require(try field("https://www.example.com/a"))
        #expect(sent.utf8.count <= CookieJar.fieldLimit)
        #expect(sent.utf8.count > 7_000)
    }

    private func take(_ lines: [[UInt8]], from url: String = "https://www.example.com/") throws {
        let block = lines.flatMap { Array("Set-Cookie: ".utf8) + $0 + Array("\r\n".utf8) }
        let head = try RawHead(parsing: Array("HTTP/1.1 200 OK\r\n".utf8) + block + Array("\r\n".utf8))
        jar.store(from: head, of: try self.head(url))
    }

    private static let cookieWithAControlCharacterIsRejectedArguments: [String] = [
        "a=b\u{1}", "a\u{7F}=b", "a=b; Path=/\u{1F}", "a=b; Secure\u{8}", "a=b\r; Secure", "\u{1}a=b",
    ]

    /// Uses raw heads, because a field replaces control characters with spaces.
    @Test(arguments: Self.cookieWithAControlCharacterIsRejectedArguments)
    func cookieWithAControlCharacterIsRejected(_ text: String) throws {
        try take([Array(text.utf8), Array("good=1".utf8)])
        #expect(jar.cookies.map(\.name) == ["good"])
    }

    @Test func bytesThatAreNotUTF8ArePreserved() throws {
        try take([Array("a=caf".utf8) + [0xE9], Array("b".utf8) + [0xFC] + Array("=1; Path=/".utf8), Array("c=é".utf8)])
        let sent = Array("a=caf".utf8) + [0xE9] + Array("; b".utf8) + [0xFC] + Array("=1; c=é".utf8)
        #expect(try field("https://www.example.com/")?.opaqueBytes == sent)
        try withPath { path in
            try jar.save(to: path)
            let written = try Data(contentsOf: URL(filePath: path))
            #expect(written.firstRange(of: Data("\ta\tcaf".utf8) + [0xE9, 0x0A]) != nil)
            let loaded = try CookieJar(contentsOf: path) { [clock] in clock.now }
            #expect(Set(loaded.cookies) == Set(jar.cookies))
        }
        // Names that differ in such a byte are different.
        try take([
            Array("b".utf8) + [0xFD] + Array("=2; Path=/".utf8), Array("b".utf8) + [0xFC] + Array("=3; Path=/".utf8),
        ])
        #expect(jar.cookies.map(\.value).sorted() == ["2", "3", "caf\u{10FFE9}", "é"])
    }

    @Test func descriptionDoesNotContainTheValue() throws {
        try set("a=hunter2")
        let cookie = try #require(jar.cookies.first)
        #expect(!"\(cookie) \(String(reflecting: cookie)) \(jar.cookies) \(jar)".contains("hunter2"))
    }

    // MARK: - Files

    private func withPath(_ body: (String) throws -> Void) throws {
        let path = "/tmp/beaglenet-cookies-\(UInt32.random(in: .min ... .max))"
        defer { _ = remove(path) }
        try body(path)
    }

    @Test func jarIsSavedAndLoaded() throws {
        try set("a=1; HttpOnly; Secure; Path=/x", "b=; Domain=example.com; Max-Age=60", "c=ü=; Path=/")
        try withPath { path in
            try jar.save(to: path)
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let loaded = try CookieJar(contentsOf: path) { [clock] in clock.now }
            #expect(Set(loaded.cookies) == Set(jar.cookies))
            try jar.save(to: path, keepsSessions: false)
            let lasting = try CookieJar(contentsOf: path) { [clock] in clock.now }
            #expect(lasting.cookies.map(\.name) == ["b"])
        }
    }

    @Test func fileIsWrittenInCurlsFormat() throws {
        try set("a=1; HttpOnly; Secure; Path=/x", "b=2; Domain=example.com; Max-Age=60; Path=/")
        try withPath { path in
            try jar.save(to: path)
            #expect(
                try PrivateFile(path: path).lines().dropFirst(3).map(String.init) == [
                    "#HttpOnly_www.example.com\tFALSE\t/x\tTRUE\t0\ta\t1",
                    ".example.com\tTRUE\t/\tFALSE\t1700000060\tb\t2", "",
                ]
            )
        }
    }

    @Test(arguments: ["253402300800", "9223372036854774784", "9223372036854775807"])
    func distantExpirationIsLoadedAndSaved(_ seconds: String) throws {
        try withPath { path in
            try PrivateFile(path: path).write("h.org\tFALSE\t/\tFALSE\t\(seconds)\ta\tb\n")
            let jar = try CookieJar(contentsOf: path) { [clock] in clock.now }
            try jar.save(to: path, keepsSessions: false)
            let loaded = try CookieJar(contentsOf: path) { [clock] in clock.now }
            #expect(loaded.cookies.map(\.name) == ["a"])
            #expect(loaded.cookies == jar.cookies)
        }
    }

    private static let unrepresentableExpirationIsSavedArguments: [Double] = [
        1e19, Double.greatestFiniteMagnitude, .infinity, -1e19, -.infinity, .nan,
    ]

    @Test(arguments: Self.unrepresentableExpirationIsSavedArguments)
    func unrepresentableExpirationIsSaved(_ seconds: Double) throws {
        jar.set(Cookie(name: "a", value: "b", domain: "h.org", expires: Date(timeIntervalSince1970: seconds)))
        try withPath { path in
            try jar.save(to: path, keepsSessions: false)
            let loaded = try CookieJar(contentsOf: path) { [clock] in clock.now }
            #expect(loaded.cookies.map { $0.expires ?? .now > .distantFuture } == (seconds > 0 ? [true] : []))
        }
    }

    private static let errorNamesTheInvalidLineArguments: [String] = [
        "nonsense", "h.org\tFALSE\t/\tFALSE\tsoon\ta\tb", "h.org\tFALSE\tx\tFALSE\t0\ta\tb",
        "\tFALSE\t/\tFALSE\t0\ta\tb",
        "h.org\tFALSE\t/\tFALSE\t0", "h.org\tFALSE\t/\tFALSE\t0\ta\tb\tc", "h.org\tFALSE\t/\tFALSE\t0\ta\tb\u{0}c",
    ]

    @Test(arguments: Self.errorNamesTheInvalidLineArguments)
    func errorNamesTheInvalidLine(_ line: String) throws {
        try withPath { path in
            try PrivateFile(path: path).write("# head\r\n\r\n\r\n\(line)\n")
            let error = #expect(throws: NetworkError.self) { try CookieJar(contentsOf: path) }
            #expect(error?.kind == .file)
            #expect(error?.message == "line 4 of \(path) is not a valid cookie")
        }
    }

    @Test func invalidLineIsSkipped() throws {
        try withPath { path in
            try PrivateFile(path: path).write(
                "nonsense\nh.org\tFALSE\t/\tFALSE\t0\ta\tb\n\nh.org\tFALSE\tx\tFALSE\t0\tc\td\n"
            )
            var skipped: [NetworkError] = []
            let jar = try CookieJar(contentsOf: path, onSkippedLine: { skipped.append($0) })
            #expect(jar.cookies.map(\.name) == ["a"])
            #expect(skipped.map(\.message) == [1, 4].map { "line \($0) of \(path) is not a valid cookie" })
            #expect(skipped.allSatisfy { $0.kind == .file && $0.advice?.contains("tabs") == true })
        }
    }

    private static let savedFileWithoutInvalidCookiesIsLoadedArguments: [Cookie] = [
        Cookie(name: "a\tb", value: "c", domain: "h.org"), Cookie(name: "a", value: "b\tc", domain: "h.org"),
        Cookie(name: "a", value: "b\nc", domain: "h.org"), Cookie(name: "a", value: "b", domain: "h.org", path: "/\tx"),
        Cookie(name: "a", value: "b", domain: "h.org", path: "x"), Cookie(name: "a", value: "b", domain: ""),
        Cookie(name: "a", value: "b", domain: "#h.org"), Cookie(name: "a", value: " b", domain: "h.org"),
        Cookie(name: "a", value: "b", domain: "h.org", path: "/\u{0}"),
    ]

    /// Cookies of the app may have invalid parts.
    @Test(arguments: Self.savedFileWithoutInvalidCookiesIsLoadedArguments)
    func savedFileWithoutInvalidCookiesIsLoaded(_ odd: Cookie) throws {
        jar.set(odd)
        jar.set(Cookie(name: "good", value: "1", domain: "h.org"))
        try withPath { path in
            try jar.save(to: path)
            var skipped = 0
            let loaded = try CookieJar(
                contentsOf: path,
                now: { [clock] in clock.now },
                onSkippedLine: { _ in skipped += 1 }
            )
            #expect(loaded.cookies.map(\.name) == ["good"])
            #expect(skipped == 0)
        }
    }

    @Test func errorNamesTheMissingFile() {
        let error = #expect(throws: NetworkError.self) { try CookieJar(contentsOf: "/nonexistent/jar") }
        #expect(error?.message.contains("/nonexistent/jar") == true)
        let failed = #expect(throws: NetworkError.self) { try jar.save(to: "/nonexistent/jar") }
        #expect(failed?.message.contains("/nonexistent: No such file") == true)
    }
}
