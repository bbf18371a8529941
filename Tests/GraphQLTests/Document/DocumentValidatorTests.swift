import BeagleNetGraphQL
import Testing

/// Validation rules that need no schema (GraphQL specification, 5.2 to 5.8).
struct DocumentValidatorTests {
    private static let invalidDocumentIsRejectedWithItsPositionArguments: [(String, Int, String)] = [
        ("query A { a } query A { b }", 21, "there is more than one operation named A"),
        ("query A { a } { b }", 15, "an unnamed operation must be the only operation in its document"),
        ("{ a } { b }", 1, "an unnamed operation must be the only operation in its document"),
        ("{ ...A }", 6, "the document has no fragment named A"),
        ("{ a } fragment A on B { ...C }", 28, "the document has no fragment named C"),
        ("{ a } fragment A on B { c } fragment A on B { d }", 38, "there is more than one fragment named A"),
        ("fragment A on B { ...A }", 19, "a fragment must not contain itself: A -> A"),
        (
            "{ ...A } fragment A on T { x { ...B } } fragment B on T { ...D ...C } fragment C on T { ... { ...B } } fragment D on T { x }",
            95, "a fragment must not contain itself: B -> C -> B"
        ),
        ("query A($a: Int, $a: Int) { b }", 19, "the operation declares $a more than once"),
        ("query A { a(b: $c) }", 16, "$c is not declared by A"),
        ("query ($d: Int) { a(b: [{x: $c}]) }", 29, "$c is not declared by the operation"),
        (
            "query A($c: Int) { ...F } query B { ...F } fragment F on T { ...G } fragment G on T { a @skip(if: $c) }",
            99,
            "$c is not declared by B"
        ),
    ]

    @Test(arguments: Self.invalidDocumentIsRejectedWithItsPositionArguments)
    func invalidDocumentIsRejectedWithItsPosition(_ text: String, column: Int, reason: String) {
        let error = #expect(throws: NetworkError.self) { try GraphQLDocument(parsing: text) }
        #expect(error?.message == "the document is not valid GraphQL at line 1, column \(column): \(reason)")
    }

    @Test func variablesOfUnusedFragmentsAreNotChecked() throws {
        _ = try GraphQLDocument(parsing: "query A($c: Int) { a(b: $c) } fragment F on T { a(b: $d) }")
    }

    @Test func manyNamesAreDistinguished() throws {
        let names = (0..<100).map { "f\($0)" }
        let fragments = names.map { "fragment \($0) on T { x(v: $\($0)) }" }.joined(separator: " ")
        let variables = names.map { "$\($0): Int" }.joined(separator: ", ")
        let spreads = names.map { "...\($0)" }.joined(separator: " ")
        let document = try GraphQLDocument(parsing: "query Q(\(variables)) { \(spreads) } " + fragments)
        #expect(document.fragments == names)
        #expect(throws: NetworkError.self) {
            try GraphQLDocument(parsing: "query Q(\(variables)) { \(spreads) ...f100 } " + fragments)
        }
        #expect(throws: NetworkError.self) {
            try GraphQLDocument(parsing: "query Q(\(variables), $f99: Int) { \(spreads) } " + fragments)
        }
    }
}
