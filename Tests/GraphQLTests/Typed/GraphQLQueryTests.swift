import BeagleNetGraphQL
import Testing

struct GraphQLQueryTests {
    @Test func selectionsAreWrittenInOrder() throws {
        let avatar = GraphQLSelection.Fragment("Avatar", on: "Image", "{ url }")
        let wantsBody = true
        let wantsTags = false
        let query = GraphQLQuery("Post", variables: ["id": "ID!", "first": "[Int!]"], directives: [.init("cached")]) {
            GraphQLSelection.Field("post", alias: "p", arguments: ["id": .variable("id"), "first": .variable("first")])
            {
                "id"
                if wantsBody { "body" } else { "summary" }
                if wantsTags { "tags" }
                for name in ["a", "b"] { GraphQLSelection.Field(name, directives: [.skip(if: false)]) }
                GraphQLSelection.Field("image") { avatar }
                GraphQLSelection.InlineFragment(on: "Video", directives: [.include(if: .variable("id"))]) { "length" }
                GraphQLSelection.InlineFragment { "__typename" }
            }
        }
        #expect(
            query.text.description == """
                query Post($id: ID!, $first: [Int!]) @cached { p: post(id: $id, first: $first) { id body \
                a @skip(if: false) b @skip(if: false) image { ...Avatar } ... on Video @include(if: $id) { length } \
                ... { __typename } } }
                fragment Avatar on Image { url }
                """
        )
        #expect(try query.document().operation().responseKeys == ["p"])
    }

    @Test func kindsAndDefaultsAreWritten() throws {
        var query = GraphQLQuery("Like", kind: .mutation) {
            GraphQLSelection.Field("like", arguments: ["by": .variable("by")]) { "count" }
        }
        query.variables = [.init("by", "Int! ", default: 2)]
        #expect(throws: NetworkError.self) { try query.document() }
        query.variables = [.init("by", "Int!", default: 2)]
        #expect(query.text.description == "mutation Like($by: Int! = 2) { like(by: $by) { count } }")
        #expect(try query.document().operation().kind == .mutation)
        #expect(GraphQLQuery(kind: .subscription) { "tick" }.text.description == "subscription { tick }")
    }

    private static let values: [(GraphQLValue, String)] = [
        (GraphQLValue.null, "null"), (true, "true"), (-5, "-5"), (1.5, "1.5"), (1e300, "1e+300"),
        (.enumValue("RED"), "RED"), (.variable("a"), "$a"), ([1, [nil], "x"], #"[1, [null], "x"]"#),
        (["b": 1, "a": ["c": .enumValue("D")]], "{b: 1, a: {c: D}}"),
        ("\") { evil } #\\\n\r\t\u{0}\u{1F}\u{7F}é😀", #""\") { evil } #\\\n\r\t\u0000\u001F\u007Fé😀""#),
    ]

    @Test(arguments: values)
    func valuesAreWrittenInDocumentSyntax(_ value: GraphQLValue, written: String) throws {
        let query = GraphQLQuery(variables: ["a": "Int"]) { GraphQLSelection.Field("f", arguments: ["v": value]) }
        #expect(query.text.description == "query($a: Int) { f(v: \(written)) }")
        #expect(try query.document().operation().responseKeys == ["f"])
    }

    private static let broken: [GraphQLQuery] = [
        GraphQLQuery("a { b } query c") { "d" },
        GraphQLQuery { "a { b }" },
        GraphQLQuery { "" },
        GraphQLQuery { GraphQLSelection.Field("a", alias: "b c") },
        GraphQLQuery { GraphQLSelection.Field("a", arguments: ["b: 1, c": 2]) },
        GraphQLQuery { GraphQLSelection.Field("a", arguments: ["b": .enumValue("x, c: y")]) },
        GraphQLQuery { GraphQLSelection.Field("a", arguments: ["b": .variable("1")]) },
        GraphQLQuery { GraphQLSelection.Field("a", arguments: ["b": .float(.nan)]) },
        GraphQLQuery { GraphQLSelection.Field("a", arguments: ["b": ["c d": 1]]) },
        GraphQLQuery { GraphQLSelection.InlineFragment(on: "A { b } ... on C") { "d" } },
        GraphQLQuery { GraphQLSelection.InlineFragment {} },
        GraphQLQuery { GraphQLSelection.Field("a", directives: [GraphQLSelection.Directive("b @c")]) },
        GraphQLQuery { GraphQLSelection.Fragment("F on T { x } fragment G", on: "T", "{ a }") },
        GraphQLQuery(variables: ["a": "Int) { b } #"]) { "b" },
        GraphQLQuery(variables: ["a": "[Int"]) { "b" },
        GraphQLQuery {},
    ]

    @Test(arguments: broken)
    func invalidNameThrows(_ query: GraphQLQuery) {
        let error = #expect(throws: NetworkError.self) { try query.document() }
        #expect(error?.kind == .badRequest)
        #expect(throws: NetworkError.self) { try GraphQLDocument(parsing: query.text.description) }
    }
}
