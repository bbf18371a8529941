import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct TimestampTests {
    private static let timestampIsParsedArguments: [(String, Double)] = [
        ("2026-11-22T08:15:30.123456Z", 1_795_335_330.123456), ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59.5Z", -0.5), ("2009-04-16T12:07:23.596-07:00", 1_239_908_843.596),
        ("2009-04-16T12:07:23,5+0530", 1_239_863_843.5), ("2026-11-22t08:15:30", 1_795_335_330),
        ("2026-12-31T23:59:60Z", 1_798_761_599),
    ]

    @Test(arguments: Self.timestampIsParsedArguments)
    func timestampIsParsed(_ text: String, _ seconds: Double) {
        #expect(Timestamp.date(text)?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "", "2026-11-22", "2026-13-01T00:00:00Z", "2026-11-22T25:00:00Z", "2026-11-22T08:15:30.Z",
        "2026-11-22T08:15:30Zx", "22/Nov/2026",
    ])
    func invalidTimestampIsRejected(_ text: String) {
        #expect(Timestamp.date(text) == nil)
    }

    private static let timestampIsFormattedArguments: [(Double, String)] = [
        (1_795_335_330.123456, "2026-11-22T08:15:30.123456Z"), (-0.5, "1969-12-31T23:59:59.500000Z"),
        (0, "1970-01-01T00:00:00.000000Z"), (.infinity, "9999-12-31T23:59:59.000000Z"),
    ]

    @Test(arguments: Self.timestampIsFormattedArguments)
    func timestampIsFormatted(_ seconds: Double, _ text: String) {
        #expect(Timestamp.text(of: Date(timeIntervalSince1970: seconds)) == text)
    }
}
