import BeagleNetGraphQL
import Testing

/// Whether fields with the same response key can be merged (GraphQL specification, 5.3.2).
@Suite(.timeLimit(.minutes(5))) struct FieldMergeValidatorTests {
    private let schema: GraphQLSchema

    init() throws {
        schema = try GraphQLSchema(
            sdl: """
                type Query { boat(id: ID, at: Place): Boat  craft: Craft  any: [Any!]!  dock: Dock }
                input Place { x: Int y: Int tags: [String] }
                interface Craft { name: String  length(unit: Unit): Float  owner: Person }
                enum Unit { M FT }
                type Boat implements Craft {
                  name: String  length(unit: Unit): Float  owner: Person  sails: Int  crew: [Person]  tag: String!  twin: Boat
                }
                type Plane implements Craft {
                  name: String  length(unit: Unit): Float  owner: Person  seats: Int  crew: [Person!]  tag: String  twin: Plane
                }
                type Person { id: ID  name: String  age: Int  boat: Boat  friends: [Person] }
                type Dock { name: ID  owner: Dock  crew: Person  unit: Unit  twin: String }
                union Any = Boat | Plane | Dock
                """
        )
    }

    private func problems(_ text: String) throws -> [String] {
        schema.problems(in: try GraphQLDocument(parsing: text))
    }

    private static let mergeableFieldsHaveNoProblemsArguments: [String] = [
        // The same field twice, at any depth, with arguments in any order.
        "{ boat { name name } boat { sails } }",
        "{ boat(id: 1, at: {x: 1, y: 2}) { name } boat(at: {y: 2, x: 1}, id: 1) { name } }",
        "query($a: ID) { boat(id: $a) { name } boat(id: $a) { sails } }",
        "{ boat(at: {tags: [\"a\", \"b\"]}) { name } boat(at: {tags: [\"a\" # b\n \"b\"]}) { name } }",
        "{ boat { ...A ... on Boat { name sails } } } fragment A on Boat { name ...B } fragment B on Boat { sails name }",
        "{ boat { owner { name } } ... { boat { owner { age } } } }",
        // Aliases keep the fields apart.
        "{ a: boat(id: 1) { name } b: boat(id: 2) { name } }",
        "{ boat { a: sails name } craft { a: name name } }",
        // No object can have both types.
        "{ craft { ... on Boat { n: sails } ... on Plane { n: seats } } }",
        "{ craft { ... on Boat { length(unit: M) } ... on Plane { length(unit: FT) } } }",
        "{ any { ... on Boat { owner { n: name } } ... on Plane { owner { n: name } } } }",
        "{ any { ... on Boat { p: owner { x: boat { sails } } } ... on Plane { p: owner { x: boat { name } } } } }",
        "{ any { ... on Boat { owner { boat(  ) { n: sails } } } } }".replacing("(  )", with: ""),
        "{ craft { ... on Boat { owner { n: age } } ... on Plane { owner { n: age } } } }",
        // Composite types with different names have the same shape.
        "{ any { ... on Boat { owner { __typename } } ... on Dock { owner { __typename } } } }",
        "{ any { ... on Boat { owner { n: id } } ... on Dock { owner { n: name } } } }",
        "{ any { ... on Dock { twin } ... on Person { n: name } } }".replacing(" ... on Person { n: name }", with: ""),
        "{ craft { name ... on Boat { name } ... on Plane { name } } }",
        "{ any { __typename ... on Boat { __typename } } }",
    ]

    @Test(arguments: Self.mergeableFieldsHaveNoProblemsArguments)
    func mergeableFieldsHaveNoProblems(_ text: String) throws {
        #expect(try problems(text) == [])
    }

    private static let broken: [(String, [String])] = [
        ("{ boat { name name: sails } }", ["1:15: name is the field sails, but the field name at 1:10"]),
        ("{ boat { a: name a: tag } }", ["1:18: a is the field tag, but the field name at 1:10"]),
        ("{ boat { n: id } }", ["1:13: Boat has no field id"]),
        ("{ boat { owner { n: name n: id } } }", ["1:26: n is the field id, but the field name at 1:18"]),
        ("{ a: craft { name } a: boat { name } }", ["1:21: a is the field boat, but the field craft at 1:3"]),
        ("{ boat(id: 1) { name } boat(id: 2) { name } }", ["1:24: boat has different arguments than at 1:3"]),
        ("{ boat(id: 1) { name } boat { name } }", ["1:24: boat has different arguments than at 1:3"]),
        (
            "query($a: ID, $b: ID) { boat(id: $a) { name } boat(id: $b) { name } }",
            ["1:47: boat has different arguments"]
        ),
        ("query($a: ID) { boat(id: $a) { name } boat(id: \"a\") { name } }", ["1:39: boat has different arguments"]),
        (
            "{ boat(at: {x: 1}) { name } boat(at: {x: 1, y: null}) { name } }",
            ["1:29: boat has different arguments than at 1:3"]
        ),
        (
            "{ boat(at: {tags: [\"a\", \"b\"]}) { name } boat(at: {tags: [\"b\", \"a\"]}) { name } }",
            ["1:41: boat has different arguments than at 1:3"]
        ),
        // In fragments, and with another parent type.
        (
            "{ boat { ...A n: sails } } fragment A on Boat { n: crew { id } }",
            ["1:49: n is the field crew, but the field sails at 1:15"]
        ),
        ("{ craft { n: name ... on Boat { n: sails } } }", ["1:33: n is the field sails, but the field name at 1:11"]),
        ("{ craft { length(unit: M) ... on Boat { length } } }", ["1:41: length has different arguments than at 1:11"]),
        ("{ craft { n: name ... on Boat { n: tag } } }", ["1:33: n is the field tag, but the field name at 1:11"]),
        // No object can have both types, but the responses have different shapes.
        (
            "{ craft { ... on Boat { n: sails } ... on Plane { n: tag } } }",
            ["1:51: n is of type String, but of type Int"]
        ),
        (
            "{ any { ... on Boat { tag } ... on Plane { tag } } }",
            ["1:44: tag is of type String, but of type String! at 1:23"]
        ),
        (
            "{ any { ... on Boat { crew { id } } ... on Plane { crew { id } } } }",
            ["1:52: crew is of type [Person!], but of type [Person] at 1:23"]
        ),
        (
            "{ any { ... on Boat { crew { id } } ... on Dock { crew { id } } } }",
            ["1:51: crew is of type Person, but of type [Person] at 1:23"]
        ),
        (
            "{ any { ... on Boat { twin { name } } ... on Dock { twin } } }",
            ["1:53: twin is of type String, but of type Boat at 1:23"]
        ),
        (
            "{ any { ... on Boat { owner { n: age } } ... on Dock { owner { n: name } } } }",
            ["1:64: n is of type ID, but of type Int at 1:31"]
        ),
        (
            "{ any { ... on Boat { twin { n: sails } } ... on Plane { twin { n: name } } } }",
            ["1:65: n is of type String, but of type Int at 1:30"]
        ),
        // In the selections of merged fields.
        (
            "{ boat { owner { n: name } } boat { owner { n: friends { id } } } }",
            ["1:45: n is the field friends, but the field name at 1:18"]
        ),
        (
            "{ boat { owner { boat { a: length(unit: M) } } } boat { owner { boat { a: length(unit: FT) } } } }",
            ["1:72: a has different arguments than at 1:25"]
        ),
        // Each field is reported once, and unused fragments are checked, too.
        (
            "{ boat { n: name n: sails n: sails } }",
            [
                "1:18: n is the field sails, but the field name at 1:10",
                "1:27: n is the field sails, but the field name at 1:10",
            ]
        ),
        (
            "{ boat { name } } fragment F on Boat { n: name n: sails }",
            ["1:19: the fragment F is defined but not used", "1:48: n is the field sails, but the field name at 1:40"]
        ),
        (
            "query A { boat { ...F } } query B { boat { ...F } } fragment F on Boat { n: name n: sails }",
            ["1:82: n is the field sails, but the field name at 1:74"]
        ),
    ]

    @Test(arguments: broken)
    func conflictingFieldsAreReportedWithBothPositions(_ text: String, expected: [String]) throws {
        let found = try problems(text)
        #expect(found.count == expected.count, "\(found)")
        for (found, expected) in zip(found, expected) { #expect(found.hasPrefix(expected)) }
    }

    private static let manyFieldsWithTheSameKeyAreCheckedQuicklyArguments: [String] = [
        "{ \(String(repeating: "boat { name sails } ", count: 20_000)) }",
        "{ \(String(repeating: "craft { ... on Boat { n: sails } ... on Plane { n: seats } } ", count: 5_000)) }",
        "{ boat { \(String(repeating: "...F ", count: 1_000)) } } fragment F on Boat { \(String(repeating: "name ", count: 1_000)) }",
        doubling(200), chain(2_000),
        "{ boat \(String(repeating: "{ twin ", count: 150)) { name } \(String(repeating: "}", count: 150)) }",
    ]

    /// Comparing every pair of fields, or following every path to a fragment, would take hours for these documents.
    @Test(arguments: Self.manyFieldsWithTheSameKeyAreCheckedQuicklyArguments)
    func manyFieldsWithTheSameKeyAreCheckedQuickly(_ text: String) throws {
        #expect(try problems(text) == [])
    }

    @Test func manyConflictingFieldsAreReportedOnceEach() throws {
        let text = "{ boat { \((1...1_000).map { "n: length(unit: M) n: sails # \($0)\n" }.joined()) } }"
        #expect(try problems(text).count == 1_000)
    }

    /// Each fragment leads to the next through two fields, so there are 2^count paths to the last.
    private static func doubling(_ count: Int) -> String {
        "{ boat { ...F0 } } "
            + (0..<count).map { "fragment F\($0) on Boat { a: twin { ...F\($0 + 1) } b: twin { ...F\($0 + 1) } } " }
            .joined()
            + "fragment F\(count) on Boat { name }"
    }

    /// Fragments that each contain the next.
    private static func chain(_ count: Int) -> String {
        "{ boat { ...F0 } } " + (0..<count).map { "fragment F\($0) on Boat { twin { ...F\($0 + 1) } } " }.joined()
            + "fragment F\(count) on Boat { name }"
    }

    @Test func tooManyCombinationsAreReportedAsUnchecked() throws {
        // The set of merged fragments depends on which of the last steps went through `a`: there are 2^depth such sets.
        let depth = 22
        func spread(_ level: Int, _ numbers: Int...) -> String {
            "twin { \(numbers.filter { $0 <= depth }.map { "...F\(level)x\($0)" }.joined(separator: " ")) name }"
        }
        var text = "{ boat { ...F0x0 } } "
        for level in 0...depth {
            for number in 0...min(level, depth) {
                let (a, b) =
                    number == 0
                    ? (spread(level + 1, 0, 1), spread(level + 1, 0))
                    : (spread(level + 1, number + 1), spread(level + 1, number + 1))
                text += "fragment F\(level)x\(number) on Boat { \(level == depth ? "name" : "a: \(a) b: \(b)") } "
            }
        }
        let problems = try problems(text)
        #expect(problems == ["1:1: cannot check whether all fields can be merged: there are too many"])
    }
}
