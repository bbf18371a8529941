import BeagleNetGraphQL
import Foundation
import Testing

/// Input objects that require exactly one member (GraphQL specification, 3.10.1, 5.6.1, 5.8.5).
struct OneOfTests {
    private static let sdl = """
        type Query { find(by: By, all: [By!], in: In): Int }
        input By @oneOf { id: ID  name: String  place: Place  or: By }
        input Place { x: Int! y: Int }
        input In { by: By! }
        """
    private static let introspection = """
        {"__schema": {"queryType": {"name": "Query"}, "types": [
          {"kind": "SCALAR", "name": "Int"}, {"kind": "SCALAR", "name": "ID"}, {"kind": "SCALAR", "name": "String"},
          {"kind": "OBJECT", "name": "Query", "fields": [{"name": "find", "type": {"kind": "SCALAR", "name": "Int"}, "args": [
            {"name": "by", "type": {"kind": "INPUT_OBJECT", "name": "By"}},
            {"name": "all", "type": {"kind": "LIST", "ofType": {"kind": "NON_NULL", "ofType": {"kind": "INPUT_OBJECT", "name": "By"}}}},
            {"name": "in", "type": {"kind": "INPUT_OBJECT", "name": "In"}}]}]},
          {"kind": "INPUT_OBJECT", "name": "By", "isOneOf": true, "inputFields": [
            {"name": "id", "type": {"kind": "SCALAR", "name": "ID"}}, {"name": "name", "type": {"kind": "SCALAR", "name": "String"}},
            {"name": "place", "type": {"kind": "INPUT_OBJECT", "name": "Place"}},
            {"name": "or", "type": {"kind": "INPUT_OBJECT", "name": "By"}}]},
          {"kind": "INPUT_OBJECT", "name": "Place", "isOneOf": false, "inputFields": [
            {"name": "x", "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "Int"}}},
            {"name": "y", "type": {"kind": "SCALAR", "name": "Int"}}]},
          {"kind": "INPUT_OBJECT", "name": "In", "inputFields": [
            {"name": "by", "type": {"kind": "NON_NULL", "ofType": {"kind": "INPUT_OBJECT", "name": "By"}}}]}]}}
        """

    private func problems(_ text: String) throws -> [[String]] {
        let document = try GraphQLDocument(parsing: text)
        return [
            try GraphQLSchema(sdl: Self.sdl).problems(in: document),
            try GraphQLSchema(introspection: Data(Self.introspection.utf8)).problems(in: document),
        ]
    }

    private static let exactlyOneMemberHasNoProblemsArguments: [String] = [
        "{ find(by: {id: 1}) }", "{ find(by: {name: \"a\"}) }", "{ find(by: null) }", "{ find }",
        "{ find(by: {place: {x: 1, y: null}}) }", "{ find(all: [{id: 1}, {name: \"a\"}]) }",
        "{ find(in: {by: {id: 1}}) }",
        "{ find(by: {or: {or: {id: 1}}}) }", "query($a: ID!) { find(by: {id: $a}) }", "query($a: By) { find(by: $a) }",
        "query($a: ID = 1) { find(by: {id: $a}) }", "query($a: By = {id: 1}) { find(by: $a) }",
        "query($x: Int!) { find(by: {place: {x: $x, y: $x}}) }", "query($a: By!) { find(by: {or: $a}) }",
    ]

    @Test(arguments: Self.exactlyOneMemberHasNoProblemsArguments)
    func exactlyOneMemberHasNoProblems(_ text: String) throws {
        #expect(try problems(text) == [[], []])
    }

    private static let needs = "By requires exactly one of id, name, or, place"

    private static let otherNumberOfMembersIsReportedArguments: [(String, [String])] = [
        ("{ find(by: {}) }", ["1:12: \(needs)"]),
        ("{ find(by: {id: 1, name: \"a\"}) }", ["1:12: \(needs)"]),
        (
            "{ find(by: {id: 1, name: null}) }",
            ["1:12: \(needs)", "1:26: By(name:) is of type String!, which cannot be null"]
        ),
        ("{ find(by: {id: null}) }", ["1:17: By(id:) is of type ID!, which cannot be null"]),
        ("{ find(by: {id: true}) }", ["1:17: By(id:) is of type ID, but true is not"]),
        ("{ find(by: {key: 1}) }", ["1:13: By has no field key"]),
        ("{ find(all: [{id: 1}, {}]) }", ["1:23: \(needs)"]),
        ("{ find(in: {by: {id: 1, or: {}}}) }", ["1:17: \(needs)", "1:29: \(needs)"]),
        ("query($a: ID) { find(by: {id: $a}) }", ["1:31: $a is of type ID, but ID! is required here"]),
        ("query($a: ID = null) { find(by: {id: $a}) }", ["1:38: $a is of type ID, but ID! is required here"]),
        ("query($a: By) { find(by: {or: $a}) }", ["1:31: $a is of type By, but By! is required here"]),
        (
            "query($a: ID!, $b: String!) { find(by: {id: $a, name: $b}) }",
            ["1:40: \(needs)"]
        ),
        ("query($a: By = {id: 1, name: \"a\"}) { find(by: $a) }", ["1:16: \(needs)"]),
    ]

    @Test(arguments: Self.otherNumberOfMembersIsReportedArguments)
    func otherNumberOfMembersIsReported(_ text: String, expected: [String]) throws {
        #expect(try problems(text) == [expected, expected])
    }

    @Test(arguments: ["id: ID!", "id: ID = 1"]) func requiredMemberInAOneOfIsRejected(member: String) {
        let sdl = "type Query { a(b: By): Int } input By @oneOf { \(member) name: String }"
        let error = #expect(throws: NetworkError.self) { try GraphQLSchema(sdl: sdl) }
        #expect(error?.message.contains("By is a oneOf, but By.id") == true)
    }

    @Test func extensionCanAddOneOf() throws {
        let sdl = "type Query { a(b: By): Int } input By { id: ID } extend input By @oneOf { name: String }"
        let found = try GraphQLSchema(sdl: sdl).problems(in: GraphQLDocument(parsing: "{ a(b: {}) }"))
        #expect(found == ["1:8: By requires exactly one of id, name"])
    }
}
