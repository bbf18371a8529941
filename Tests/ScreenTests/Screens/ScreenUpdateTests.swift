import BeagleNet
import BeagleNetTesting
import CurlPeers
import Testing

@Suite(.leavesNothing, .beagle(.live), .timeLimit(.minutes(5))) struct ScreenUpdateTests {
    private static func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Data(text.utf8)) }

    // MARK: - JSON Patch

    private static let patches: [(document: String, patch: String, result: String?)] = [
        // Objects.
        (#"{"a":1}"#, #"[{"op":"add","path":"/b","value":2}]"#, #"{"a":1,"b":2}"#),
        (#"{"a":1}"#, #"[{"op":"add","path":"/a","value":2}]"#, #"{"a":2}"#),
        (#"{"a":1}"#, #"[{"op":"add","path":"/b/c","value":2}]"#, nil),
        (#"{"a":{"b":1}}"#, #"[{"op":"remove","path":"/a/b"}]"#, #"{"a":{}}"#),
        (#"{"a":1}"#, #"[{"op":"remove","path":"/b"}]"#, nil),
        (#"{"a":1}"#, #"[{"op":"remove","path":""}]"#, nil),
        (#"{"a":1}"#, #"[{"op":"replace","path":"/a","value":null}]"#, #"{"a":null}"#),
        (#"{"a":1}"#, #"[{"op":"replace","path":"/b","value":1}]"#, nil),
        // A mark that combines with the separator before it.
        ("{\"\u{301}x\":1}", "[{\"op\":\"replace\",\"path\":\"/\u{301}x\",\"value\":2}]", "{\"\u{301}x\":2}"),
        (#"{"a":1}"#, #"[{"op":"replace","path":"","value":[]}]"#, "[]"),
        // Arrays.
        ("[1,2]", #"[{"op":"add","path":"/1","value":9}]"#, "[1,9,2]"),
        ("[1,2]", #"[{"op":"add","path":"/2","value":9}]"#, "[1,2,9]"),
        ("[1,2]", #"[{"op":"add","path":"/-","value":9}]"#, "[1,2,9]"),
        ("[1,2]", #"[{"op":"add","path":"/3","value":9}]"#, nil),
        ("[1,2]", #"[{"op":"add","path":"/01","value":9}]"#, nil),
        ("[1,2]", #"[{"op":"add","path":"/+1","value":9}]"#, nil),
        ("[1,2]", #"[{"op":"remove","path":"/-"}]"#, nil),
        ("[1,2,3]", #"[{"op":"remove","path":"/1"}]"#, "[1,3]"),
        ("[1,2]", #"[{"op":"replace","path":"/1","value":[]}]"#, "[1,[]]"),
        // Move and copy.
        (#"{"a":{"b":1},"c":{}}"#, #"[{"op":"move","from":"/a/b","path":"/c/d"}]"#, #"{"a":{},"c":{"d":1}}"#),
        ("[1,2,3]", #"[{"op":"move","from":"/0","path":"/2"}]"#, "[2,3,1]"),
        (#"{"a":{"b":1}}"#, #"[{"op":"move","from":"/a","path":"/a/b"}]"#, nil),
        (#"{"a":1}"#, #"[{"op":"move","from":"/a","path":"/a"}]"#, #"{"a":1}"#),
        (#"{"a":[1]}"#, #"[{"op":"copy","from":"/a","path":"/b"}]"#, #"{"a":[1],"b":[1]}"#),
        (#"{"a":1}"#, #"[{"op":"copy","from":"/b","path":"/c"}]"#, nil),
        // Tests.
        (#"{"a":[1,{"b":2}]}"#, #"[{"op":"test","path":"/a","value":[1.0,{"b":2}]}]"#, #"{"a":[1,{"b":2}]}"#),
        (#"{"a":"1"}"#, #"[{"op":"test","path":"/a","value":1}]"#, nil),
        (#"{"a":1}"#, #"[{"op":"test","path":"/b","value":null}]"#, nil),
        // Escapes, empty names.
        (#"{"/":1,"~1":2,"":3}"#, #"[{"op":"remove","path":"/~1"},{"op":"remove","path":"/~01"}]"#, #"{"":3}"#),
        (#"{"":1}"#, #"[{"op":"replace","path":"/","value":2}]"#, #"{"":2}"#),
        (#"{"a":1}"#, #"[{"op":"remove","path":"/~2"}]"#, nil), (#"{"a":1}"#, #"[{"op":"remove","path":"a"}]"#, nil),
        // All or none.
        (#"{"a":1}"#, #"[{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}]"#, nil),
        // Malformed patches.
        (#"{"a":1}"#, #"[{"op":"add","path":"/b"}]"#, nil), (#"{"a":1}"#, #"[{"op":"turn","path":"/a"}]"#, nil),
        (#"{"a":1}"#, #"{"op":"remove","path":"/a"}"#, nil), (#"{"a":1}"#, #"[{"op":"copy","path":"/b"}]"#, nil),
        (#"{"a":1}"#, "[]", #"{"a":1}"#),
    ]

    @Test(arguments: patches) func jsonPatch(_ example: (document: String, patch: String, result: String?)) throws {
        let document = try Self.json(example.document)
        guard let result = example.result else {
            let error = #expect(throws: NetworkError.self) {
                let type = "application/json-patch+json"
                _ = try ScreenUpdate(parsing: Data(example.patch.utf8), type: type).applied(to: document)
            }
            #expect(error?.kind == .decoding)
            return
        }
        #expect(try ScreenUpdate.JSONPatch(Self.json(example.patch)).applied(to: document) == Self.json(result))
    }

    // MARK: - Merge patch

    @Test(arguments: [
        (#"{"a":1,"b":2}"#, #"{"a":null,"c":3}"#, #"{"b":2,"c":3}"#),
        (#"{"a":{"b":1}}"#, #"{"a":{"c":2}}"#, #"{"a":{"b":1,"c":2}}"#),
        (#"{"a":[1]}"#, #"{"a":[2]}"#, #"{"a":[2]}"#), (#"{"a":1}"#, "[2]", "[2]"), ("[1]", #"{"a":1}"#, #"{"a":1}"#),
        (#"{"a":1}"#, #"{"a":{"b":null}}"#, #"{"a":{}}"#), (#"{"a":1}"#, "null", "null"),
    ])
    func mergePatch(_ document: String, _ patch: String, _ result: String) throws {
        let type = "Application/Merge-Patch+JSON; charset=utf-8"
        let update = try ScreenUpdate(parsing: Data(patch.utf8), type: type)
        #expect(try update.applied(to: Self.json(document)).screen == Self.json(result))
    }

    // MARK: - Components

    private static let screen = """
        {"child": {"id": "root", "children": [
            {"id": "title", "text": "old"}, {"text": "no id"}, {"id": "list", "children": [{"id": "row", "text": "1"}]}]}}
        """

    @Test func componentsAreReplacedByTheirIDs() throws {
        let update = try ScreenUpdate(
            parsing: Data(
                """
                {"changes": [{"id": "title", "items": [{"id": "a"}, {"id": "b"}]}, {"id": "row"}, {"id": "gone"}]}
                """.utf8
            )
        )
        let result = try update.applied(to: Self.json(Self.screen))
        #expect(result.changedIDs == ["title", "row"])
        #expect(result.unmatchedIDs == ["gone"])
        let expected = """
            {"child": {"id": "root", "children": [
                {"id": "a"}, {"id": "b"}, {"text": "no id"}, {"id": "list", "children": []}]}}
            """
        #expect(result.screen == (try Self.json(expected)))
    }

    @Test func componentOfAMemberIsRemoved() throws {
        let update = ScreenUpdate.components([.init(id: "root", components: [])], isTransactional: true)
        #expect(try update.applied(to: Self.json(Self.screen)).screen == [:])
    }

    @Test(arguments: [
        #"{"mode": "transactional", "changes": [{"id": "title"}, {"id": "gone"}]}"#,
        // The place takes one component.
        #"{"mode": "transactional", "changes": [{"id": "root", "items": [{}, {}]}]}"#,
        #"{"changes": [{"items": []}]}"#, #"{"changes": [{"id": "title", "items": 1}]}"#,
    ])
    func updateThatCannotBeAppliedFails(_ text: String) throws {
        let error = #expect(throws: NetworkError.self) {
            _ = try ScreenUpdate(parsing: Data(text.utf8)).applied(to: Self.json(Self.screen))
        }
        #expect(error?.kind == .decoding)
    }

    @Test(arguments: [
        (#""old""#, #""new""#, ["title"]), (#""1""#, #""2""#, ["row"]), (#""no id""#, #""other""#, ["root"]),
        (#"{"id": "row", "text": "1"}"#, #"{"id": "row", "text": "1"}, {"id": "next"}"#, ["list"]),
        (#"{"child""#, #"{"x": 1, "child""#, []),
    ])
    func smallestComponentsWithChangesAreFound(_ old: String, _ new: String, _ ids: [String]) throws {
        let before = try Self.json(Self.screen)
        let after = try Self.json(Self.screen.replacing(old, with: new))
        let update = try #require(ScreenUpdate.between(before, and: after))
        if case .components(let changes, _) = update { #expect(changes.map(\.id) == ids) } else { #expect(ids == []) }
        #expect(try update.applied(to: before).screen == after)
        #expect(ScreenUpdate.between(before, and: before) == nil)
    }

    @Test func patchesCannotGrowADocumentWithoutLimit() throws {
        let deeper = try ScreenUpdate.JSONPatch(Self.json(#"[{"op":"copy","from":"","path":"/a"}]"#))
        var screen: JSONValue = ["a": 1]
        let error = #expect(throws: NetworkError.self) {
            for _ in 0..<2_000 { screen = try deeper.applied(to: screen) }
        }
        #expect(error?.message.contains("deep") == true)
        let copies = (0..<40).map { #"{"op":"copy","from":"","path":"/\#($0)"}"# }.joined(separator: ",")
        let larger = try ScreenUpdate.JSONPatch(Self.json("[\(copies)]"))
        #expect(throws: NetworkError.self) { try larger.applied(to: ["a": 1]) }
        let nested = String(repeating: "{\"id\":", count: 300) + "1" + String(repeating: "}", count: 300)
        let inner = try Self.json(nested)
        #expect(throws: NetworkError.self) {
            try ScreenUpdate.components([.init(id: "x", components: [inner])], isTransactional: true)
                .applied(
                    to: Self.json(
                        String(repeating: "[", count: 300) + "{\"id\":\"x\"}" + String(repeating: "]", count: 300)
                    )
                )
        }
    }

    @Test func componentMovedIntoAChangedOneIsNotConfused() throws {
        let before = try Self.json(#"{"x": {"id": "A", "c": 1}, "y": {"id": "B", "t": 1}}"#)
        let after = try Self.json(#"{"x": {"id": "A", "c": {"id": "B", "t": 9}}, "y": {"id": "B", "t": 2}}"#)
        let update = try #require(ScreenUpdate.between(before, and: after))
        #expect(try update.applied(to: before).screen == after)
    }

    @Test func repeatedIDsAreNotReplaced() throws {
        let before = try Self.json(#"[{"id": "a", "text": "1"}, {"id": "a", "text": "2"}]"#)
        let after = try Self.json(#"[{"id": "a", "text": "1"}, {"id": "a", "text": "3"}]"#)
        #expect(ScreenUpdate.between(before, and: after) == .screen(after))
    }

    // MARK: - Events

    @Test func updatesOfAServerAreApplied() async throws {
        let server = try LoopbackServer(
            .response(
                200,
                ["Content-Type": "text/event-stream"],
                """
                event: merge\ndata: {"a":2}\n
                event: patch\ndata: [{"op":"add","path":"/b","value":3}]\n
                data: {"whole":true}\n
                event: patch\ndata: [{"op":"remove","path":"/b"}]\n\n
                """
            )
        )
        var screens: [JSONValue] = []
        let updates = try ViewClient().updates(from: server.url, to: ["a": 1])
        let error = await #expect(throws: NetworkError.self) {
            for try await result in updates { screens.append(result.screen) }
        }
        #expect(error?.kind == .decoding)
        #expect(screens == [["a": 2], ["a": 2, "b": 3], ["whole": true]])
    }

    // MARK: - Parts

    private static func parts(_ parts: [(type: String?, body: String)], isComplete: Bool = true) -> String {
        parts.map { type, body in
            "--b\r\n\(type.map { "Content-Type: \($0)\r\n" } ?? "")\r\n\(body)\r\n"
        }.joined() + (isComplete ? "--b--\r\n" : "")
    }

    /// The screens after the updates in the parts of a response, and the error that ended them.
    private static func screens(
        _ body: String,
        type: String = "multipart/mixed; boundary=b",
        status: Int = 200
    ) async throws -> (screens: [JSONValue], error: NetworkError?, accept: String?) {
        let server = try LoopbackServer(.response(status, ["Content-Type": type], body))
        var screens: [JSONValue] = []
        var failure: NetworkError?
        do {
            for try await result in try ViewClient().updates(from: server.url, to: ["a": 1], as: .parts) {
                screens.append(result.screen)
            }
        } catch { failure = try #require(error as? NetworkError) }
        return (screens, failure, server.requests.first?["accept"])
    }

    @Test func updatesInPartsAreApplied() async throws {
        let body = Self.parts([
            ("application/merge-patch+json", #"{"a":2}"#),
            ("application/json-patch+json", #"[{"op":"add","path":"/b","value":3}]"#), (nil, #"{"whole":true}"#),
        ])
        let (screens, error, accept) = try await Self.screens(body)
        #expect(error == nil)
        #expect(screens == [["a": 2], ["a": 2, "b": 3], ["whole": true]])
        #expect(accept == "multipart/mixed")
    }

    @Test(arguments: [
        ("application/merge-patch+json", #"{"a":"#, true, NetworkError.Kind.decoding),
        ("application/json-patch+json", #"[{"op":"remove","path":"/b"}]"#, true, .decoding),
        ("application/merge-patch+json", #"{"a":3}"#, false, .truncated),
    ])
    func partThatIsNotAnUpdateFails(type: String, body: String, isComplete: Bool, kind: NetworkError.Kind) async throws
    {
        let parts = Self.parts([("application/merge-patch+json", #"{"a":2}"#), (type, body)], isComplete: isComplete)
        let (screens, error, _) = try await Self.screens(parts)
        #expect(error?.kind == kind)
        #expect(screens.first == ["a": 2])
        #expect(screens.count == 1)
    }

    @Test(arguments: [
        (ViewClient.UpdateFormat.events, "text/event-stream", "data: [\n\ndata: {\"later\":true}\n\n"),
        (.parts, "multipart/mixed; boundary=b", Self.parts([(nil, "["), (nil, #"{"later":true}"#)])),
    ])
    func nothingFollowsAnError(_ format: ViewClient.UpdateFormat, type: String, body: String) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": type], body))
        var updates = try ViewClient().updates(from: server.url, to: ["a": 1], as: format).makeAsyncIterator()
        do {
            let result = try await updates.next()
            Issue.record("the update was read: \(String(describing: result))")
        } catch { #expect((error as? NetworkError)?.kind == .decoding) }
        let later = try await updates.next()
        #expect(later == nil)
        #expect(server.requests.count == 1)
    }

    @Test func partThatIsLargerThanAScreenFails() async throws {
        let body = Self.parts([(nil, "\"" + String(repeating: "x", count: ParsedScreen.maxBytes) + "\"")])
        #expect(try await Self.screens(body).error?.kind == .tooLarge)
    }

    @Test(arguments: [(200, NetworkError.Kind.protocol), (404, .status)])
    func responseWithoutPartsFails(status: Int, kind: NetworkError.Kind) async throws {
        #expect(try await Self.screens("{}", type: "application/json", status: status).error?.kind == kind)
    }
}
