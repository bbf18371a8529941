import BeagleNetHTTP
import Testing

struct ContentRangeTests {
    private static let rangeIsParsedArguments: [(String, Int64, Int64, Int64?)] = [
        ("bytes 0-499/1234", 0, 499, 1234), ("bytes 7-7/8", 7, 7, 8), ("Bytes 42-1233/1234", 42, 1233, 1234),
        ("bytes 0-499/*", 0, 499, nil),
    ]

    @Test(arguments: Self.rangeIsParsedArguments)
    func rangeIsParsed(_ text: String, _ first: Int64, _ last: Int64, _ total: Int64?) {
        let range = ContentRange(text)
        #expect(range?.bytes == first...last)
        #expect(range?.total == total)
    }

    @Test func unsatisfiedRangeIsParsed() {
        let range = ContentRange("bytes */1234")
        #expect(range != nil && range?.bytes == nil)
        #expect(range?.total == 1234)
    }

    /// An invalid value must not be used (RFC 9110, 14.4).
    @Test(
        arguments: [
            "", "bytes", "bytes ", "bytes */*", "bytes 5-4/9", "bytes 0-9/9", "bytes 0-9", "bytes -1-2/3",
            "bytes +1-2/3", "bytes 1-2/", "bytes 1-/3", "bytes -2/3", "items 1-2/3", "bytes  1-2/3", "bytes 1-2/3 ",
            "bytes 0-99999999999999999999/*", "bytes 0-1/99999999999999999999", "bytes ٣-٤/٥",
        ]
    )
    func invalidRangeIsRejected(_ text: String) {
        #expect(ContentRange(text) == nil)
    }
}
