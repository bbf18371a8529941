import BeagleNetGraphQL
import Foundation
import Testing

struct RelayPayloadTests {
    private static let nullMembersOfTheTopLevelObjectAreRemovedArguments: [(String, String)] = [
        (#"{"data":null,"errors":[{"message":"no"}]}"#, #"{"errors":[{"message":"no"}]}"#),
        (#"{"errors":[1],"data":null}"#, #"{"errors":[1]}"#),
        (#"{"data":{"a":1},"errors":null,"extensions":null}"#, #"{"data":{"a":1}}"#),
        (#"{"errors":null,"data":{"a":1},"extensions":null}"#, #"{"data":{"a":1}}"#),
        (#"{"errors":null,"extensions":null,"data":{}}"#, #"{"data":{}}"#),
        (#"{"data":null,"errors":null,"extensions":null}"#, "{}"),
        (#"{"data":null}"#, "{}"),
        ("{ \"data\" : null ,\n \"x\" : 1.50 }", "{\n \"x\" : 1.50 }"),
        ("\u{FEFF}{\"data\":null,\"a\":[{}]}", "\u{FEFF}{\"a\":[{}]}"),
        ("{ \"x\" : [ null ] ,\n \"data\" : null }", "{ \"x\" : [ null ] }"),
        (#"{"\u0064ata":null,"errors":[]}"#, #"{"errors":[]}"#),
    ]

    @Test(arguments: Self.nullMembersOfTheTopLevelObjectAreRemovedArguments)
    func nullMembersOfTheTopLevelObjectAreRemoved(text: String, expected: String) {
        #expect(String(decoding: RelayPayload(Data(text.utf8)).withoutNulls, as: UTF8.self) == expected)
    }

    private static let otherPayloadsAreUnchangedArguments: [String] = [
        #"{"data":{"data":null,"errors":null},"extensions":{"extensions":null}}"#,
        #"{"hasNext":null,"label":null}"#,
        " {\n\"data\" : {\"n\" : 1.0e2, \"é\" : \"\\u00e9\"} }\n", "[null]", #"[{"data":null}]"#, "null", "{}",
        #"{"data":null"#, "<html>", "",
    ]

    @Test(arguments: Self.otherPayloadsAreUnchangedArguments)
    func otherPayloadsAreUnchanged(text: String) {
        #expect(RelayPayload(Data(text.utf8)).withoutNulls == Data(text.utf8))
    }

    @Test func slicedDataIsParsed() {
        let bytes = Data(#"xx{"data":null,"errors":[]}"#.utf8).dropFirst(2)
        #expect(RelayPayload(bytes).withoutNulls == Data(#"{"errors":[]}"#.utf8))
    }

    private static let timestampIsAddedToTheExtensionsArguments: [(String, String)] = [
        (#"{"data":{}}"#, #"{"data":{},"extensions":{"cacheTimestamp":7}}"#),
        (#"{"data":{}, "extensions":{"a":1} }"#, #"{"data":{}, "extensions":{"cacheTimestamp":7,"a":1} }"#),
        (#"{"extensions":{ },"data":{}}"#, #"{"extensions":{"cacheTimestamp":7 },"data":{}}"#),
        (#"{"data":{"extensions":{}}}"#, #"{"data":{"extensions":{}},"extensions":{"cacheTimestamp":7}}"#),
    ]

    @Test(arguments: Self.timestampIsAddedToTheExtensionsArguments)
    func timestampIsAddedToTheExtensions(text: String, expected: String) {
        #expect(String(decoding: RelayPayload(Data(text.utf8)).stamped(at: 7), as: UTF8.self) == expected)
    }

    @Test func nullMemberCountsAsAbsent() {
        let payload = RelayPayload(Data(#"{"data":{"extensions":{}},"errors":null}"#.utf8))
        #expect(payload.has("data"))
        #expect(!payload.has("errors"))
        #expect(!payload.has("extensions"))
    }
}
