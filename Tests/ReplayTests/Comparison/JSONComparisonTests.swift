import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

struct JSONComparisonTests {
    private func document(_ text: String) throws -> ParsedJSON { try ParsedJSON(Array(text.utf8)) }

    private func differences(_ one: String, _ other: String, _ rules: ComparisonRules = .init()) throws -> [String] {
        JSONComparison.differences(try document(one), try document(other), rules).list.map(\.description)
    }

    /// Compares in both directions, because equivalence is symmetric.
    private func expect(
        _ one: String,
        _ other: String,
        _ rules: ComparisonRules,
        _ expected: [String],
        _ reversed: [String]? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let there = try differences(one, other, rules)
        #expect(there == expected, sourceLocation: location)
        let back = try differences(other, one, rules)
        guard let reversed else { return #expect(back.count == expected.count, sourceLocation: location) }
        #expect(back == reversed, sourceLocation: location)
    }

    private static let equivalentDocumentsHaveNoDifferencesArguments: [(String, String)] = [
        (#"{"a":1,"b":[true,null]}"#, #" { "b" : [ true,null ] , "a":1 } "#), ("1", "1.0"), ("1", "1e0"),
        ("100", "1E+2"), ("0", "-0.0e5"), ("0.1", "1e-1"), ("-10.50", "-105e-1"),
        ("12345678901234567890123", "12345678901234567890123.0"), (#""\u0041\/\n""#, "\"A/\\u000a\""),
        (#""\ud83d\ude00""#, "\"😀\""), (#"{"a":1,"a":2}"#, #"{"a":2}"#),
        ("1e99999999999999999999", "1E99999999999999999999"), ("1e-9223372036854775808", "1E-9223372036854775808"),
        ("10e1152921504606846975", "1e1152921504606846976"),
    ]

    @Test(arguments: Self.equivalentDocumentsHaveNoDifferencesArguments)
    func equivalentDocumentsHaveNoDifferences(_ one: String, _ other: String) throws {
        try expect(one, other, .init(), [])
    }

    private static let differentDocumentsDifferArguments: [(String, String, [String])] = [
        ("1", "2", ["$: 1 → 2"]),
        (
            "12345678901234567890123", "12345678901234567890124",
            ["$: 12345678901234567890123 → 12345678901234567890124"]
        ),
        ("0.1", "0.10000000000000000001", ["$: 0.1 → 0.10000000000000000001"]),
        ("1e400", "1e401", ["$: 1e400 → 1e401"]),
        ("1e-9223372036854775808", "1e9223372036854775807", ["$: 1e-9223372036854775808 → 1e9223372036854775807"]),
        ("1e99999999999999999999", "1e99999999999999999998", ["$: 1e99999999999999999999 → 1e99999999999999999998"]),
        ("1", "-1", ["$: 1 → -1"]), (#""1""#, "1", [#"$: "1" → 1"#]), ("null", "false", ["$: null → false"]),
        ("true", "false", ["$: true → false"]), ("{}", "[]", ["$: {} → []"]),
        (#""é""#, "\"e\u{301}\"", ["$: \"é\" → \"e\u{301}\""]),
        (#"{"é":1}"#, "{\"e\u{301}\":1}", ["$.é: removed 1", "$.e\u{301}: added 1"]),
        (#"{"a":{"b":[0,{"c d":1}]}}"#, #"{"a":{"b":[0,{"c d":2}]}}"#, ["$.a.b[1]['c d']: 1 → 2"]),
        (#"{"a":1}"#, #"{"b":1}"#, ["$.a: removed 1", "$.b: added 1"]), (#"{"a":null}"#, "{}", ["$.a: removed null"]),
        (#"{"a":"x"}"#, #"{"a":null}"#, [#"$.a: "x" → null"#]),
    ]

    @Test(arguments: Self.differentDocumentsDifferArguments)
    func differentDocumentsDiffer(_ one: String, _ other: String, _ expected: [String]) throws {
        try expect(one, other, .init(), expected)
    }

    private static let arraysAreComparedInOrderArguments: [(String, String, [String], [String]?)] = [
        ("[1,2,3]", "[1,3]", ["$[1]: removed 2"], ["$[1]: added 2"]),
        ("[1,2]", "[0,1,2]", ["$[0]: added 0"], ["$[0]: removed 0"]),
        ("[1,2,3,4]", "[1,9,3,4]", ["$[1]: 2 → 9"], ["$[1]: 9 → 2"]),
        ("[]", "[[]]", ["$[0]: added []"], ["$[0]: removed []"]),
        ("[1,1,1]", "[1,1]", ["$[2]: removed 1"], ["$[2]: added 1"]),
        (
            #"[{"n":1},{"n":2},{"n":3},{"n":4}]"#, #"[{"n":0},{"n":1},{"n":3},{"n":4,"x":5}]"#,
            ["$[1]: removed {\"n\": 2}", "$[3].x: added 5", "$[0]: added {\"n\": 0}"], nil
        ),
    ]

    @Test(arguments: Self.arraysAreComparedInOrderArguments)
    func arraysAreComparedInOrder(_ one: String, _ other: String, _ expected: [String], _ back: [String]?) throws {
        try expect(one, other, .init(), expected, back)
    }

    @Test func elementsWithAKeyAreReportedAsMoved() throws {
        var rules = ComparisonRules()
        rules.arrays = [.init(try JSONPath("$.items"), .key("id"))]
        try expect(
            #"{"items":[{"id":1,"n":"a"},{"id":2},{"id":3},{"id":"x"}]}"#,
            #"{"items":[{"id":3},{"id":1.0,"n":"b"},{"id":2},{"id":"x"}]}"#,
            rules,
            [#"$.items[id=1].n: "a" → "b""#, "$.items[id=3]: moved from [2] to [0]"],
            ["$.items[id=3]: moved from [0] to [2]", #"$.items[id=1.0].n: "b" → "a""#]
        )
        try expect(
            #"{"items":[{"id":1},{"id":2}]}"#,
            #"{"items":[{"id":2},{"id":4},{}]}"#,
            rules,
            ["$.items[id=1]: removed {\"id\": 1}", "$.items[id=4]: added {\"id\": 4}", "$.items[2]: added {}"]
        )
    }

    @Test func elementsWithTheSameKeyAreMatchedInOrder() throws {
        var rules = ComparisonRules()
        rules.arrays = [.init(try JSONPath("$"), .key("id"))]
        try expect(
            #"[{"id":1,"a":1},{"id":1,"a":2}]"#,
            #"[{"id":1,"a":1},{"id":1,"a":3}]"#,
            rules,
            ["$[id=1].a: 2 → 3"]
        )
    }

    @Test func orderOfSetsIsIgnored() throws {
        var rules = ComparisonRules()
        rules.arrays = [.init(try JSONPath("$.tags"), .set), .init(try JSONPath("$..deep"), .set)]
        try expect(#"{"tags":["a","b",1,[{"deep":[1,2]}]]}"#, #"{"tags":[[{"deep":[2.0,1]}],1.0,"b","a"]}"#, rules, [])
        try expect(
            #"{"tags":["a","b","b"]}"#,
            #"{"tags":["b","c","a"]}"#,
            rules,
            [#"$.tags[2]: removed "b""#, #"$.tags[1]: added "c""#]
        )
        try expect(
            #"{"tags":["REDACTED","b"]}"#,
            #"{"tags":["b","s3cret"]}"#,
            rules,
            [],
            [
                #"$.tags[1]: removed "s3cret""#, #"$.tags[0]: added "REDACTED""#,
            ]
        )
        let (recorded, answered) = (
            #"{"tags":[{"id":1,"token":"REDACTED"},{"id":2,"token":"REDACTED"}]}"#,
            #"{"tags":[{"id":2,"token":"b"},{"id":1,"token":"a"}]}"#
        )
        #expect(try differences(recorded, answered, rules).isEmpty)
    }

    @Test func toleranceIsRelativeToTheLargerNumber() throws {
        var rules = ComparisonRules()
        rules.tolerance = 0.01
        try expect("[1, 100, 1, 0]", "[1.005, 101, 0.995, 0.009]", rules, [])
        try expect("[100, 0.001]", "[102, 0.02]", rules, ["$[0]: 100 → 102", "$[1]: 0.001 → 0.02"])
        rules.arrays = [.init(try JSONPath("$"), .set)]
        try expect("[1, 5]", "[5.001, 1.005]", rules, [])
    }

    @Test func ignoredPathsAreNotCompared() throws {
        var rules = ComparisonRules()
        rules.ignoredPaths = try ["$..timestamp", "$.a[*].b", "$.c[1]", "$['d.e']"].map { path throws in
            try JSONPath(path)
        }
        try expect(#"{"timestamp":1,"x":[{"timestamp":{"a":1}}]}"#, #"{"x":[{"timestamp":2}]}"#, rules, [])
        try expect(
            #"{"a":[{"b":1,"c":1}],"c":[1,2],"d.e":1,"b":1}"#,
            #"{"a":[{"b":2,"c":1}],"c":[1,3],"b":2}"#,
            rules,
            ["$.b: 1 → 2"]
        )
        rules.ignoredPaths.append(try JSONPath("$.log[*]"))
        try expect(#"{"log":[1]}"#, #"{"log":[2,1]}"#, rules, [])
        rules.arrays = [.init(try JSONPath("$.log"), .set)]
        try expect(#"{"log":[1]}"#, #"{"log":[2,3]}"#, rules, [])
        rules.arrays = [.init(try JSONPath("$"), .set)]
        try expect(#"[{"timestamp":1,"a":1},{"timestamp":2,"a":2}]"#, #"[{"timestamp":3,"a":2},{"a":1}]"#, rules, [])
        rules.ignoredPaths = [try JSONPath("$")]
        try expect("1", "[]", rules, [])
    }

    @Test func onlyTypesAreComparedIfRequested() throws {
        var rules = ComparisonRules()
        rules.comparesTypesOnly = true
        try expect(#"{"a":[1,2],"b":"x","c":true}"#, #"{"a":[9],"b":"y","c":false}"#, rules, [])
        try expect(
            #"{"a":[1,"x"]}"#,
            #"{"a":["x",1,null],"b":1}"#,
            rules,
            [
                #"$.a[0]: 1 → "x""#, #"$.a[1]: "x" → 1"#, "$.b: added 1",
            ]
        )
    }

    @Test func recordedPlaceholderMatchesAnyValue() throws {
        #expect(
            try differences(
                #"{"token":"REDACTED","user":{"card":"REDACTED"},"text":"Hello REDACTED!","n":"REDACTED"}"#,
                #"{"token":"abc","user":{"card":{"a":1}},"text":"Hello Ana!","n":5}"#
            ).isEmpty
        )
        #expect(
            try differences(#"{"t":"Hello REDACTED!"}"#, #"{"t":"Bye Ana!"}"#) == [
                #"$.t: "Hello REDACTED!" → "Bye Ana!""#
            ]
        )
        #expect(try differences(#"{"token":"REDACTED"}"#, "{}") == [#"$.token: removed REDACTED"#])
    }

    @Test func secretsAreNotShown() throws {
        let found = try differences(
            #"{"password":"canary-1","a":{"b":0},"tokens":["canary-3"]}"#,
            #"{"password":"canary-2","a":{"access_token":"canary-4","b":[{"pin":123456}]},"tokens":["canary-5"]}"#
        )
        #expect(
            found == [
                "$.password: REDACTED → REDACTED", "$.a.b: 0 → [{\"pin\": REDACTED}]",
                "$.a.access_token: added REDACTED",
                "$.tokens[0]: REDACTED → REDACTED",
            ]
        )
        var rules = ComparisonRules()
        rules.arrays = [.init(try JSONPath("$"), .key("session"))]
        #expect(try differences(#"[{"session":"canary"}]"#, "[]", rules) == [#"$[0]: removed {"session": REDACTED}"#])
    }

    @Test func longValuesAreShortened() throws {
        let text = try differences(
            "1",
            "[\(Array(repeating: "\"\(String(repeating: "x", count: 300))\"", count: 999).joined(separator: ","))]"
        )
        #expect(try #require(text.first).count < 120)
    }

    @Test func furtherDifferencesAreCounted() throws {
        var rules = ComparisonRules()
        rules.limit = 2
        let found = JSONComparison.differences(try document("[1,2,3]"), try document("[4,5,6]"), rules)
        #expect(found.list.count == 2)
        #expect(found.omittedCount == 1)
        #expect(found.count == 3)
    }

    @Test func deeplyNestedDocumentsAreCompared() throws {
        func nested(_ inner: String) -> String {
            String(repeating: #"[{"a":"#, count: 256) + inner + String(repeating: "}]", count: 256)
        }
        let found = try differences(nested("1"), nested("2"))
        #expect(found == ["$" + String(repeating: "[0].a", count: 256) + ": 1 → 2"])
    }
}

// MARK: - Beagle

extension JSONComparisonTests {
    private static let screen = #"""
        {"_beagleComponent_":"beagle:screenComponent","child":{"_beagleComponent_":"beagle:container","children":[
          {"_beagleComponent_":"beagle:text","id":"title","text":"Hi"},
          {"_beagleComponent_":"beagle:text","text":"one"},
          {"_beagleComponent_":"beagle:text","text":"two"},
          {"_beagleComponent_":"custom:chart","id":"c","points":[1,2]}]}}
        """#

    @Test func anInsertedComponentIsOneDifference() throws {
        let banner = #"{"_beagleComponent_":"beagle:text","text":"new"},"#
        try expect(
            Self.screen,
            Self.screen.replacing("\"children\":[", with: "\"children\":[\(banner)"),
            .init(),
            [#"$.child.children[text]: added {"_beagleComponent_": "beagle:text", "text": "new"}"#],
            [#"$.child.children[text]: removed {"_beagleComponent_": "beagle:text", "text": "new"}"#]
        )
    }

    @Test func componentsAreNamedByTypeAndId() throws {
        try expect(
            Self.screen,
            Self.screen.replacing("Hi", with: "Hello"),
            .init(),
            [
                #"$.child.children[text#title].text: "Hi" → "Hello""#
            ]
        )
        try expect(
            Self.screen,
            Self.screen.replacing("\"two\"", with: "\"2\""),
            .init(),
            [
                #"$.child.children[text(2)].text: "two" → "2""#
            ]
        )
        try expect(
            Self.screen,
            Self.screen.replacing("[1,2]", with: "[1,3]"),
            .init(),
            [
                "$.child.children[custom:chart#c].points[1]: 2 → 3"
            ]
        )
        let spelled = Self.screen.replacing("beagle:text", with: "Beagle:TEXT")
        let places = ["text#title", "text", "text(2)"].map { "$.child.children[\($0)]._beagleComponent_" }
        try expect(Self.screen, spelled, .init(), places.map { #"\#($0): "beagle:text" → "Beagle:TEXT""# })
    }

    @Test func aMovedComponentIsOneDifference() throws {
        let chart = #"{"_beagleComponent_":"custom:chart","id":"c","points":[1,2]}"#
        let moved = Self.screen.replacing(",\n  \(chart)", with: "").replacing(
            "\"children\":[",
            with: "\"children\":[\(chart),"
        )
        try expect(Self.screen, moved, .init(), ["$.child.children[custom:chart#c]: moved from [3] to [0]"])
    }

    @Test func replacedComponentIsReportedAsAWhole() throws {
        try expect(
            Self.screen,
            Self.screen.replacing("beagle:container", with: "beagle:scrollView"),
            .init(),
            [
                "$.child: container → scrollView"
            ]
        )
        try expect(
            Self.screen,
            Self.screen.replacing("\"id\":\"c\"", with: "\"id\":\"d\""),
            .init(),
            [
                #"$.child.children[custom:chart#c]: removed {"_beagleComponent_": "custom:chart", "id": "c", "points": [1, 2]}"#,
                #"$.child.children[custom:chart#d]: added {"_beagleComponent_": "custom:chart", "id": "d", "points": [1, 2]}"#,
            ]
        )
        #expect(try differences(Self.screen, #"{"a":1}"#) == [#"$: screenComponent → {"a": 1}"#])
    }

    @Test func componentsOfOlderServersAreRecognized() throws {
        let old =
            #"[{"_beagleType_":"beagle:component:text","id":"a","t":1},{"_beagleType_":"beagle:component:image"}]"#
        try expect(
            old,
            #"[{"_beagleType_":"beagle:component:image"},{"_beagleType_":"beagle:component:text","id":"a","t":2}]"#,
            .init(),
            [
                "$[text#a]: moved from [0] to [1]", "$[text#a].t: 1 → 2",
            ]
        )
    }
}
