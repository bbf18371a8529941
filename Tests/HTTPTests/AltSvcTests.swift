import Testing

@testable import BeagleNetHTTP

/// The Alt-Svc field (RFC 7838, 3).
struct AltSvcTests {
    private typealias Alternative = AltSvc.Alternative

    private static let fieldIsParsedArguments: [(String, [(String, String, Int, Int, Bool)]?)] = [
        ("h2=\":8000\"", [("h2", "", 8_000, 86_400, false)]),
        (
            "h2=\"alt.example.com:8000\", h2=\":443\"",
            [("h2", "alt.example.com", 8_000, 86_400, false), ("h2", "", 443, 86_400, false)]
        ),
        ("h2=\":443\"; ma=3600", [("h2", "", 443, 3_600, false)]),
        ("h3=\":443\"; ma=2592000; persist=1", [("h3", "", 443, 2_592_000, true)]),
        ("w=x:y#z=\"h:1\"", nil),
        ("w%3Dx%3Ay#z=\"new.example.org:443\"", [("w%3Dx%3Ay#z", "new.example.org", 443, 86_400, false)]),
        (
            " , h2=\"[2001:DB8::1]:1\" ;MA=\"60\"\t; odd=\"a,;b\" ;persist=2,, h3=\"A_b-c.d:65535\" ,",
            [("h2", "[2001:db8::1]", 1, 60, false), ("h3", "a_b-c.d", 65_535, 86_400, false)]
        ),
        ("h2=\":1\"; ma=99999999999999999999", [("h2", "", 1, .max, false)]),
        ("h2=\"\\127.0.0.1:1\"", [("h2", "127.0.0.1", 1, 86_400, false)]),
        // Invalid alternatives are skipped individually.
        (
            "h2=\":0\", h2=\":65536\", h2=\":\", h2=\":1x\", h2=\"a\", h2=\"\", h2=\":1\"",
            [("h2", "", 1, 86_400, false)]
        ),
        (
            "h2=\"a b:1\", h2=\"a/b:1\", h2=\"[a]:1\", h2=\"::1:1\", h2=\"h.:1\", h2=\"@a:1\", h2=\":2\"",
            [("h2", "", 2, 86_400, false)]
        ),
        ("h2=\":1\"; ma=x, h2=\":2\"; ma=-1, h2=\":3\"; ma=\"\"", []),
    ]

    @Test(arguments: Self.fieldIsParsedArguments)
    func fieldIsParsed(_ text: String, _ expected: [(String, String, Int, Int, Bool)]?) {
        let alternatives = expected.map { expected in
            AltSvc.alternatives(
                expected.map {
                    Alternative(protocolName: $0.0, host: $0.1, port: $0.2, maxAge: $0.3, isPersistent: $0.4)
                }
            )
        }
        #expect(AltSvc(text) == alternatives)
    }

    @Test(arguments: ["clear", " clear ", "clear,"]) func clearRemovesAllAlternatives(_ text: String) {
        #expect(AltSvc(text) == .clear)
    }

    private static let invalidFieldIsIgnoredArguments: [String] = [
        "", " , ", "Clear", "clear, h2=\":1\"", "h2=\":1\", clear", "h2", "h2=", "h2=:443", "h2=\":443", "=\":443\"",
        "h2 = \":443\"", "h2=\":443\" h3=\":443\"", "h2=\":443\";", "h2=\":443\"; ma", "h2=\":443\"; ma=",
        "h2=\":443\"; =1",
    ]

    @Test(arguments: Self.invalidFieldIsIgnoredArguments)
    func invalidFieldIsIgnored(_ text: String) {
        #expect(AltSvc(text) == nil)
    }
}
