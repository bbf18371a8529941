import BeagleNetGraphQL
import BeagleNetTesting
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct GraphQLSchemaTests {
    private static let sdl = """
        "Everything of a blog"
        schema @link(url: "x") { query: Root mutation: Change subscription: Ticks }
        \"""
        When something was
        \"""
        scalar Date @specifiedBy(url: "https://example.com")
        directive @cached(for: Int! = 10, by: [String!]) repeatable on | QUERY | FIELD
        interface Node { id: ID! }
        interface Named implements Node { id: ID! name: String }
        enum Order { "first" NEWEST OLDEST @deprecated(reason: "x") }
        input Range { from: Int! to: Int = 5 }
        input Filter { tags: [String!] range: Range order: Order = NEWEST at: Date flags: [[Boolean!]] }
        type Root {
          post("which" id: ID!): Post
          posts(first: Int! = 10, filter: Filter, order: Order, ratio: Float, text: String, is: Boolean, ids: [ID!]): [Post!]!
          node(id: ID!): Node
          search: [Found!]
          named: Named
        }
        type Post implements Node { id: ID! title: String! author: User! created: Date image(size: Int = 64): String }
        type User implements Named & Node { id: ID! name: String posts: [Post!]! }
        type Video { length: Int }
        union Found = Post | User
        type Change { like(id: ID!, range: Range!): Post }
        type Ticks { tick: Int other: Int }
        extend type Post { body: String }
        extend union Found = | Video
        """

    private let schema: GraphQLSchema

    init() throws {
        schema = try GraphQLSchema(sdl: Self.sdl)
    }

    private func problems(_ text: String) throws -> [String] {
        schema.problems(in: try GraphQLDocument(parsing: text))
    }

    private static let validDocumentHasNoProblemsArguments: [String] = [
        "{ post(id: 1) { __typename id title body created image(size: null) author { name posts { id } } } }",
        "{ __schema { types { name fields { type { ofType { kind } } } } } __type(name: \"Post\") { name } __typename }",
        "query Q($first: Int = 3, $filter: Filter) @cached @cached(for: 5, by: \"x\") { posts(first: $first, filter: $filter) { id } }",
        "query Q($from: Int!) { posts(filter: {tags: \"a\", range: {from: $from, to: null}, order: OLDEST, at: 5, flags: [[true]]}) { id } }",
        "{ posts(ratio: 1, ids: [1, \"2\"], order: NEWEST, text: \"x\", is: false) { id } }",
        "query Q($ids: [ID!]!, $id: ID!) { a: posts(ids: $ids) { id } b: posts(ids: [$id]) { id } }",
        "{ search { __typename ... on Post { title } ... on Node { id } ...V } } fragment V on Video { length }",
        "{ node(id: 1) { id ... on Named { name } ... on User { posts { id } } } named { name ... on Node { id } } }",
        "mutation M($r: Range = {from: 1}) { like(id: 1, range: {from: 1}) { id } again: like(id: 2, range: $r) { id } }",
        "subscription { tick }", "query Q($yes: Boolean!) { post(id: 1) @include(if: $yes) { id @skip(if: false) } }",
        "{ search { ... @defer(label: \"x\") { __typename } } posts @stream(initialCount: 1) { id } }",
    ]

    @Test(arguments: Self.validDocumentHasNoProblemsArguments)
    func validDocumentHasNoProblems(_ text: String) throws {
        #expect(try problems(text) == [])
    }

    private static let broken: [(String, [String])] = [
        ("{\n  pots(id: 1) { id }\n}", ["2:3: Root has no field pots; did you mean post?"]),
        ("{ unheard }", ["1:3: Root has no field unheard"]),
        ("{ post { id } }", ["1:3: Root.post requires the argument id of type ID!"]),
        ("{ post(id: 1, first: 2) { id } }", ["1:15: Root.post has no argument first"]),
        ("{ post(id: 1, id: 2) { id } }", ["1:15: the argument id is given twice"]),
        ("{ post(id: null) { id } }", ["1:12: Root.post(id:) is of type ID!, which cannot be null"]),
        ("{ post(id: 1) }", ["1:3: Root.post is of type Post and requires a selection of fields"]),
        (
            "{ post(id: 1) { title { x } } }",
            ["1:17: Post.title is of type String! and cannot have a selection of fields"]
        ),
        ("{ search { title } }", ["1:12: Found has no field title"]),
        ("{ post(id: 1.5) { id } }", ["1:12: Root.post(id:) is of type ID, but 1.5 is not"]),
        ("{ posts(first: \"1\") { id } }", ["1:16: Root.posts(first:) is of type Int, but \"1\" is not"]),
        (
            "{ posts(first: 2147483648) { id } a: posts(first: -2147483648) { id } }",
            ["1:16: Root.posts(first:) is of type Int, but 2147483648 is not"]
        ),
        ("{ posts(ratio: true) { id } }", ["1:16: Root.posts(ratio:) is of type Float, but true is not"]),
        (
            "{ posts(is: 1, text: X) { id } }",
            [
                "1:13: Root.posts(is:) is of type Boolean, but 1 is not",
                "1:22: Root.posts(text:) is of type String, but X is not",
            ]
        ),
        ("{ posts(order: NEWST) { id } }", ["1:16: Order has no value NEWST; did you mean NEWEST?"]),
        ("{ posts(order: \"NEWEST\") { id } }", ["1:16: Root.posts(order:) is of type Order, but \"NEWEST\" is not"]),
        (
            "{ posts(filter: {range: {to: 1}, tag: 1, flags: [1]}) { id } }",
            [
                "1:25: Range requires the field from of type Int!", "1:34: Filter has no field tag; did you mean tags?",
                "1:50: Filter(flags:) is of type Boolean, but 1 is not",
            ]
        ),
        ("{ posts(filter: 1) { id } }", ["1:17: Root.posts(filter:) is of type Filter, but 1 is not"]),
        ("{ posts(text: [\"a\"]) { id } }", ["1:15: Root.posts(text:) is of type String, but [\"a\"] is not"]),
        ("{ posts(ids: [null]) { id } }", ["1:15: Root.posts(ids:) is of type ID!, which cannot be null"]),
        ("{ post(id: 1) { ...F } } fragment F on Pots { id }", ["1:40: there is no type Pots; did you mean Post?"]),
        ("{ post(id: 1) { ... on Date { id } } }", ["1:24: Date has no fields to select"]),
        (
            "{ post(id: 1) { ... on User { id } ...V } } fragment V on Video { length }",
            [
                "1:24: a fragment on User can never apply to Post", "1:39: a fragment on Video can never apply to Post",
            ]
        ),
        (
            "query Q($a: Itn) { posts(first: $a) { id } }",
            [
                "1:13: there is no type Itn; did you mean Int?"
            ]
        ),
        (
            "query Q($a: Post) { posts(filter: $a) { id } }",
            [
                "1:13: a variable cannot be of the output type Post"
            ]
        ),
        (
            "query Q($a: String!) { post(id: $a) { id } }",
            ["1:33: $a is of type String!, but ID! is required here"]
        ),
        ("query Q($a: ID) { post(id: $a) { id } }", ["1:28: $a is of type ID, but ID! is required here"]),
        ("query Q($a: ID = null) { post(id: $a) { id } }", ["1:35: $a is of type ID, but ID! is required here"]),
        ("query Q($a: ID) { posts(ids: [$a]) { id } }", ["1:31: $a is of type ID, but ID! is required here"]),
        ("query Q($a: ID) { posts(ids: $a) { id } }", ["1:30: $a is of type ID, but [ID!] is required here"]),
        ("query Q($a: [ID]) { posts(ids: $a) { id } }", ["1:32: $a is of type [ID], but [ID!] is required here"]),
        (
            "query Q($a: Int) { post(id: 1) { ...F } } fragment F on Post { image(size: $a) @skip(if: $a) }",
            [
                "1:90: $a is of type Int, but Boolean! is required here"
            ]
        ),
        ("query Q($a: Int = \"x\") { posts(first: $a) { id } }", ["1:19: $a is of type Int, but \"x\" is not"]),
        (
            "query Q($a: Int, $b: Int) { posts(first: $a) { id } }".replacing("$a: Int,", with: "$a: Int!,"),
            [
                "1:19: $b is declared but not used"
            ]
        ),
        ("{ search { __typename } } fragment F on Post { id }", ["1:27: the fragment F is defined but not used"]),
        ("{ search @cahed { __typename } }", ["1:10: there is no directive @cahed; did you mean cached?"]),
        ("query @skip(if: true) { search { __typename } }", ["1:7: @skip is not allowed at the location QUERY"]),
        (
            "{ search { ... @cached { __typename } } }",
            ["1:16: @cached is not allowed at the location INLINE_FRAGMENT"]
        ),
        ("{ search @skip(if: true) @skip(if: true) { __typename } }", ["1:26: @skip is used twice"]),
        ("{ search @include { __typename } }", ["1:11: @include requires the argument if of type Boolean!"]),
        ("subscription { tick b: other }", ["1:1: a subscription must have one root field, not tick, b"]),
        (
            "{ search { ... on Post { titel } } node(id: 1) { name } }",
            [
                "1:26: Post has no field titel; did you mean title?", "1:50: Node has no field name",
            ]
        ),
    ]

    @Test(arguments: broken)
    func invalidDocumentHasProblems(_ text: String, expected: [String]) throws {
        let found = try problems(text)
        #expect(found == expected)
    }

    /// Documents with random pieces of other documents: checking each against the schema must finish.
    @Test func randomlyChangedDocumentsAreChecked() throws {
        var noise = SeededGenerator(seed: 7)
        let originals = Self.broken.map { Array($0.0.utf8) }
        var read = 0
        for _ in 0..<3_000 {
            var bytes = originals[Int(noise.next() % UInt64(originals.count))]
            let other = originals[Int(noise.next() % UInt64(originals.count))]
            let start = Int(noise.next() % UInt64(other.count))
            let piece = other[start..<min(other.count, start + Int(noise.next() % 12))]
            bytes.insert(contentsOf: piece, at: Int(noise.next() % UInt64(bytes.count)))
            do throws(NetworkError) {
                let document = try GraphQLDocument(parsing: String(decoding: bytes, as: UTF8.self))
                let problems = schema.problems(in: document)
                #expect(problems.allSatisfy { $0.hasPrefix("1:") || $0.hasPrefix("2:") || $0.hasPrefix("3:") })
                read += 1
            } catch {
                #expect(error.kind == .badRequest)
            }
        }
        #expect(read > 100)
    }

    @Test func rootTypesHaveDefaultNames() throws {
        let schema = try GraphQLSchema(sdl: "type Query { a: Int } type Mutation { b: Int }")
        #expect(schema.problems(in: try GraphQLDocument(parsing: "query A { a } mutation B { b }")) == [])
        #expect(
            schema.problems(in: try GraphQLDocument(parsing: "subscription { a }"))
                == ["1:1: the schema has no subscription type"]
        )
    }

    private static let invalidSchemaThrowsArguments: [(String, String)] = [
        ("type A { b: C }", "the schema has no type C, which A.b refers to"),
        ("type A implements N { b: Int }", "the schema has no type N, which A refers to"),
        ("type A { b(c: D): Int }", "the schema has no type D, which A.b(c:) refers to"),
        ("schema { query: Q }", "the schema has no type Q for its query"),
        ("type A { b: Int } type A { c: Int }", "line 1, column 24: there is more than one type named A"),
        ("type A { b }", "line 1, column 12: expected \":\" and the field's type, found \"}\""),
        ("type A {}", "line 1, column 9: expected a field, found \"}\""),
        ("enum A { 1 }", "line 1, column 10: expected an enum value, found \"1\""),
        ("query { a }", "line 1, column 1: expected schema, scalar, type, interface, union"),
        ("directive @a FIELD", "line 1, column 14: expected \"on\" and the directive's locations"),
        ("input A { b: Int = $c }", "line 1, column 20: variables are not allowed in a constant value"),
        ("schema { querry: Q }", "line 1, column 10: expected query, mutation or subscription"),
        ("", "line 1, column 1: expected schema, scalar, type"),
        ("type A { b: " + String(repeating: "[", count: 10_000), "nested deeper than 200 levels"),
    ]

    @Test(arguments: Self.invalidSchemaThrowsArguments)
    func invalidSchemaThrows(_ sdl: String, message: String) {
        let error = #expect(throws: NetworkError.self) { try GraphQLSchema(sdl: sdl) }
        #expect(error?.message.contains(message) == true, "\(String(describing: error))")
        #expect(error?.kind == .badRequest)
    }

    @Test func everyPrefixOfASchemaIsParsedOrRejected() throws {
        for end in Self.sdl.unicodeScalars.indices {
            do throws(NetworkError) {
                _ = try GraphQLSchema(sdl: String(Self.sdl[..<end]))
            } catch {
                #expect(error.kind == .badRequest)
            }
        }
    }

    private static let introspection = """
        {"data": {"__schema": {
          "queryType": {"name": "Query"}, "mutationType": null, "subscriptionType": null,
          "types": [
            {"kind": "OBJECT", "name": "Query", "fields": [
              {"name": "post", "args": [
                {"name": "id", "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "ID"}}, "defaultValue": null},
                {"name": "n", "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "Int"}}, "defaultValue": "1"}
              ], "type": {"kind": "OBJECT", "name": "Post"}},
              {"name": "all", "args": [{"name": "in", "type": {"kind": "INPUT_OBJECT", "name": "In"}}],
               "type": {"kind": "LIST", "ofType": {"kind": "UNION", "name": "Any"}}}
            ], "inputFields": null, "interfaces": [], "enumValues": null, "possibleTypes": null},
            {"kind": "OBJECT", "name": "Post", "fields": [
              {"name": "id", "args": [], "type": {"kind": "SCALAR", "name": "ID"}}], "interfaces": [{"name": "Node"}]},
            {"kind": "INTERFACE", "name": "Node", "fields": [
              {"name": "id", "args": [], "type": {"kind": "SCALAR", "name": "ID"}}], "possibleTypes": [{"name": "Post"}]},
            {"kind": "UNION", "name": "Any", "possibleTypes": [{"name": "Post"}]},
            {"kind": "ENUM", "name": "Order", "enumValues": [{"name": "UP"}]},
            {"kind": "INPUT_OBJECT", "name": "In", "inputFields": [
              {"name": "order", "type": {"kind": "ENUM", "name": "Order"}, "defaultValue": null}]},
            {"kind": "SCALAR", "name": "ID"}
          ],
          "directives": [{"name": "live", "locations": ["QUERY"], "args": []}]
        }}}
        """

    @Test func introspectionResponseIsParsedAsASchema() throws {
        let schema = try GraphQLSchema(introspection: Data(Self.introspection.utf8))
        func problems(_ text: String) throws -> [String] { schema.problems(in: try GraphQLDocument(parsing: text)) }
        #expect(
            try problems(
                "query @live { post(id: 1) { id ... on Node { id } } all(in: {order: UP}) { ... on Post { id } } }"
            ) == []
        )
        #expect(
            try problems("{ post { x } all(in: {order: DOWN}) { __typename } }")
                == [
                    "1:3: Query.post requires the argument id of type ID!", "1:10: Post has no field x",
                    "1:30: Order has no value DOWN",
                ]
        )
        #expect(try problems("{ all { ... @defer { __typename } } }") == ["1:13: there is no directive @defer"])
        #expect(try problems("mutation { a }") == ["1:1: the schema has no mutation type"])
    }

    private static let invalidIntrospectionResponseThrowsArguments: [String] = [
        "{}", "[]", "{\"data\": null}", "{\"__schema\": {\"types\": []}}", "{\"__schema\": {\"types\": [{}]}}",
        "no json",
        #"{"types": [{"kind": "OBJECT", "name": "A", "fields": [{"name": "b", "type": {"kind": "LIST", "ofType": null}}]}]}"#,
    ]

    @Test(arguments: Self.invalidIntrospectionResponseThrowsArguments)
    func invalidIntrospectionResponseThrows(_ json: String) {
        #expect(throws: NetworkError.self) { try GraphQLSchema(introspection: Data(json.utf8)) }
    }
}
