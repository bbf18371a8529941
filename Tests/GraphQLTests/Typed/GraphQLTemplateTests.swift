import BeagleNetGraphQL
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct GraphQLTemplateTests {
    private struct Post: Decodable {
        let id: String
    }

    private enum Blog {
        static let post = GraphQLTemplate(
            "query Post($id: ID!) { post(id: $id) { id } }",
            returning: Post.self,
            variables: GraphQLVariable("id", String.self)
        )
        static let posts = GraphQLTemplate(
            """
            query Posts($first: Int! = 10, $tags: [String!], $after: String, $since: Date, $order: Order!) {
              posts(first: $first, tags: $tags, after: $after, since: $since, order: $order) { id }
            }
            """,
            returning: [Post].self,
            variables: GraphQLVariable("order", Order.self),
            GraphQLVariable("first", GraphQLNullable<Int>.self),
            GraphQLVariable("after", String?.self),
            GraphQLVariable("tags", [String].self)
        )
        static let everything = GraphQLTemplate("{ all { id } }", returning: [Post].self)
    }

    private enum Order: String, Encodable {
        case newest = "NEWEST"
    }

    private func variables(_ operation: GraphQLOperation<GraphQLSelection.Arguments, some Decodable>) throws -> String {
        String(decoding: try operation.request().variables, as: UTF8.self)
    }

    @Test func callingTheTemplateCreatesTheOperation() throws {
        let operation = try Blog.post("1")
        #expect(try variables(operation) == #"{"id":"1"}"#)
        #expect(operation.operationString == "query Post($id: ID!) { post(id: $id) { id } }")
        #expect(try operation.request().operationName == "Post")
        #expect(try Blog.everything().request().variables.isEmpty)
    }

    @Test func nilIsSentAsNullAndNoneIsOmitted() throws {
        #expect(
            try variables(Blog.posts(.newest, .none, nil, [])) == #"{"after":null,"order":"NEWEST","tags":[]}"#
        )
        #expect(
            try variables(Blog.posts(.newest, 5, "x", ["a"]))
                == #"{"after":"x","first":5,"order":"NEWEST","tags":["a"]}"#
        )
    }

    @Test func operationNameAndRootArePassedToTheOperation() throws {
        let template = GraphQLTemplate(
            "query A { a b } query B { b }",
            returning: Post.self,
            operationName: "A",
            root: .field("b")
        )
        let operation = try template()
        #expect(operation.operationName == "A")
        #expect(operation.root == .field("b"))
    }

    private func problem<each Value>(
        _ declared: String,
        _ variables: repeat GraphQLVariable<each Value>
    ) -> String? {
        let uses = "a: __typename"
        let text = GraphQLText(verbatim: "query Q(\(declared)) { \(uses) }")
        do throws(NetworkError) {
            try GraphQLTemplate(text, returning: Post.self, variables: repeat each variables).check()
            return nil
        } catch {
            let start = "the template of Q does not match its document: "
            #expect(error.kind == .badRequest && error.message.hasPrefix(start))
            return String(error.message.dropFirst(start.count))
        }
    }

    @Test func matchingVariablesPassTheCheck() {
        #expect(problem("$a: ID!", GraphQLVariable("a", Int.self)) == nil)
        #expect(problem("$a: Float!", GraphQLVariable("a", Int32.self)) == nil)
        #expect(problem("$a: Boolean", GraphQLVariable("a", Bool?.self)) == nil)
        #expect(problem("$a: String", GraphQLVariable("a", String.self)) == nil)
        #expect(problem("$a: String!", GraphQLVariable("a", UUID.self)) == nil)
        #expect(problem("$a: [[Int!]]!", GraphQLVariable("a", [[Int]?].self)) == nil)
        #expect(problem("$a: [ID!]", GraphQLVariable("a", GraphQLNullable<Set<String>>.self)) == nil)
        #expect(problem("$a: Anything!", GraphQLVariable("a", [String: Int].self)) == nil)
        #expect(problem("$a: Int! = 1, $b: Int", GraphQLVariable("b", Int.self)) == nil)
    }

    @Test func mismatchedVariablesFailTheCheck() {
        #expect(
            problem("$a: Int", GraphQLVariable("b", Int.self)) == "$b is given, but the document does not declare it"
        )
        #expect(
            problem("$a: Int!, $b: Int", GraphQLVariable("b", Int.self))
                == "$a of type Int! is declared, but the template does not give it"
        )
        #expect(
            problem("$a: Int!", GraphQLVariable("a", String.self))
                == "$a is declared as Int!, but a string is not of type Int"
        )
        #expect(
            problem("$a: Int!", GraphQLVariable("a", Double.self))
                == "$a is declared as Int!, but a number is not of type Int"
        )
        #expect(
            problem("$a: String!", GraphQLVariable("a", Int.self))
                == "$a is declared as String!, but an integer is not of type String"
        )
        #expect(
            problem("$a: [Int!]", GraphQLVariable("a", [Int?].self))?.contains("in the list, nil would be sent as null")
                == true
        )
        #expect(
            problem("$a: [Int]", GraphQLVariable("a", Int.self))
                == "$a is declared as [Int], but an integer is not a list"
        )
        #expect(
            problem("$a: Int", GraphQLVariable("a", [Int].self))
                == "$a is declared as Int, but a list is not of type Int"
        )
        #expect(problem("$a: Int!", GraphQLVariable("a", Int?.self))?.contains("nil would be sent as null") == true)
        #expect(problem("$a: Int! = 1", GraphQLVariable("a", Int?.self))?.contains("nil would be sent as null") == true)
        #expect(
            problem("$a: Int!", GraphQLVariable("a", GraphQLNullable<Int>.self))?
                .contains("a GraphQLNullable can be null or omitted") == true
        )
        #expect(
            problem("$a: Int", GraphQLVariable("a", Int.self), GraphQLVariable("a", Int.self)) == "$a is given twice"
        )
    }

    @Test func callingThrowsTheSameErrorAsTheCheck() {
        let broken = GraphQLTemplate("query Q($a: Int!) { b }", returning: Post.self)
        for _ in 0..<2 {
            let error = #expect(throws: NetworkError.self) { try broken() }
            #expect(error?.message.hasSuffix("$a of type Int! is declared, but the template does not give it") == true)
        }
        let noGraphQL = GraphQLTemplate("query Q(", returning: Post.self)
        #expect(throws: NetworkError.self) { try noGraphQL() }
    }
}
