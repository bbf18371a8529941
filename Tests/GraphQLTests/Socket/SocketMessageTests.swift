@testable import BeagleNetGraphQL
import Foundation
import Testing

/// Messages of both subprotocols.
struct SocketMessageTests {
    private static let current = GraphQLSocketOptions.Subprotocol.graphQLTransportWS
    private static let older = GraphQLSocketOptions.Subprotocol.graphQLWS

    @Test func nonStringIDIsIgnoredIfTheMessageNeedsNone() throws {
        #expect(
            try SocketMessage(#"{"type":"connection_ack","id":null}"#, .graphQLTransportWS) == .acknowledgement(nil)
        )
        #expect(try SocketMessage(#"{"type":"ka","id":null}"#, .graphQLWS) == .keepAlive(nil))
        #expect(
            try SocketMessage(#"{"type":"error","id":null,"payload":{}}"#, .graphQLWS)
                == .failure(id: nil, Data("{}".utf8))
        )
        #expect(throws: SocketProtocolError.self) {
            try SocketMessage(#"{"type":"complete","id":1}"#, .graphQLTransportWS)
        }
    }

    private static let messagesOfTheCurrentProtocolAreParsedArguments: [(String, SocketMessage)] = [
        (#"{"type":"connection_ack"}"#, SocketMessage.acknowledgement(nil)),
        (#"{"type":"connection_ack","payload":null}"#, .acknowledgement(nil)),
        (#" { "payload" : {"a":[1,{}]} , "type" : "connection_ack" } "#, .acknowledgement(Data(#"{"a":[1,{}]}"#.utf8))),
        (#"{"type":"ping"}"#, .ping(nil)),
        (#"{"type":"ping","payload":{"a": 1}}"#, .ping(Data(#"{"a": 1}"#.utf8))),
        (#"{"type":"pong"}"#, .keepAlive(nil)),
        (#"{"type":"pong","payload":{}}"#, .keepAlive(Data("{}".utf8))),
        (#"{"id":"1","type":"next","payload":{"data":{}}}"#, .result(id: 1, Data(#"{"data":{}}"#.utf8))),
        (#"{"payload":{"data":"}"},"type":"next","id":"27"}"#, .result(id: 27, Data(#"{"data":"}"}"#.utf8))),
        (#"{"id":"x","type":"next","payload":{}}"#, .result(id: nil, Data("{}".utf8))),
        (#"{"id":"01","type":"next","payload":{}}"#, .result(id: nil, Data("{}".utf8))),
        (#"{"id":"","type":"complete"}"#, .completion(id: nil)),
        (#"{"id":"99999999999999999999","type":"complete"}"#, .completion(id: nil)),
        (#"{"i\u0064":"\u0031","ty\u0070e":"ne\u0078t","payload":{}}"#, .result(id: 1, Data("{}".utf8))),
        (#"{"id":"2","id":"1","type":"next","type":"complete"}"#, .completion(id: 1)),
        (#"{"id":"1","type":"complete","more":[true,false,null,-1.5e+3,0,"\"\\"]}"#, .completion(id: 1)),
        (
            #"{"id":"1","type":"error","payload":[{"message":"no"}]}"#,
            .failure(id: 1, Data(#"[{"message":"no"}]"#.utf8))
        ),
    ]

    @Test(arguments: Self.messagesOfTheCurrentProtocolAreParsedArguments)
    func messagesOfTheCurrentProtocolAreParsed(text: String, expected: SocketMessage) throws {
        #expect(try SocketMessage(text, Self.current) == expected)
    }

    private static let messagesOfTheOlderProtocolAreParsedArguments: [(String, SocketMessage)] = [
        (#"{"type":"connection_ack"}"#, SocketMessage.acknowledgement(nil)),
        (#"{"type":"ka"}"#, .keepAlive(nil)),
        (#"{"type":"connection_error","payload":{"message":"no"}}"#, .refusal(Data(#"{"message":"no"}"#.utf8))),
        (#"{"type":"connection_error"}"#, .refusal(nil)),
        (#"{"id":"1","type":"data","payload":{"data":{}}}"#, .result(id: 1, Data(#"{"data":{}}"#.utf8))),
        (#"{"id":"1","type":"error","payload":{"message":"no"}}"#, .failure(id: 1, Data(#"{"message":"no"}"#.utf8))),
        (#"{"id":"1","type":"complete","payload":null}"#, .completion(id: 1)),
    ]

    @Test(arguments: Self.messagesOfTheOlderProtocolAreParsedArguments)
    func messagesOfTheOlderProtocolAreParsed(text: String, expected: SocketMessage) throws {
        #expect(try SocketMessage(text, Self.older) == expected)
    }

    static let malformed = [
        "", " ", "nonsense", "[]", "1", "null", #""next""#, "{", "{]", #"{"type"}"#, #"{"type":}"#, #"{"type":"ping""#,
        #"{"type":"ping"}}"#, #"{"type":"ping"} x"#, #"{"type":"ping",}"#, #"{,"type":"ping"}"#, "{}",
        #"{"type":null}"#, #"{"type":1}"#, #"{"type":"unknown"}"#, #"{"type":"data","id":"1","payload":{}}"#,
        #"{"type":"ka"}"#, #"{"type":"connection_error"}"#, #"{"type":"subscribe","id":"1","payload":{}}"#,
        #"{"type":"next","payload":{}}"#, #"{"type":"next","id":1,"payload":{}}"#,
        #"{"type":"next","id":null,"payload":{}}"#, #"{"type":"next","id":"1"}"#,
        #"{"type":"next","id":"1","payload":null}"#, #"{"type":"next","id":"1","payload":[]}"#,
        #"{"type":"next","id":"1","payload":"{}"}"#, #"{"type":"complete"}"#, #"{"type":"error","id":"1"}"#,
        #"{"type":"error","id":"1","payload":{}}"#, #"{"type":"error","id":"1","payload":[]}"#,
        #"{"type":"error","id":"1","payload":[ ]}"#, #"{"type":"error","id":"1","payload":["no"]}"#,
        #"{"type":"error","payload":[{"message":"no"}]}"#, #"{"type":"ping","payload":[]}"#,
        #"{"type":"ping","payload":1}"#, #"{"type":"pong","payload":"a"}"#, #"{"type":"connection_ack","payload":[]}"#,
        #"{"type":"ping","payload":{"a":01}}"#, #"{"type":"ping","payload":{"a":.5}}"#,
        #"{"type":"ping","payload":{"a":1.}}"#, #"{"type":"ping","payload":{"a":1e}}"#,
        #"{"type":"ping","payload":{"a":-}}"#, #"{"type":"ping","payload":{"a":tru}}"#,
        #"{"type":"ping","payload":{"a":"\x"}}"#, #"{"type":"ping","payload":{"a":"\u12g4"}}"#,
        #"{"type":"ping","payload":{"a" 1}}"#, #"{"type":"ping","payload":{"a":[1 2]}}"#,
        #"{"type":"ping","payload":{"a":[1,]}}"#, #"{"type":"ping","payload":{"a":1,}}"#,
        #"{"type":"ping","payload":{a:1}}"#, #"{"type":"ping","payload":{"a":[1}}"#, "{\"type\":\"ping\n\"}",
        #"{"type":"ping","payload":{"a":"# + String(repeating: "[", count: 600)
            + String(repeating: "]", count: 600) + "}}",
    ]

    @Test(arguments: malformed)
    func malformedMessageIsAProtocolError(text: String) throws {
        let fault = #expect(throws: SocketProtocolError.self) { try SocketMessage(text, Self.current) }
        let error = try #require(fault).error
        #expect(error.kind == .protocol)
        #expect(!error.isTransient)
    }

    @Test(arguments: [#"{"type":"next","id":"1","payload":{}}"#, #"{"type":"ping"}"#, #"{"type":"data","id":"1"}"#])
    func messageUnknownToTheOlderProtocolIsRejected(text: String) {
        #expect(throws: SocketProtocolError.self) { try SocketMessage(text, Self.older) }
    }

    /// Any truncation of a message that the tokenizer accepts as a whole.
    @Test func truncatedMessageIsRejected() {
        let text = #"{"id":"12","type":"next","payload":{"data":{"a":[1,-2.5e3,"\u00e9\n",true,null,{}]}}}"#
        for length in 0..<text.utf8.count {
            #expect(throws: SocketProtocolError.self) { try SocketMessage(String(text.prefix(length)), Self.current) }
        }
    }

    @Test func deepPayloadsAreAcceptedUpToTheLimit() throws {
        let deep = String(repeating: "[", count: 511) + String(repeating: "]", count: 511)
        let mixed = String(repeating: #"{"a":["#, count: 255) + String(repeating: "]}", count: 255)
        for payload in [#"{"a":\#(deep)}"#, #"{"a":\#(mixed)}"#] {
            let text = #"{"type":"next","id":"1","payload":\#(payload)}"#
            #expect(try SocketMessage(text, Self.current) == .result(id: 1, Data(payload.utf8)))
        }
    }

    private static let requestsAreEncodedForEachProtocolArguments: [(SocketRequest, String, String)] = [
        (SocketRequest.initialisation(nil), #"{"type":"connection_init"}"#, #"{"type":"connection_init"}"#),
        (
            .initialisation(Data(#"{"a":1}"#.utf8)), #"{"type":"connection_init","payload":{"a":1}}"#,
            #"{"type":"connection_init","payload":{"a":1}}"#
        ),
        (
            .operation(id: 3, Data(#"{"query":"{ a }"}"#.utf8)),
            #"{"id":"3","type":"subscribe","payload":{"query":"{ a }"}}"#,
            #"{"id":"3","type":"start","payload":{"query":"{ a }"}}"#
        ),
        (.cancellation(id: 3), #"{"id":"3","type":"complete"}"#, #"{"id":"3","type":"stop"}"#),
        (
            .pong(Data(#"{"a": 1}"#.utf8)), #"{"type":"pong","payload":{"a": 1}}"#,
            #"{"type":"pong","payload":{"a": 1}}"#
        ),
    ]

    @Test(arguments: Self.requestsAreEncodedForEachProtocolArguments)
    func requestsAreEncodedForEachProtocol(request: SocketRequest, current: String, older: String) {
        #expect(request.text(Self.current) == current)
        #expect(request.text(Self.older) == older)
    }
}
