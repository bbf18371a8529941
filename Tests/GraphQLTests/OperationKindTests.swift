import BeagleNetGraphQL
import Testing

@Suite struct OperationKindTests {
    @Test func namesAreThoseOfTheLanguage() {
        #expect(OperationKind.allCases.map(\.rawValue) == ["query", "mutation", "subscription"])
    }
}
