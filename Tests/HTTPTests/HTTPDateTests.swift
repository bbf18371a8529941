import BeagleNetHTTP
import Testing

struct HTTPDateTests {
    private static let dateIsParsedArguments: [(String, Int64)] = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000), ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
    ]

    @Test(arguments: Self.dateIsParsedArguments)
    func dateIsParsed(_ text: String, _ seconds: Int64) {
        #expect(HTTPDate(text)?.seconds == seconds)
        if seconds >= 0 { #expect(HTTPDate(seconds: seconds).description == text) }
    }

    private static let obsoleteFormIsParsedArguments: [(String, Int64)] = [
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Wed Nov 16 08:49:37 1994", 784_975_777), ("Thu, 01-Jan-1970 00:00:00 GMT", 0),
        ("Saturday, 31-Dec-16 23:59:60 GMT", 1_483_228_800), ("Thu Feb 29 12:00:00 2024", 1_709_208_000),
    ]

    /// Recipients must accept the obsolete forms (RFC 9110, 5.6.7).
    @Test(arguments: Self.obsoleteFormIsParsedArguments)
    func obsoleteFormIsParsed(_ text: String, _ seconds: Int64) {
        #expect(HTTPDate(text, now: 1_764_000_000)?.seconds == seconds)
    }

    private static let twoDigitYearIsAtMost50YearsAheadArguments: [(String, String)] = [
        ("01-Jan-26", "01 Jan 2026"), ("31-Dec-75", "31 Dec 2075"), ("26-Nov-76", "26 Nov 2076"),
        ("27-Nov-76", "27 Nov 2076"), ("28-Nov-76", "28 Nov 1976"), ("01-Jan-77", "01 Jan 1977"),
        ("31-Dec-99", "31 Dec 1999"), ("01-Jan-00", "01 Jan 2000"), ("29-Feb-76", "29 Feb 2076"),
    ]

    /// The current time is 2026-11-27 00:00:00.
    @Test(arguments: Self.twoDigitYearIsAtMost50YearsAheadArguments)
    func twoDigitYearIsAtMost50YearsAhead(_ short: String, _ long: String) throws {
        let date = try #require(HTTPDate("Monday, \(short) 00:00:00 GMT", now: 1_795_737_600))
        #expect(date.description.contains(long), "\(date)")
    }

    @Test(
        arguments: [
            "", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
            "Foo, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37",
            "Sunday, 06-Nov-994 08:49:37 GMT", "Sunday, 06-Nov 08:49:37 GMT", "Someday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994", "Sun Nov   6 08:49:37 1994", "Sun Nov  06 08:49:37 1994",
            "Someday Nov  6 08:49:37 1994", "Sun Nov  6 08:49:37 194", "Sun Nov  6 08:49:37 1994 GMT", "Sun,", " ",
            "Sun",
            "Sunday, 30-Feb-76 08:49:37 GMT",
        ]
    )
    func invalidDateIsRejected(_ text: String) {
        #expect(HTTPDate(text) == nil)
    }
}
