import BeagleNetCache
import BeagleNetHTTP
import Testing

@Suite struct SearchVarianceTests {
    @Test(arguments: [
        ("params", "/a?x=1&y=2", "/a"), ("params=?1", "/a?x=1", "/a"), ("params=(\"x\")", "/a?x=1&y=2", "/a?y=2"),
        ("params, except=(\"y\")", "/a?x=1&y=2&z=3", "/a?y=2"), ("key-order", "/a?b=1&a=2&b=0", "/a?a=2&b=1&b=0"),
        ("key-order, params=(\"x\")", "/a?c&x&b", "/a?b&c"), ("params=(\"a b\")", "/a?a+b=1&a%20b=2&c=3", "/a?c=3"),
        ("params=(\"x\")", "/a", "/a"), ("params=(\"x\")", "/a?", "/a"),
    ]) func insignificantPartsOfAQueryAreLeftOut(value: String, target: String, expected: String) throws {
        let fields = fields([("No-Vary-Search", value)])
        #expect(try #require(SearchVariance(fields)).significantPart(of: target) == expected)
    }

    @Test(arguments: [
        "", "params=?0", "params=()", "except=(\"a\")", "params=(\"a\", except=(\"b\")", "params=(a)", "other",
        "key-order=?0", "params=1", "\u{7F}",
    ])
    func malformedOrEmptyRuleChangesNothing(value: String) {
        #expect(SearchVariance(fields([("No-Vary-Search", value)])) == nil)
    }

    @Test func missingRuleChangesNothing() { #expect(SearchVariance([:]) == nil) }
}
