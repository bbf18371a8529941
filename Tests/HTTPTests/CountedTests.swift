import BeagleNetHTTP
import Testing

struct CountedTests {
    private static let counts: [(String, String)] = [
        (counted(0, "byte"), "0 bytes"), (counted(1, "byte"), "1 byte"), (counted(-1, "byte"), "-1 bytes"),
        (counted(1, "entry", "entries"), "1 entry"), (counted(2, "entry", "entries"), "2 entries"),
    ]

    @Test(arguments: counts)
    func nounAgreesWithTheNumber(_ text: String, _ expected: String) { #expect(text == expected) }
}
