import Testing

@testable import BeagleNetHTTP

struct FieldNamesTests {
    /// One that lost its place would be made anew for each head.
    @Test(arguments: FieldNames.usual) func eachHasItsPlace(name: String) {
        for spelling in [name, name.lowercased()] {
            #expect(FieldNames.known.contains { $0?.rawName == spelling })
            var bytes = spelling
            #expect(bytes.withUTF8 { FieldNames.name($0) }?.rawName == spelling)
        }
    }

    @Test func othersAreMade() {
        func name(_ text: String) -> String? {
            var text = text
            return text.withUTF8 { FieldNames.name($0) }?.rawName
        }
        #expect(name("X-Own") == "X-Own")
        #expect(name("DATE") == "DATE")
        #expect(name("a b") == nil)
        #expect(name("") == nil)
    }
}
