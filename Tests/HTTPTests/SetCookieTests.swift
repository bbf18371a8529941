import Testing

@testable import BeagleNetHTTP

struct SetCookieTests {
    private func cookie(_ name: String, _ value: String, _ change: (inout SetCookie) -> Void = { _ in }) -> SetCookie? {
        guard var cookie = SetCookie("x=y") else { return nil }
        cookie.name = name
        cookie.value = value
        change(&cookie)
        return cookie
    }

    private static let pairIsParsedArguments: [(String, String, String)] = [
        ("id=1", "id", "1"), ("id=", "id", ""), ("=1", "", "1"), ("1", "", "1"), ("  id \t=\t 1  ", "id", "1"),
        ("a=b=c", "a", "b=c"), ("id=\"1\"", "id", "\"1\""), ("id=1;", "id", "1"), ("id=1; ; ;", "id", "1"),
        ("id=a,b", "id", "a,b"), ("é=ü", "é", "ü"), ("id=1; unknown=2", "id", "1"),
    ]

    @Test(arguments: Self.pairIsParsedArguments)
    func pairIsParsed(_ text: String, _ name: String, _ value: String) {
        #expect(SetCookie(text) == cookie(name, value))
    }

    private static let invalidTextIsRejectedArguments: [String] = [
        "", " ", "=", " = ", ";", "; Path=/", "a=\u{0}", "a=\u{1F}b", "a=b\u{7F}", "a=b\tc", "a=b; Path=/\u{8}",
        "a=b; Path=/\tx", "a\tb=c",
    ]

    @Test(arguments: Self.invalidTextIsRejectedArguments)
    func invalidTextIsRejected(_ text: String) {
        #expect(SetCookie(text) == nil)
    }

    @Test func pairOfMoreThan4096BytesIsRejected() {
        #expect(SetCookie("a=" + String(repeating: "b", count: 4095)) != nil)
        #expect(SetCookie("a=" + String(repeating: "b", count: 4096)) == nil)
    }

    @Test func attributesAreParsed() {
        #expect(
            SetCookie(
                "a=b; expires=Sun, 06 Nov 1994 08:49:37 GMT;MAX-AGE=7; domain=.Example.COM;path=/x;secure;HttpOnly"
            )
                == cookie("a", "b") {
                    $0.expires = 784_111_777
                    $0.maxAge = 7
                    $0.domain = "example.com"
                    $0.path = "/x"
                    $0.isSecure = true
                    $0.isHTTPOnly = true
                }
        )
        #expect(SetCookie("a=b; SameSite=Lax")?.sameSite == .lax)
        #expect(SetCookie("a=b; SameSite=odd")?.sameSite == nil)
        #expect(SetCookie("a=b; Secure=no")?.isSecure == true)
    }

    @Test func lastValidAttributeIsUsed() {
        #expect(SetCookie("a=b; Path=/x; Path=/y")?.path == "/y")
        #expect(SetCookie("a=b; Path=/x; Path=y")?.path == nil)
        #expect(SetCookie("a=b; Domain=a.b; Domain=")?.domain == nil)
        #expect(SetCookie("a=b; Max-Age=1; Max-Age=x")?.maxAge == 1)
        #expect(SetCookie("a=b; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Expires=never")?.expires == 784_111_777)
        #expect(SetCookie("a=b; Path=/" + String(repeating: "x", count: 1024))?.path == nil)
    }

    private static let maxAgeIsParsedArguments: [(String, Int)] = [
        ("0", 0), ("-1", 0), ("12", 12), ("99999999999999999999", Int.max), ("-99999999999999999999", 0),
    ]

    @Test(arguments: Self.maxAgeIsParsedArguments)
    func maxAgeIsParsed(_ text: String, _ age: Int) {
        #expect(SetCookie("a=b; Max-Age=\(text)")?.maxAge == age)
    }

    @Test(arguments: ["", "-", "+1", "1.5", " ", "0x1"]) func invalidMaxAgeIsIgnored(_ text: String) {
        #expect(SetCookie("a=b; Max-Age=\(text)")?.maxAge == nil)
    }

    private static let expirationDateIsParsedArguments: [(String, Int?)] = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("6 nov 1994 8:49:37", 784_111_777),
        ("Thu, 01-Jan-1970 00:00:00 GMT", 0), ("01 Jan 69 00:00:00", 3_124_224_000), ("01 Jan 70 00:00:00", 0),
        ("29 Feb 2024 12:00:00", 1_709_208_000), ("1994 Nov 06 08:49:37", 784_111_777),
        ("29 Feb 2023 12:00:00", nil),
        ("31 Apr 2024 12:00:00", nil), ("01 Jan 1600 00:00:00", nil), ("01 Jan 2024 24:00:00", nil),
        ("01 Jan 2024 00:60:00", nil), ("01 Jan 2024", nil), ("00 Jan 2024 00:00:00", nil), ("", nil),
        ("08:49:37 06 November 1994x", 784_111_777), ("1 Jan 123 00:00:00", nil),
        ("31 Dec 9999 23:59:59", 253_402_300_799),
    ]

    /// RFC 6265bis, 5.1.1. The seconds are those of `date -d`.
    @Test(arguments: Self.expirationDateIsParsedArguments)
    func expirationDateIsParsed(_ text: String, _ seconds: Int?) {
        #expect(CookieDate.seconds(text) == seconds)
    }
}
