import BeagleNetGraphQL
import BeagleNetHTTP
import Testing

struct GraphQLPayloadReaderTests {
    /// The payloads of a body that arrives in pieces.
    private struct Reading: Equatable {
        var payloads: [String] = []
        var kind: NetworkError.Kind?

        init(_ body: Data, _ contentType: String?, inPiecesOf size: Int, maxPayloadBytes: Int = 1 << 10) {
            do throws(NetworkError) {
                var reader = try GraphQLPayloadReader(contentType: contentType, maxPayloadBytes: maxPayloadBytes)
                for start in stride(from: 0, to: body.count, by: size) {
                    reader.feed(body.dropFirst(start).prefix(size))
                    while let payload = try reader.next() { add(payload) }
                }
                if let payload = try reader.finish() { add(payload) }
            } catch {
                kind = error.kind
            }
        }

        private mutating func add(_ payload: Data) {
            payloads.append(String(decoding: payload, as: UTF8.self))
        }
    }

    /// Reads the whole body and checks that pieces of every size give the same payloads.
    private func read(_ text: String, _ contentType: String?, maxPayloadBytes: Int = 1 << 10) -> Reading {
        let body = Data(text.utf8)
        func reading(_ size: Int) -> Reading {
            Reading(body, contentType, inPiecesOf: size, maxPayloadBytes: maxPayloadBytes)
        }
        let whole = reading(max(1, body.count))
        for size in 1...max(1, body.count) { #expect(reading(size) == whole, "in pieces of \(size)") }
        return whole
    }

    /// A body in the format of Strawberry 0.341.
    private static let strawberry = """
        ---\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 30\r\n\r\n\
        {"data":{"a":"}\\"\\\\"},"n":[{}]}\r\n---\r\nContent-Type: application/json; charset=utf-8\r\n\
        Content-Length: 17\r\n\r\n{"hasNext":false}\r\n-----\r\n
        """
    private static let twoPayloads = [#"{"data":{"a":"}\"\\"},"n":[{}]}"#, #"{"hasNext":false}"#]

    private static let multipartPartsArePayloadsArguments: [(String, String, [String])] = [
        (strawberry, #"multipart/mixed; boundary="-""#, twoPayloads),
        (strawberry, "multipart/mixed;boundary=-", twoPayloads),
        // A boundary inside a JSON string doesn't count, because line ends are escaped. Data after the last one is ignored.
        (
            "about\r\n--b\r\n\r\n{\"a\":\"\\r\\n--b--\"}\r\n--b--\r\nend\r\n--b\r\n\r\n{}",
            "multipart/mixed; boundary=b; deferSpec=20220824", [#"{"a":"\r\n--b--"}"#]
        ),
        // Heartbeats, empty parts, and lines that end in line feeds.
        (
            "--b\n\n{}\n--b\r\nA: 1\r\n\r\n { }\r\n \r\n--b\n\n\n--b\n\n{\"a\":1}\n\n--b\n--b--",
            "multipart/mixed; boundary=b", [#"{"a":1}"#]
        ),
        // Strawberry's subscriptions begin with a heartbeat without a boundary and end with an empty part.
        (
            """
            \r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}\r\n--graphql\r\n\
            Content-Type: application/json; charset=utf-8\r\nContent-Length: 32\r\n\r\n\
            {"payload":{"data":{"count":1}}}\r\n--graphql\r\n--graphql--\r\n
            """,
            "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json",
            [#"{"payload":{"data":{"count":1}}}"#]
        ),
        // The parser rejects payloads that are not objects.
        ("--b\r\n\r\nnull\r\n--b\r\n\r\n{\"a\":\r\n--b--", "multipart/mixed; boundary=b", ["null", #"{"a":"#]),
        ("--b--", "multipart/mixed; boundary=b", []),
    ]

    @Test(arguments: Self.multipartPartsArePayloadsArguments)
    func multipartPartsArePayloads(text: String, contentType: String, expected: [String]) {
        let reading = read(text, contentType)
        #expect(reading.payloads.map { $0.trimmingBlanks } == expected)
        #expect(reading.kind == nil)
    }

    private static let serverSentEventsArePayloadsArguments: [(String, [String])] = [
        (
            ": hi\r\n\r\nevent: next\r\ndata: {\"a\":1}\r\n\r\nevent: complete\r\ndata: \r\n\r\nevent: next\ndata: {\"b\":1}\n\n",
            [#"{"a":1}"#]
        ),
        (
            "data: {\"a\":\ndata: 1}\n\nevent: ping\ndata: {\"x\":1}\n\nevent: next\n\nevent: complete\n\ndata: {}\n\n",
            ["{\"a\":\n1}"]
        ),
        ("event: next\rdata: {}\r\revent: next\rdata:{\"a\":1}\r\revent: complete\rdata:\r\r", [#"{"a":1}"#]),
    ]

    @Test(arguments: Self.serverSentEventsArePayloadsArguments)
    func serverSentEventsArePayloads(text: String, expected: [String]) {
        let reading = read(text, "text/event-stream; charset=utf-8")
        #expect(reading.payloads == expected)
    }

    private static let jsonLinesArePayloadsArguments: [(String, [String])] = [
        ("{\"a\":1}\n{\"b\":2}\r\n\n{}\n{\"c\":3}", ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]), ("\n\r\n", []),
        ("{\"a\":1}\n", ["{\"a\":1}"]),
    ]

    @Test(arguments: Self.jsonLinesArePayloadsArguments)
    func jsonLinesArePayloads(text: String, expected: [String]) {
        let reading = read(text, "application/jsonl")
        #expect(reading.payloads.map(\.trimmingBlanks) == expected)
        #expect(reading.kind == nil)
    }

    @Test(arguments: ["application/json", "application/graphql-response+json", nil, "x"])
    func otherBodyIsOnePayload(contentType: String?) {
        #expect(read("{\"a\":\n1}", contentType).payloads == ["{\"a\":\n1}"])
        #expect(read("", contentType) == read("{}", contentType))
        #expect(!GraphQLPayloadReader.isStream(contentType))
    }

    private static let streamWithoutAnEndMarkerIsTruncatedAfterItsCompletePayloadsArguments: [(String, String)] = [
        ("--b\r\n\r\n{\"a\":1}\r\n--b\r\n\r\n{\"b\"", "multipart/mixed; boundary=b"),
        ("--b\r\n\r\n{\"a\":1}", "multipart/mixed; boundary=b"),
        ("event: next\ndata: {\"a\":1}\n\nevent: next\ndata: {\"b\":1}\n", "text/event-stream"),
        ("event: next\ndata: {\"a\":1}\n\nevent: complete", "text/event-stream"),
    ]

    @Test(arguments: Self.streamWithoutAnEndMarkerIsTruncatedAfterItsCompletePayloadsArguments)
    func streamWithoutAnEndMarkerIsTruncatedAfterItsCompletePayloads(text: String, contentType: String) {
        let reading = read(text, contentType)
        #expect(reading.payloads == [#"{"a":1}"#])
        #expect(reading.kind == .truncated)
    }

    private static let malformedStreamFailsAfterItsValidPayloadsArguments: [(String, String, NetworkError.Kind)] = [
        ("--b\r\n\r\n{\"a\":1} x\r\n--b--", "multipart/mixed; boundary=b", NetworkError.Kind.decoding),
        ("--b\r\n\r\n{\"a\":1}\r\n{\"b\":1}\r\n--b--", "multipart/mixed; boundary=b", .decoding),
        ("--b\r\n\r\n{\"a\":1}\r\n--b\r\nno field\r\n\r\n", "multipart/mixed; boundary=b", .protocol),
    ]

    @Test(arguments: Self.malformedStreamFailsAfterItsValidPayloadsArguments)
    func malformedStreamFailsAfterItsValidPayloads(text: String, contentType: String, kind: NetworkError.Kind) throws {
        for size in 1...text.utf8.count {
            let reading = Reading(Data(text.utf8), contentType, inPiecesOf: size)
            #expect(reading.kind == kind)
            #expect(reading.payloads.allSatisfy { $0 == #"{"a":1}"# })
        }
        #expect(throws: NetworkError.self) { try GraphQLPayloadReader(contentType: "multipart/mixed") }
    }

    private static let payloadOverTheLimitIsTooLargeArguments: [(String, String, String)] = [
        ("--b\r\n\r\n", "\r\n--b--", "multipart/mixed; boundary=b"),
        ("data: ", "\n\nevent: complete\ndata:\n\n", "text/event-stream"),
        ("", "\n", "application/jsonl"), ("", "", "application/jsonl"), ("", "", "application/json"),
    ]

    @Test(arguments: Self.payloadOverTheLimitIsTooLargeArguments)
    func payloadOverTheLimitIsTooLarge(before: String, after: String, contentType: String) {
        let payload = #"{"a":"\#(String(repeating: "x", count: 92))"}"#
        #expect(payload.utf8.count == 100)
        let text = before + payload + after
        // The limit of an event applies to its line.
        let fit = read(text, contentType, maxPayloadBytes: 106)
        #expect(fit.payloads.map(\.trimmingBlanks) == [payload])
        #expect(fit.kind == nil)
        #expect(read(text, contentType, maxPayloadBytes: 99).kind == .tooLarge)
    }

    private static let payloadIsAvailableAfterItsLastByteArguments: [(String, String)] = [
        ("--b\r\n\r\n{\"a\":[]}", "multipart/mixed; boundary=b"),
        ("--b\r\n\r\n{\"a\":[]}\r\n--b", "multipart/mixed; boundary=b"),
        ("event: next\ndata: {\"a\":[]}\n\n", "text/event-stream"), ("{\"a\":[]}\n", "application/jsonl"),
    ]

    @Test(arguments: Self.payloadIsAvailableAfterItsLastByteArguments)
    func payloadIsAvailableAfterItsLastByte(text: String, contentType: String) throws {
        var reader = try GraphQLPayloadReader(contentType: contentType)
        reader.feed(Data(text.utf8))
        #expect(try reader.next() == Data(#"{"a":[]}"#.utf8))
        #expect(try reader.next() == nil)
        #expect(!reader.isFinished)
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        let blanks: Set<Character> = [" ", "\n", "\r", "\r\n"]
        return String(drop { blanks.contains($0) }.reversed().drop { blanks.contains($0) }.reversed())
    }
}
