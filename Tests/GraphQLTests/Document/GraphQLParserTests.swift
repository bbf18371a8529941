import BeagleNetGraphQL
import Testing

/// Valid and invalid GraphQL, by the clauses of the specification.
struct GraphQLParserTests {
    static let kitchenSink = """
        # Everything that a document may have
        query Everything($a: Int = -1, $b: [Float!]! = [1.5e+3, 0.0] @dir(x: {y: [null, true]}), $c: In = {k: "v"})
        @cached(for: 10) {
          alias: field(int: 1, float: -0.5E-7, text: "a\\n\\u00e9\\uD83D\\uDE00\\u{1F600}", block: \"""
              first
                second \\\"""
          \""", word: RED, none: null, list: [1, [2, 3], []], object: {a: {b: $a}, c: []}, yes: true, v: $b) @skip(if: false) {
            ...Part @include(if: true)
            ... on Other @defer { on: fragment, query, mutation(type: on) }
            ... { true: false, null }
            ... @stream { x }
          }
        }
        mutation M($c: In) { set(in: $c) }, subscription S { tick },,,
        fragment Part on Thing @mark { type interface(input: enum) }
        """

    @Test func allSyntaxIsParsed() throws {
        let document = try GraphQLDocument(parsing: Self.kitchenSink)
        #expect(document.operations.map(\.name) == ["Everything", "M", "S"])
        #expect(document.operations[0].responseKeys == ["alias"])
        #expect(document.operations[0].variables[1].defaultValue == "[1.5e+3, 0.0]")
        #expect(document.operations[0].usesDefer && document.operations[0].usesStream)
    }

    private static let validDocumentIsParsedArguments: [String] = [
        "\u{FEFF}{ a }", "{a}", "{a,b,,c}", "\r\n{\ra\r\n}", "{ a # }\n }", "query { a }", "query @d { a }",
        "query A($x: [[Int]!]) { a(x: $x) }", "{ a(b: [], c: {}) }", "{ a(b: \"\") }", "{ a(b: \"\"\"\"\"\") }",
        "{ a(b: [\"\" \"x\"]) }", "{ a(b: -0) }", "{ a(b: 0e0) }", "{ a(b: \"\\\\\\/\\b\\f\\n\\r\\t\\\"\") }",
        "{ query fragment on: on mutation subscription }", "fragment A on on { on }", "query on { a }",
        "\"Tells\" query A(\"\"\"Of it\"\"\" $b: Int \"Of that\" $c: Int = 1) { a }", "\"Part\" fragment A on B { c }",
        "query Q($on: Int, $type: Int) { a(b: $on, c: $type) }", "{ a(b: \"\\u{0}\\u{10FFFF}\") }",
        "{ a(b: \"\u{0}\") }", "{ ...A } fragment A on B { c }", "{ a } fragment Unused on B { c }",
        "query Q($unused: Int) { a }", "{ ... { a } ... on B { a } }", "{ a(b: ENUM, c: true_, d: nullx) }",
    ]

    @Test(arguments: Self.validDocumentIsParsedArguments)
    func validDocumentIsParsed(_ text: String) throws {
        #expect(try GraphQLDocument(parsing: text).text == text)
    }

    private static let invalidDocumentIsRejectedWithItsPositionArguments: [(String, Int, Int, String)] = [
        ("", 1, 1, #"expected query, mutation, subscription, fragment or "{", found the end of the text"#),
        (
            "# only this", 1, 12,
            #"expected query, mutation, subscription, fragment or "{", found the end of the text"#
        ),
        ("{", 1, 2, #"expected a field, found the end of the text"#),
        ("{}", 1, 2, #"expected a field, found "}""#),
        ("{ a", 1, 4, #"expected a field or "}", found the end of the text"#),
        ("{ a {} }", 1, 6, #"expected a field, found "}""#),
        ("{ a() }", 1, 5, #"expected an argument's name, found ")""#),
        ("{ a(b) }", 1, 6, #"expected ":" and the argument's value, found ")""#),
        ("{ a(b:) }", 1, 7, #"expected a value, found ")""#),
        ("{ a: }", 1, 6, #"expected the name of the aliased field, found "}""#),
        ("{ a: b: c }", 1, 7, #"expected a field or "}", found ":""#),
        ("{ a @ }", 1, 7, #"expected a directive's name, found "}""#),
        ("{ a }}", 1, 6, #"expected query, mutation, subscription, fragment or "{", found "}""#),
        ("query", 1, 6, #"expected "{" and fields, found the end of the text"#),
        ("query A()", 1, 9, #"expected a variable such as $id, found ")""#),
        ("query A($)", 1, 10, #"expected a variable's name, found ")""#),
        ("query A($a) { b }", 1, 11, #"expected ":" and the variable's type, found ")""#),
        ("query A($a: ) { b }", 1, 13, #"expected a type such as ID! or [String], found ")""#),
        ("query A($a: [Int) { b }", 1, 17, #"expected "]", found ")""#),
        ("query A($a: Int!!) { b }", 1, 17, #"expected a variable such as $id, found "!""#),
        ("query A($a: Int = $b) { b }", 1, 19, "variables are not allowed in a constant value"),
        ("query A($a: Int = [{x: $b}]) { b }", 1, 24, "variables are not allowed in a constant value"),
        ("fragment on on A { b }", 1, 10, #"expected a fragment's name, found "on""#),
        ("fragment A { b }", 1, 12, #"expected "on" and the fragment's type, found "{""#),
        ("fragment A on { b }", 1, 15, #"expected the fragment's type, found "{""#),
        ("{ ...on }", 1, 9, #"expected the fragment's type, found "}""#),
        ("{ ... }", 1, 7, #"expected "{" and fields, found "}""#),
        ("{ a .. }", 1, 5, #""." is not allowed here, only "..." is"#),
        ("{ a ? }", 1, 5, #""?" is not allowed here"#),
        ("{ é }", 1, 3, #""é" is not allowed here"#),
        ("{ a \u{0} }", 1, 5, "a control character is not allowed here"),
        ("{ a(b: 'x') }", 1, 8, #""'" is not allowed here"#),
        ("{ a(b: 01) }", 1, 9, "a number must not have leading zeros"),
        ("{ a(b: -) }", 1, 9, "expected a digit"),
        ("{ a(b: 1.) }", 1, 10, "expected a digit"),
        ("{ a(b: 1e) }", 1, 10, "expected a digit"),
        ("{ a(b: 1.e1) }", 1, 10, "expected a digit"),
        ("{ a(b: 1.5.2) }", 1, 11, "unexpected character after a number"),
        ("{ a(b: 1x) }", 1, 9, "unexpected character after a number"),
        ("{ a(b: 0xF) }", 1, 9, "unexpected character after a number"),
        ("{ a(b: \"x) }", 1, 8, "the string that begins here is not closed"),
        ("{ a(b: \"x\n\") }", 1, 10, "the string is not closed before the end of the line"),
        ("{ a(b: \"\"\"x\"\") }", 1, 8, "the string that begins here is not closed"),
        ("{ a(b: \"\\x\") }", 1, 9, "unknown escape sequence"),
        ("{ a(b: \"\\", 1, 9, "unknown escape sequence"),
        ("{ a(b: \"\\u12\") }", 1, 9, #""\u" must be followed by a character code, as in \u00E9"#),
        ("{ a(b: \"\\uD83D\") }", 1, 9, #""\u" must be followed by a character code, as in \u00E9"#),
        ("{ a(b: \"\\uDE00\\uD83D\") }", 1, 9, #""\u" must be followed by a character code, as in \u00E9"#),
        ("{ a(b: \"\\u{110000}\") }", 1, 9, #""\u" must be followed by a character code, as in \u00E9"#),
        ("{ a(b: \"\\u{}\") }", 1, 9, #""\u" must be followed by a character code, as in \u00E9"#),
        ("{ a(b: [1) }", 1, 10, #"expected a value, found ")""#),
        ("{ a(b: {c 1}) }", 1, 11, #"expected ":" and the field's value, found "1""#),
        ("{ a(b: {\"c\": 1}) }", 1, 9, "expected a field's name, found a string"),
        ("{ a & b }", 1, 5, #"expected a field or "}", found "&""#),
        ("\"Tells\" { a }", 1, 9, #"expected query, mutation, subscription, fragment or "{", found "{""#),
        ("{\n  a\r\n  é\r  b: 😀 }", 3, 3, #""é" is not allowed here"#),
        ("{\r\r\n\n \"é😀\" }", 4, 2, "expected a field, found a string"),
        ("\u{FEFF}?", 1, 1, #""?" is not allowed here"#),
    ]

    @Test(arguments: Self.invalidDocumentIsRejectedWithItsPositionArguments)
    func invalidDocumentIsRejectedWithItsPosition(_ text: String, line: Int, column: Int, reason: String) {
        let error = #expect(throws: NetworkError.self) { try GraphQLDocument(parsing: text) }
        #expect(error?.message == "the document is not valid GraphQL at line \(line), column \(column): \(reason)")
        #expect(error?.kind == .badRequest && error?.phase == .build && error?.advice != nil)
    }

    private static let schemaDefinitionsAreRejectedArguments: [String] = [
        "schema { query: Q }", "scalar Date", "type A { b: C }", "interface A { b: C }", "union A = B | C",
        "enum A { B }", "input A { b: C }", "directive @a on FIELD", "extend type A { b: C }",
        "\"Told\" type A { b: C }",
    ]

    @Test(arguments: Self.schemaDefinitionsAreRejectedArguments)
    func schemaDefinitionsAreRejected(_ text: String) {
        let error = #expect(throws: NetworkError.self) { try GraphQLDocument(parsing: "{ a }\n" + text) }
        #expect(error?.message.contains("line 2") == true)
        #expect(error?.message.contains("belongs to a schema") == true)
        #expect(error?.advice == "put the schema into a separate file")
    }
}
