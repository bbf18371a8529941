import Testing

@testable import BeagleNetReplay

struct PlaceholderTests {
    private static let placeholderMatchesAnyTextArguments: [(String, String, Bool)] = [
        ("a", "a", true), ("a", "b", false), ("REDACTED", "", true), ("REDACTED", "anything", true),
        ("Bearer REDACTED", "Bearer x", true), ("Bearer REDACTED", "Basic x", false),
        ("Bearer REDACTED", "Bearer", false),
        ("a=REDACTED; Path=/", "a=1; Path=/", true), ("a=REDACTED; Path=/", "a=1; Path=/x", false),
        ("a=REDACTED; b=REDACTED", "a=1; b=2", true), ("a=REDACTED; b=REDACTED", "a=1; c=2", false),
        ("REDACTED-REDACTED", "--", true), ("REDACTEDxREDACTEDxREDACTED", "1x2", false), ("aREDACTEDa", "a", false),
        ("t=REDACTED:h:0123456789ab&x=1", "t=s&x=1", true), ("REDACTED:h:0123456789ab", "s", true),
        ("x", "REDACTED", false),
    ]

    @Test(arguments: Self.placeholderMatchesAnyTextArguments)
    func placeholderMatchesAnyText(_ recorded: String, _ value: String, _ matches: Bool) {
        #expect(Placeholder.matches(recorded, value) == matches)
    }
}
