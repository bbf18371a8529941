import BeagleNetHTTP
import Testing

struct HTTPDateTests {
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000), ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ]
    )
    func dateIsRead(_ text: String, _ seconds: Int64) {
        #expect(HTTPDate(text)?.seconds == seconds)
        if seconds >= 0 { #expect(HTTPDate(seconds: seconds).description == text) }
    }

    @Test(
        arguments: [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT", "Foo, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        ]
    )
    func anythingElseIsNone(_ text: String) {
        #expect(HTTPDate(text) == nil)
    }
}
