import BeagleNetGraphQL
import Testing

/// What is GraphQL and what is not, by the clauses of the specification.
@Suite struct GraphQLParserTests {
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

    @Test func everythingIsRead() throws {
        let document = try GraphQLDocument(parsing: Self.kitchenSink)
        #expect(document.operations.map(\.name) == ["Everything", "M", "S"])
        #expect(document.operations[0].responseKeys == ["alias"])
        #expect(document.operations[0].variables[1].defaultValue == "[1.5e+3, 0.0]")
        #expect(document.operations[0].usesDefer && document.operations[0].usesStream)
    }

    @Test(arguments: [
        "\u{FEFF}{ a }", "{a}", "{a,b,,c}", "\r\n{\ra\r\n}", "{ a # }\n }", "query { a }", "query @d { a }",
        "query A($x: [[Int]!]) { a(x: $x) }", "{ a(b: [], c: {}) }", "{ a(b: \"\") }", "{ a(b: \"\"\"\"\"\") }",
        "{ a(b: [\"\" \"x\"]) }", "{ a(b: -0) }", "{ a(b: 0e0) }", "{ a(b: \"\\\\\\/\\b\\f\\n\\r\\t\\\"\") }",
        "{ query fragment on: on mutation subscription }", "fragment A on on { on }", "query on { a }",
        "\"Tells\" query A(\"\"\"Of it\"\"\" $b: Int \"Of that\" $c: Int = 1) { a }", "\"Part\" fragment A on B { c }",
        "query Q($on: Int, $type: Int) { a(b: $on, c: $type) }", "{ a(b: \"\\u{0}\\u{10FFFF}\") }",
        "{ a(b: \"\u{0}\") }", "{ ...A } fragment A on B { c }", "{ a } fragment Unused on B { c }",
        "query Q($unused: Int) { a }", "{ ... { a } ... on B { a } }", "{ a(b: ENUM, c: true_, d: nullx) }",
    ])
    func isGraphQL(_ text: String) throws {
        #expect(try GraphQLDocument(parsing: text).text == text)
    }

    @Test(arguments: [
        ("", 1, 1, #"query, mutation, subscription, fragment or "{" should be here, not the end of the text"#),
        (
            "# only this", 1, 12,
            #"query, mutation, subscription, fragment or "{" should be here, not the end of the text"#
        ),
        ("{", 1, 2, #"a field should be here, not the end of the text"#),
        ("{}", 1, 2, #"a field should be here, not "}""#),
        ("{ a", 1, 4, #"a field or "}" should be here, not the end of the text"#),
        ("{ a {} }", 1, 6, #"a field should be here, not "}""#),
        ("{ a() }", 1, 5, #"an argument's name should be here, not ")""#),
        ("{ a(b) }", 1, 6, #"":" and the argument's value should be here, not ")""#),
        ("{ a(b:) }", 1, 7, #"a value should be here, not ")""#),
        ("{ a: }", 1, 6, #"the name of the field that gets this alias should be here, not "}""#),
        ("{ a: b: c }", 1, 7, #"a field or "}" should be here, not ":""#),
        ("{ a @ }", 1, 7, #"a directive's name should be here, not "}""#),
        ("{ a }}", 1, 6, #"query, mutation, subscription, fragment or "{" should be here, not "}""#),
        ("query", 1, 6, #""{" and fields should be here, not the end of the text"#),
        ("query A()", 1, 9, #"a variable as $id should be here, not ")""#),
        ("query A($)", 1, 10, #"a variable's name should be here, not ")""#),
        ("query A($a) { b }", 1, 11, #"":" and the variable's type should be here, not ")""#),
        ("query A($a: ) { b }", 1, 13, #"a type as ID! or [String] should be here, not ")""#),
        ("query A($a: [Int) { b }", 1, 17, #""]" should be here, not ")""#),
        ("query A($a: Int!!) { b }", 1, 17, #"a variable as $id should be here, not "!""#),
        ("query A($a: Int = $b) { b }", 1, 19, "no variable can stand in a variable's default"),
        ("query A($a: Int = [{x: $b}]) { b }", 1, 24, "no variable can stand in a variable's default"),
        ("fragment on on A { b }", 1, 10, #"a fragment's name should be here, not "on""#),
        ("fragment A { b }", 1, 12, #""on" and the fragment's type should be here, not "{""#),
        ("fragment A on { b }", 1, 15, #"the fragment's type should be here, not "{""#),
        ("{ ...on }", 1, 9, #"the fragment's type should be here, not "}""#),
        ("{ ... }", 1, 7, #""{" and fields should be here, not "}""#),
        ("{ a .. }", 1, 5, #""." belongs to no token, only "..." does"#),
        ("{ a ? }", 1, 5, #""?" belongs to no token"#),
        ("{ é }", 1, 3, #""é" belongs to no token"#),
        ("{ a \u{0} }", 1, 5, "a control character belongs to no token"),
        ("{ a(b: 'x') }", 1, 8, #""'" belongs to no token"#),
        ("{ a(b: 01) }", 1, 9, "a number begins with 0 only where nothing but 0 stands before its point"),
        ("{ a(b: -) }", 1, 9, "a digit should be here"),
        ("{ a(b: 1.) }", 1, 10, "a digit should be here"),
        ("{ a(b: 1e) }", 1, 10, "a digit should be here"),
        ("{ a(b: 1.e1) }", 1, 10, "a digit should be here"),
        ("{ a(b: 1.5.2) }", 1, 11, "a number should end here"),
        ("{ a(b: 1x) }", 1, 9, "a number should end here"),
        ("{ a(b: 0xF) }", 1, 9, "a number should end here"),
        ("{ a(b: \"x) }", 1, 8, "the text that begins here has no end"),
        ("{ a(b: \"x\n\") }", 1, 10, "the line ends before the text does"),
        ("{ a(b: \"\"\"x\"\") }", 1, 8, "the text that begins here has no end"),
        ("{ a(b: \"\\x\") }", 1, 9, "no escape begins like this"),
        ("{ a(b: \"\\", 1, 9, "no escape begins like this"),
        ("{ a(b: \"\\u12\") }", 1, 9, #""\u" should be followed by a character's number, as in \u00E9"#),
        ("{ a(b: \"\\uD83D\") }", 1, 9, #""\u" should be followed by a character's number, as in \u00E9"#),
        ("{ a(b: \"\\uDE00\\uD83D\") }", 1, 9, #""\u" should be followed by a character's number, as in \u00E9"#),
        ("{ a(b: \"\\u{110000}\") }", 1, 9, #""\u" should be followed by a character's number, as in \u00E9"#),
        ("{ a(b: \"\\u{}\") }", 1, 9, #""\u" should be followed by a character's number, as in \u00E9"#),
        ("{ a(b: [1) }", 1, 10, #"a value should be here, not ")""#),
        ("{ a(b: {c 1}) }", 1, 11, #"":" and the member's value should be here, not "1""#),
        ("{ a(b: {\"c\": 1}) }", 1, 9, "a member's name should be here, not text in quotes"),
        ("{ a & b }", 1, 5, #"a field or "}" should be here, not "&""#),
        ("\"Tells\" { a }", 1, 9, #"query, mutation, subscription, fragment or "{" should be here, not "{""#),
        ("{\n  a\r\n  é\r  b: 😀 }", 3, 3, #""é" belongs to no token"#),
        ("{\r\r\n\n \"é😀\" }", 4, 2, "a field should be here, not text in quotes"),
        ("\u{FEFF}?", 1, 1, #""?" belongs to no token"#),
    ])
    func isNot(_ text: String, line: Int, column: Int, reason: String) {
        let error = #expect(throws: NetworkError.self) { try GraphQLDocument(parsing: text) }
        #expect(error?.message == "the document is no GraphQL at line \(line), column \(column): \(reason)")
        #expect(error?.kind == .badRequest && error?.phase == .build && error?.advice != nil)
    }

    @Test(arguments: [
        "schema { query: Q }", "scalar Date", "type A { b: C }", "interface A { b: C }", "union A = B | C",
        "enum A { B }", "input A { b: C }", "directive @a on FIELD", "extend type A { b: C }",
        "\"Told\" type A { b: C }",
    ])
    func aSchemaIsNothingToRun(_ text: String) {
        let error = #expect(throws: NetworkError.self) { try GraphQLDocument(parsing: "{ a }\n" + text) }
        #expect(error?.message.contains("line 2") == true)
        #expect(error?.message.contains("defines a part of a schema") == true)
        #expect(error?.advice == "keep the schema in a file of its own")
    }
}
