import Foundation
import Testing

@testable import BeagleNetReplay

struct GlobTests {
    private static let patternMatchesTextArguments: [(String, String, Bool)] = [
        ("abc", "xAbCx", true), ("abc", "ab", false), ("", "", true), ("", "x", true), ("*", "", true),
        ("?", "", false),
        ("*.x.com", "api.x.com", true), ("*.x.com", "x.com", false), ("*.x.com", "api.x.com.evil", false),
        ("a*b*c", "a1b2b3c", true), ("a*b*c", "a1c2b", false), ("a?c", "aéc", true), ("a?c", "ac", false),
        ("a??c", "aéc", false), ("**a**", "xax", true), (#"a\*b"#, "xa*bx", true), (#"a\*b"#, "xaabx", false),
        (#"\?*"#, "?x", true), (#"\?*"#, "xx", false), (#"a\"#, #"xa\"#, true), ("É", "é", false), ("a*", "ba", false),
    ]

    @Test(arguments: Self.patternMatchesTextArguments)
    func patternMatchesText(pattern: String, text: String, isMatch: Bool) {
        #expect(Glob(pattern).matches(text) == isMatch)
        #expect(Glob(pattern).matches(Data(text.utf8)) == isMatch)
    }

    @Test func anywherePatternMatchesSubstrings() {
        #expect(Glob("t?ken", isAnywhere: true).matches("my token here"))
        #expect(!Glob("t?ken").matches("my token here"))
    }

    @Test func invalidUTF8IsMatchedByBytes() {
        #expect(Glob("*abc*").matches(Data([0xFF, 0x80] + Array("abc".utf8) + [0xFE])))
        #expect(!Glob("??").matches(Data([0x80, 0x80])))
    }

    @Test func manyStarsMatchInReasonableTime() {
        let pattern = String(repeating: "*a", count: 500) + "b"
        #expect(!Glob(pattern).matches(String(repeating: "a", count: 5_000)))
    }
}
