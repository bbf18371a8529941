import Testing

@testable import BeagleNetHTTP

struct FieldNamesTests {
    /// A name without a place in the table would be created again for every head.
    @Test(arguments: FieldNames.usual) func everyUsualNameIsInTheTable(name: String) {
        for spelling in [name, name.lowercased()] {
            #expect(FieldNames.known.contains { $0?.rawName == spelling })
            var bytes = spelling
            #expect(bytes.withUTF8 { FieldNames.name($0) }?.rawName == spelling)
        }
    }

    @Test func otherNamesAreCreated() {
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
