import Testing

@testable import BeagleNetHTTP

struct JSONTokenizerTests {
    private static let text = #"{"a\n":[1.5e-3,-0,true,false,null,"x\u00e9\\"],"b":{"c":"é"}} "#

    private func tokens(_ pieces: [ArraySlice<UInt8>]) throws -> [JSONTokenizer.Token] {
        var tokenizer = JSONTokenizer()
        var tokens: [JSONTokenizer.Token] = []
        for piece in pieces {
            try piece.withUnsafeBufferPointer { piece throws(JSONFault) in
                try tokenizer.feed(piece) { tokens.append($0) }
            }
        }
        try tokenizer.finish { tokens.append($0) }
        return tokens
    }

    @Test func tokensHaveTheirRanges() throws {
        let bytes = Array(Self.text.utf8)
        let tokens = try tokens([bytes[...]])
        let written = tokens.map { String(decoding: bytes[$0.start..<$0.end], as: UTF8.self) }
        #expect(
            written == [
                "{", #""a\n""#, "[", "1.5e-3", "-0", "true", "false", "null", #""x\u00e9\\""#, "]", #""b""#, "{",
                #""c""#, #""é""#, "}", "}",
            ]
        )
        #expect(tokens.count(where: { $0.kind == .name }) == 3)
        #expect(tokens.filter(\.hasEscapes).count == 2)
    }

    @Test func textInPiecesGivesTheSameTokens() throws {
        let bytes = Array(Self.text.utf8)
        let whole = try tokens([bytes[...]])
        for place in bytes.indices { #expect(try tokens([bytes[..<place], bytes[place...]]) == whole) }
        #expect(try tokens(bytes.indices.map { bytes[$0...$0] }) == whole)
    }

    @Test func numberEndsAtTheEndOfTheText() throws {
        #expect(try tokens([Array("12".utf8)[...]]).map(\.end) == [2])
        #expect(throws: JSONFault.self) { try tokens([Array("1.".utf8)[...]]) }
    }

    @Test func faultOffsetIsIndependentOfThePieces() {
        let bytes = Array(#"{"a":[1,tru x]}"#.utf8)
        for place in bytes.indices {
            let fault = #expect(throws: JSONFault.self) { try tokens([bytes[..<place], bytes[place...]]) }
            #expect(fault?.offset == 8)
        }
    }

    private static let invalidByteOrderMarkIsAFaultArguments: [[UInt8]] = [
        [0xEF], [0xEF, 0xBB], [0xEF, 0x20], [0xEF, 0xBB, 0x20], [0x20, 0xBB, 0xBF], [0x20, 0xEF, 0xBB, 0xBF],
    ]

    @Test(arguments: Self.invalidByteOrderMarkIsAFaultArguments)
    func invalidByteOrderMarkIsAFault(mark: [UInt8]) {
        #expect(throws: JSONFault.self) { try tokens([(mark + [0x31])[...]]) }
        #expect(throws: JSONFault.self) { try tokens(mark.map { [$0] } + [[0x31]]) }
    }

    @Test func byteOrderMarkInPiecesIsSkipped() throws {
        #expect(try tokens([[0xEF], [0xBB], [0xBF], [0x20], [0x31]]).map(\.start) == [4])
    }
}
