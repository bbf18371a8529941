import BeagleNetGraphQL
import Testing

struct DocumentMinifierTests {
    private static let minifiedTextIsTheShortestEquivalentArguments: [(String, String)] = [
        ("{ a }", "{a}"),
        ("\u{FEFF}{ a, b # c\n , d }", "{a b d}"),
        ("query A ( $b : [ Int ! ] = [ 1 , 2 ] ) @c { d }", "query A($b:[Int!]=[1 2])@c{d}"),
        ("{ ... A ... on B { c } ... @d { e } } fragment A on B { c }", "{...A...on B{c}...@d{e}}fragment A on B{c}"),
        (#"{ a(b: ["", "", "c"], d: -1, e: [X "y" Z]) }"#, #"{a(b:["" "" "c"]d:-1 e:[X"y"Z])}"#),
        ("{ a(b: \"  kept,  # all of it \") }", "{a(b:\"  kept,  # all of it \")}"),
        ("{ a(b: \"\"\"\n    one\n      two \\\"\"\"\n\n    \"\"\") }", #"{a(b:"one\n  two \"\"\"")}"#),
        ("{ a(b: \"\"\"\"\"\") }", #"{a(b:"")}"#),
        (
            "{ a(b: \"\"\"  first\r\n  second\rthird\t\u{1}\\n\"\"\") }",
            #"{a(b:"  first\n  second\nthird\t\u0001\\n")}"#
        ),
        ("{ a(b: \"\"\"first\r\n    second\r   third\"\"\") }", #"{a(b:"first\n second\nthird")}"#),
        (
            "\"Tells\" query A(\"of it\" $b: String = \"x\" \"of that\" $c: Int) { d }",
            #"query A($b:String="x"$c:Int){d}"#
        ),
    ]

    @Test(arguments: Self.minifiedTextIsTheShortestEquivalentArguments)
    func minifiedTextIsTheShortestEquivalent(_ text: String, minified: String) throws {
        let document = try GraphQLDocument(parsing: text)
        #expect(document.minified == minified)
        #expect(try GraphQLDocument(parsing: minified).minified == minified)
    }

    @Test func minifiedDocumentHasTheSameOperations() throws {
        let document = try GraphQLDocument(parsing: GraphQLParserTests.kitchenSink)
        let minified = try GraphQLDocument(parsing: document.minified)
        #expect(minified.minified == document.minified)
        #expect(minified.operations.map(\.rootFields) == document.operations.map(\.rootFields))
        #expect(minified.operations.map(\.variables.count) == document.operations.map(\.variables.count))
    }
}
