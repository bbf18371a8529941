import BeagleNetGraphQL
import Testing

struct GraphQLDocumentTests {
    @Test func shorthandIsAnUnnamedQuery() throws {
        let operation = try GraphQLDocument(parsing: "{ post { id } }").operation()
        #expect(operation.name == nil)
        #expect(operation.kind == .query)
        #expect(operation.variables.isEmpty)
        #expect(operation.responseKeys == ["post"])
    }

    @Test func operationsHaveNameKindAndVariables() throws {
        let document = try GraphQLDocument(
            parsing: """
                query Posts($ids: [ID!]! = ["1", "2"], $first: Int = 10 @old, $filter: Filter) { posts { id } }
                mutation Add { add { id } }
                subscription Added { added { id } }
                """
        )
        #expect(document.operations.map(\.name) == ["Posts", "Add", "Added"])
        #expect(document.operations.map(\.kind) == [.query, .mutation, .subscription])
        let variables = document.operations[0].variables
        #expect(variables.map(\.name) == ["ids", "first", "filter"])
        #expect(variables.map(\.type.description) == ["[ID!]!", "Int", "Filter"])
        #expect(variables.map(\.defaultValue) == [#"["1", "2"]"#, "10", nil])
        #expect(variables.map(\.isOptional) == [true, true, true])
        #expect(variables[0].type == .nonNull(.list(.nonNull(.named("ID")))))
    }

    @Test func rootFieldsAreTheResponseKeysInOrder() throws {
        let document = try GraphQLDocument(
            parsing: """
                query { __typename first: post(id: 1) { id } ...More ... @include(if: false) { third } first: post(id: 1) { body } ... on Query { fourth } }
                fragment More on Query { second ...Again t: __typename }
                fragment Again on Query { again ... on Query { last @skip(if: true) } }
                """
        )
        let operation = try document.operation()
        #expect(
            operation.rootFields.map(\.key)
                == ["__typename", "first", "second", "again", "last", "t", "third", "fourth"]
        )
        #expect(operation.rootFields.map(\.name)[0...2] == ["__typename", "post", "second"])
        #expect(operation.responseKeys == ["first", "second", "again", "last", "third", "fourth"])
        #expect(document.fragments == ["More", "Again"])
    }

    @Test func deferAndStreamAreDetectedIfTheOperationReachesThem() throws {
        let document = try GraphQLDocument(
            parsing: """
                query Plain { a }
                query Late { a ... @defer(label: "x") { b } }
                query Parts { ...F }
                fragment F on Query { list @stream(initialCount: 1) { id } }
                """
        )
        #expect(document.operations.map(\.usesDefer) == [false, true, false])
        #expect(document.operations.map(\.usesStream) == [false, false, true])
        #expect(document.usesDefer && document.usesStream)
    }

    @Test func documentWithSeveralOperationsRequiresAName() throws {
        let document = try GraphQLDocument(parsing: "query A { a } query B { b }")
        #expect(try document.operation(named: "B").responseKeys == ["b"])
        let several = #expect(throws: NetworkError.self) { try document.operation() }
        #expect(several?.message == "the document has 2 operations, but no operation name was given")
        #expect(several?.advice == "use one of these names: A, B")
        let unknown = #expect(throws: NetworkError.self) { try document.operation(named: "C") }
        #expect(unknown?.message == "the document has no operation named C")
        #expect(unknown?.advice == "use one of these names: A, B")
        #expect(unknown?.kind == .badRequest && unknown?.phase == .build && unknown?.mayHaveReachedServer == false)
    }

    @Test func missingOperationThrowsWhenItIsRequested() throws {
        let fragments = try GraphQLDocument(parsing: "fragment F on Post { id }")
        #expect(fragments.operations.isEmpty)
        let nothing = #expect(throws: NetworkError.self) { try fragments.operation() }
        #expect(nothing?.message == "the document has only fragments and no operation")
        let anonymous = try GraphQLDocument(parsing: "{ a }")
        let unnamed = #expect(throws: NetworkError.self) { try anonymous.operation(named: "A") }
        #expect(unnamed?.advice == "omit the name: the only operation is unnamed")
    }

    /// The two texts from GraphQL over HTTP, appendix A.
    @Test func hashIsComputedFromTheExactText() throws {
        let written = try GraphQLDocument(parsing: "query ($id: ID!) {\n  user(id: $id) {\n    name\n  }\n}")
        #expect(try written.hash == "7dba4bd717b41f10434822356a93c32b1fb4907b983e854300ad839f84cdcd6e")
        #expect(written.minified == "query($id:ID!){user(id:$id){name}}")
        let minified = try GraphQLDocument(parsing: written.minified)
        #expect(try minified.hash == "71f7dc5758652baac68e4a10c50be732b741c892ade2883a99358f52b555286b")
        #expect(try minified.hash == minified.hash)
    }

    @Test func documentsAreEqualIfTheirBytesAreEqual() throws {
        let composed = try GraphQLDocument(parsing: "{ a(b: \"\u{E9}\") }")
        let decomposed = try GraphQLDocument(parsing: "{ a(b: \"e\u{301}\") }")
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        #expect(try composed == GraphQLDocument(parsing: composed.text))
        #expect(try Set([composed, decomposed, GraphQLDocument(parsing: composed.text)]).count == 2)
    }
}
