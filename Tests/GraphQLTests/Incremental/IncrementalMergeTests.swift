import BeagleNetGraphQL
import Testing

struct IncrementalMergeTests {
    /// The result of merging payloads in order.
    private struct Merged {
        var merge = IncrementalMerge()
        var patches: [[GraphQLPatch]] = []
        var error: NetworkError?

        init(_ payloads: [String]) {
            do throws(NetworkError) {
                for payload in payloads { patches.append(try merge.apply(JSONValue(parsing: payload))) }
            } catch {
                self.error = error
            }
        }
    }

    private static let payloadsAreMergedIntoOneResponseArguments: [([String], String)] = [
        // Several pieces of one fragment. A piece with a subPath goes below the announced path and ignores its own path.
        (
            [
                #"{"data":{"a":{}},"pending":[{"id":"0","path":["a"],"label":"x"}],"hasNext":true}"#,
                #"""
                {"hasNext":true,"extensions":null,"completed":[{"id":"0"}],"incremental":[
                {"data":{"b":{"c":{}}},"id":"0","path":["a"],"label":"x"},
                {"data":{"f":"f"},"id":"0","path":["a"],"label":"x"},
                {"data":{"d":"d"},"id":"0","subPath":["b","c"],"path":["a"],"label":"x"}]}
                """#,
                #"{"hasNext":false}"#,
            ],
            #"{"data":{"a":{"b":{"c":{"d":"d"}},"f":"f"}}}"#
        ),
        // A failed fragment reports its errors, and all other data remains.
        (
            [
                #"{"data":{"post":{"id":"1"}},"hasNext":true,"pending":[{"id":"0","path":["post"],"label":"s"}]}"#,
                #"{"completed":[{"id":"0","errors":[{"message":"no","path":["post","x"]}]}],"hasNext":false}"#,
            ],
            #"{"data":{"post":{"id":"1"}},"errors":[{"message":"no","path":["post","x"]}]}"#
        ),
        // A fragment announced later, inside data of the same payload.
        (
            [
                #"{"data":{"post":{"id":"1"}},"hasNext":true,"pending":[{"id":"0","path":["post"]}]}"#,
                #"""
                {"hasNext":true,"pending":[{"id":"1","path":["post","author"]}],"completed":[{"id":"0"}],
                "incremental":[{"data":{"author":{"name":"Ann"}},"id":"0"}]}
                """#,
                #"{"hasNext":false,"completed":[{"id":"1"}],"incremental":[{"data":{"bio":"writes"},"id":"1"}]}"#,
            ],
            #"{"data":{"post":{"author":{"bio":"writes","name":"Ann"},"id":"1"}}}"#
        ),
        // Items are appended. Below them one fragment is deferred and one fails.
        (
            [
                #"{"data":{"a":{"items":[{"n":0}]}},"hasNext":true,"pending":[{"id":"0","path":["a","items"]}]}"#,
                #"""
                {"hasNext":true,"pending":[{"id":"1","path":["a","items",1]}],
                "incremental":[{"items":[{"n":1}],"id":"0","errors":[{"message":"no likes"}]}]}
                """#,
                #"""
                {"hasNext":true,"incremental":[{"data":{"late":true},"id":"1"},{"items":[{"n":2},null],"id":"0"}],
                "completed":[{"id":"1"}]}
                """#,
                #"{"hasNext":false,"completed":[{"id":"0","errors":[{"message":"the list ends here"}]}]}"#,
            ],
            #"""
            {"data":{"a":{"items":[{"n":0},{"late":true,"n":1},{"n":2},null]}},
            "errors":[{"message":"no likes"},{"message":"the list ends here"}]}
            """#
        ),
        // Everything in the first payload.
        (
            [
                #"""
                {"data":{"a":{}},"pending":[{"id":"0","path":[]}],"incremental":[{"id":"0","data":{"b":1}}],
                "completed":[{"id":"0"}],"hasNext":false,"later":"unknown"}
                """#
            ],
            #"{"data":{"a":{},"b":1}}"#
        ),
        // Errors and extensions of every payload count.
        (
            [
                #"{"data":{"a":null},"errors":[{"message":"1"}],"extensions":{"x":1,"y":1},"hasNext":true}"#,
                #"{"errors":[{"message":"2"}],"extensions":{"y":2},"hasNext":false}"#,
            ],
            #"{"data":{"a":null},"errors":[{"message":"1"},{"message":"2"}],"extensions":{"x":1,"y":2}}"#
        ),
        // The previous format: paths, and items from an index on.
        (
            [
                #"{"data":{"hero":{"name":"R2-D2","friends":[{"name":"Luke"}],"tags":["a"]}},"hasNext":true}"#,
                #"""
                {"incremental":[
                {"label":"f","path":["hero"],"data":{"height":1.72,"friends":[{"id":"1"}],"tags":["a"]}},
                {"path":["hero","friends",0],"data":{"id":"1000"},"extensions":{"cost":2}},
                {"path":["hero","friends",1],"items":[{"name":"Han"},{"name":"Leia"}]}],"hasNext":true}
                """#,
                #"""
                {"incremental":[{"path":["hero"],"data":null,"errors":[{"message":"gone"}]},
                {"path":["hero","friends",3],"items":null,"errors":[{"message":"no more"}]}],"hasNext":true}
                """#,
                #"{"hasNext":false}"#,
            ],
            #"""
            {"data":{"hero":{
            "friends":[{"id":"1000","name":"Luke"},{"name":"Han"},{"name":"Leia"}],"height":1.72,"name":"R2-D2","tags":["a"]}},
            "errors":[{"message":"gone"},{"message":"no more"}],"extensions":{"cost":2}}
            """#
        ),
        // Relay's format, also several in one payload.
        (
            [
                #"{"data":{"hero":{"id":"1"},"posts":[{"id":"1"}]},"extensions":{"is_final":false}}"#,
                #"{"label":"A","path":["hero"],"data":{"name":"R2-D2"},"extensions":{"is_final":false}}"#,
                #"""
                [{"label":"B","path":["posts",1],"data":{"id":"2"},"extensions":{"is_final":false}},
                {"label":"C","path":["posts",1],"data":{"title":"Second"},"extensions":{"is_final":true,"x":1}}]
                """#,
            ],
            #"""
            {"data":{"hero":{"id":"1","name":"R2-D2"},"posts":[{"id":"1"},{"id":"2","title":"Second"}]},
            "extensions":{"x":1}}
            """#
        ),
        // A payload with only data replaces the response.
        ([#"{"data":{"n":1},"errors":[{"message":"1"}]}"#, #"{"data":{"n":2}}"#], #"{"data":{"n":2}}"#),
        ([#"{"errors":[{"message":"no such field"}]}"#], #"{"errors":[{"message":"no such field"}]}"#),
    ]

    @Test(arguments: Self.payloadsAreMergedIntoOneResponseArguments)
    func payloadsAreMergedIntoOneResponse(payloads: [String], expected: String) throws {
        let merged = Merged(payloads)
        #expect(merged.error == nil)
        #expect(merged.merge.response == (try JSONValue(parsing: expected)))
    }

    @Test func eachPayloadGivesItsPatchesAndWhetherMoreFollow() throws {
        var merge = IncrementalMerge()
        #expect(merge.hasNext == nil)
        let first = try merge.apply([
            "data": ["a": ["list": [1]]], "pending": [["id": "0", "path": ["a"]]], "hasNext": true,
        ])
        #expect(first == [GraphQLPatch(content: .data(["a": ["list": [1]]]))])
        #expect(merge.hasNext == true)
        let second = try merge.apply([
            "pending": [["id": "1", "path": ["a", "list"], "label": "L"]],
            "incremental": [
                ["id": "1", "items": [2, 3]], ["id": "0", "data": ["b": 1], "errors": [["message": "e"]]],
            ],
            "completed": [["id": "1", "errors": [["message": "end"]]], ["id": "9"]],
        ])
        #expect(merge.data == ["a": ["list": [1, 2, 3], "b": 1]])
        #expect(
            second == [
                GraphQLPatch(label: "L", path: [.key("a"), .key("list")], content: .items([2, 3], index: 1)),
                GraphQLPatch(
                    label: "L",
                    path: [.key("a"), .key("list")],
                    content: nil,
                    errors: [GraphQLError(["message": "end"])]
                ),
            ]
        )
        #expect(merge.hasNext == true)
        // The complete data with the errors of its pieces.
        let third = try merge.apply(["completed": [["id": "0"]], "hasNext": false])
        #expect(
            third == [
                GraphQLPatch(
                    path: [.key("a")],
                    content: .data(["list": [1, 2, 3], "b": 1]),
                    errors: [GraphQLError(["message": "e"])]
                )
            ]
        )
        #expect(merge.hasNext == false)
    }

    private static let responseIsFinishedWhenAllPiecesAreCompletedArguments: [([String], Bool)] = [
        ([#"{"data":{"a":{}},"pending":[{"id":"0","path":[]}],"hasNext":false}"#], true),
        (
            [
                #"{"data":{"a":{}},"pending":[{"id":"0","path":[]}],"hasNext":true}"#,
                #"{"incremental":[{"id":"0","data":{"b":1}}],"hasNext":false}"#,
            ], true
        ),
        (
            [
                #"{"data":{"a":{}},"pending":[{"id":"0","path":[]},{"id":"1","path":["a"]}],"hasNext":true}"#,
                #"{"completed":[{"id":"1"}],"hasNext":false}"#,
            ], true
        ),
        (
            [
                #"{"data":{"a":{}},"pending":[{"id":"0","path":[]}],"hasNext":true}"#,
                #"{"completed":[{"id":"0","errors":[{"message":"no"}]}],"hasNext":false}"#,
            ], false
        ),
        (
            [
                #"{"data":{"a":{}},"pending":[{"id":"0","path":[]}]}"#,
                #"{"incremental":[{"id":"0","data":{"b":1}}],"completed":[{"id":"0"}]}"#,
            ], false
        ),
        // Payloads without announcements.
        ([#"{"data":{"a":{}},"hasNext":true}"#], true),
        ([#"{"data":{"a":{}},"hasNext":true}"#, #"{"path":["a"],"data":{"b":1},"hasNext":false}"#], false),
        ([#"{"data":{"a":{}},"extensions":{"is_final":true}}"#], false), ([#"{"data":{"a":{}}}"#], false),
    ]

    @Test(
        "a response is finished when the server says so and every announced piece is completed",
        arguments: Self.responseIsFinishedWhenAllPiecesAreCompletedArguments
    )
    func responseIsFinishedWhenAllPiecesAreCompleted(payloads: [String], isUnfinished: Bool) {
        let merged = Merged(payloads)
        #expect(merged.error == nil)
        #expect(merged.merge.isUnfinished == isUnfinished)
    }

    @Test func errorsOfUnannouncedPiecesAreKept() throws {
        var merge = IncrementalMerge()
        _ = try merge.apply(["data": ["a": 1], "hasNext": true])
        _ = try merge.apply(["completed": [["id": "9", "errors": [["message": "lost"]]]], "hasNext": false])
        #expect(merge.errors.map(\.message) == ["lost"])
    }

    @Test func patchesConvertToRelayPayloads() throws {
        let payloads = Merged([
            #"""
            {"data":{"a":{"list":[1]}},"hasNext":true,
            "pending":[{"id":"0","path":["a"],"label":"D"},{"id":"1","path":["a","list"]}]}
            """#,
            #"""
            {"pending":[{"id":"2","path":["a"],"label":"E"}],"incremental":[{"id":"0","data":{"b":{}}},
            {"id":"1","items":[2,3],"errors":[{"message":"e"}],"extensions":{"x":1}}],
            "completed":[{"id":"2","errors":[{"message":"end"}]}],"hasNext":true}
            """#,
            // Data shared with another fragment is sent only with that fragment.
            #"""
            {"incremental":[{"id":"0","subPath":["b"],"data":{"c":1},"errors":[{"message":"c"}]}],
            "completed":[{"id":"0"},{"id":"1"}],"hasNext":true}
            """#,
            #"{"hasNext":false}"#,
        ]).patches.enumerated().flatMap { $1.relayPayloads(hasNext: $0 < 3) }
        let expected = [
            #"{"data":{"a":{"list":[1]}},"extensions":{"is_final":false}}"#,
            #"""
            {"data":2,"errors":[{"message":"e"}],"extensions":{"is_final":false,"x":1},"path":["a","list",1]}
            """#,
            #"{"data":3,"extensions":{"is_final":false,"x":1},"path":["a","list",2]}"#,
            #"{"data":null,"errors":[{"message":"end"}],"extensions":{"is_final":false},"label":"E","path":["a"]}"#,
            #"{"data":{"b":{"c":1},"list":[1,2,3]},"errors":[{"message":"c"}],"extensions":{"is_final":false},"#
                + #""label":"D","path":["a"]}"#,
            #"{"data":null,"extensions":{"is_final":true}}"#,
        ]
        #expect(try payloads.map { try $0.text() } == expected)
    }

    private static let misplacedPayloadThrowsAndLeavesTheResponseUnchangedArguments: [(String, String)] = [
        (#"5"#, "not an object"), (#"{"pending":{}}"#, "pending"), (#"{"incremental":[1]}"#, "incremental"),
        (#"{"completed":"x"}"#, "completed"), (#"{"pending":[{"path":["a"]}]}"#, "id"),
        (#"{"pending":[{"id":"p","path":["a"]}]}"#, "p"), (#"{"pending":[{"id":"q","path":"a"}]}"#, "path"),
        (#"{"pending":[{"id":"q","path":[true]}]}"#, "path"), (#"{"pending":[{"id":"q","path":[-1]}]}"#, "path"),
        (#"{"pending":[{"id":"q","path":[1.5]}]}"#, "path"), (#"{"data":[]}"#, "data"),
        (#"{"incremental":[{"data":{}}]}"#, "neither id nor path"),
        (#"{"incremental":[{"id":"none","data":{}}]}"#, #""none""#),
        (#"{"incremental":[{"id":1,"data":{}}]}"#, "1"),
        (#"{"incremental":[{"id":"p","subPath":["b","c"],"data":{}}]}"#, "b.c"),
        (#"{"incremental":[{"id":"p","subPath":5,"data":{}}]}"#, "subPath"),
        (#"{"incremental":[{"id":"p","subPath":["n"],"data":{}}]}"#, "a.n"),
        (#"{"incremental":[{"id":"p","data":5}]}"#, "a"), (#"{"incremental":[{"id":"p","data":[1]}]}"#, "a"),
        (#"{"incremental":[{"id":"p","items":[1]}]}"#, "a is not a list"),
        (#"{"incremental":[{"id":"p","items":{}}]}"#, "items"),
        (#"{"incremental":[{"id":"p","subPath":["list",7],"data":{}}]}"#, "7"),
        (#"{"incremental":[{"path":["list",9],"items":[1]}]}"#, "list"),
        (#"{"incremental":[{"path":["a",0],"items":[1]}]}"#, "a"),
        (#"{"path":["list",9],"data":{}}"#, "9"), (#"{"path":["list",0],"data":{}}"#, "list.0"),
        (#"{"path":["list","x"],"data":{}}"#, "x"),
        (#"{"path":[9223372036854775807],"data":{}}"#, "9223372036854775807"), (#"{"path":{},"data":{}}"#, "path"),
    ]

    @Test(
        "a payload without a valid place fails with an error that names the place and leaves the response unchanged",
        arguments: Self.misplacedPayloadThrowsAndLeavesTheResponseUnchangedArguments
    )
    func misplacedPayloadThrowsAndLeavesTheResponseUnchanged(payload: String, place: String) throws {
        var merge = IncrementalMerge()
        _ = try merge.apply([
            "data": ["a": ["n": 1], "list": [1]], "pending": [["id": "p", "path": ["a"]]], "hasNext": true,
        ])
        let before = merge.response
        let error = try #require(throws: NetworkError.self) { try merge.apply(try JSONValue(parsing: payload)) }
        #expect(error.kind == .decoding)
        #expect(error.message.contains(place), "\(error.message)")
        #expect(merge.response == before)
        #expect(merge.hasNext == true)
    }

    private static let firstPayloadWithoutDataOrErrorsIsRejectedArguments: [String] = [
        #"{"incremental":[]}"#, #"{"path":["a"],"data":{}}"#, #"{"completed":[{"id":"0"}]}"#, "null",
        #"{"data":1}"#, #"{"data":1,"errors":[]}"#,
    ]

    @Test(arguments: Self.firstPayloadWithoutDataOrErrorsIsRejectedArguments)
    func firstPayloadWithoutDataOrErrorsIsRejected(payload: String) {
        #expect(Merged([payload]).error?.kind == .decoding)
    }

    /// A payload that replaces the response also resets the count.
    @Test func wholeResponseHasALimit() throws {
        var merge = IncrementalMerge(maxPayloadBytes: 10)
        let (first, piece) = (Data(#"{"data":{"a":[]}}"#.utf8), Data(#"{"path":["a",0],"data":1}"#.utf8))
        for _ in 0..<5 { _ = try merge.apply(text: first) }
        let error = #expect(throws: NetworkError.self) { _ = try merge.apply(text: piece) }
        #expect(error?.kind == .tooLarge)
        #expect(merge.data == ["a": [1]])
        var unlimited = IncrementalMerge()
        for text in [first, piece] { _ = try unlimited.apply(text: text) }
    }

    private static let responseIsWholeIfOnePayloadHoldsEverythingArguments: [([String], Bool)] = [
        ([#"{"data":{"a":1}}"#], true), ([#"{"data":null,"errors":[{"message":"x"}],"hasNext":false}"#], true),
        ([#"{"data":{"a":1},"hasNext":true}"#], false), ([#"{"data":{"a":1}}"#, #"{"hasNext":false}"#], false),
        ([#"{"data":{"a":1},"extensions":{"is_final":true}}"#], false), ([#"[{"data":{"a":1}}]"#], false),
        ([#"{"data":{},"pending":[{"id":"0","path":[]}],"completed":[{"id":"0"}],"hasNext":false}"#], false),
        ([#"{"data":{"a":1}}"#, #"{"data":{"a":2}}"#], true),
    ]

    @Test(arguments: Self.responseIsWholeIfOnePayloadHoldsEverythingArguments)
    func responseIsWholeIfOnePayloadHoldsEverything(payloads: [String], isWhole: Bool) {
        #expect(Merged(payloads).merge.isSinglePayload == isWhole)
    }

    @Test func pieceCannotBeMergedWithoutData() {
        let merged = Merged([
            #"{"data":null,"errors":[{"message":"x"}],"hasNext":true}"#, #"{"path":["a"],"data":{}}"#,
        ])
        #expect(merged.error?.kind == .decoding)
        #expect(Merged([#"{"errors":[{"message":"x"}]}"#, #"{"path":[],"data":{}}"#]).error?.kind == .decoding)
    }

    /// A response that nests deeper with every payload would eventually overflow the stack of code that traverses it.
    @Test func mergedNestingHasTheSameLimitAsJSON() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: #"{"a":"#, count: depth) + "{}" + String(repeating: "}", count: depth)
        }
        var merge = IncrementalMerge()
        _ = try merge.apply(JSONValue(parsing: #"{"data":\#(nested(500))}"#))
        let path = JSONValue.array(Array(repeating: "a", count: 500))
        _ = try merge.apply(["path": path, "data": JSONValue(parsing: nested(10))])
        let deepest = try merge.response.data()
        #expect(throws: NetworkError.self) { try merge.apply(["path": path, "data": JSONValue(parsing: nested(20))]) }
        #expect(try merge.response.data() == deepest)
        let tooLong = JSONValue.array(Array(repeating: "a", count: 100_000))
        #expect(throws: NetworkError.self) { try merge.apply(["path": tooLong, "data": [:]]) }
    }
}
