import Testing

@testable import BeagleNetHTTP

/// Valid and invalid frames of a server, by clauses of RFC 6455 and the groups of the Autobahn test suite.
struct WebSocketDecoderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let events: [WebSocketDecoder.Event]
        /// The close code of the violation, or `nil` if the bytes are valid.
        let violation: WebSocket.Close.Code?

        init(
            _ name: String,
            _ bytes: [UInt8],
            _ events: [WebSocketDecoder.Event] = [],
            violation: WebSocket.Close.Code? = nil
        ) {
            testDescription = name
            self.bytes = bytes
            self.events = events
            self.violation = violation
        }
    }

    /// The maximum size of a message in the table.
    static let limit = 70_000

    static let rows: [Row] =
        [
            // 5.2: lengths, at their limits
            Row("empty text", [0x81, 0], [.message(.text(""))]),
            Row("empty binary", [0x82, 0], [.message(.binary(Data()))]),
            Row("text of 5.7", [0x81, 5] + "Hello".utf8, [.message(.text("Hello"))]),
            Row("125 bytes", [0x82, 125] + zeros(125), [.message(.binary(Data(count: 125)))]),
            Row("126 bytes", [0x82, 126, 0, 126] + zeros(126), [.message(.binary(Data(count: 126)))]),
            Row("65,535 bytes", [0x82, 126, 0xFF, 0xFF] + zeros(65_535), [.message(.binary(Data(count: 65_535)))]),
            Row(
                "65,536 bytes",
                [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0] + zeros(65_536),
                [.message(.binary(Data(count: 65_536)))]
            ),
            Row("length in too many bytes", [0x82, 126, 0, 125] + zeros(125), violation: .protocolError),
            Row("length in far too many bytes", [0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], violation: .protocolError),
            Row("length with the highest bit", [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], violation: .protocolError),
            Row("length beyond the limit", [0x82, 127, 0, 0, 0, 0, 0x40, 0, 0, 0], violation: .messageTooBig),
            Row("greatest length", [0x82, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7), violation: .messageTooBig),
            // 5.2: bits and kinds
            Row("first reserved bit", [0xC1, 0], violation: .protocolError),
            Row("second reserved bit", [0xA1, 0], violation: .protocolError),
            Row("third reserved bit", [0x91, 0], violation: .protocolError),
            Row("reserved bit in a ping", [0xC9, 0], violation: .protocolError),
            Row("reserved kind of data", [0x83, 0], violation: .protocolError),
            Row("reserved kind of control", [0x8B, 0], violation: .protocolError),
            Row("masked by the server (5.1)", [0x81, 0x85, 1, 2, 3, 4] + zeros(5), violation: .protocolError),
            // 5.4: fragments
            Row("two fragments", [0x01, 3] + "Hel".utf8 + [0x80, 2] + "lo".utf8, [.message(.text("Hello"))]),
            Row("empty fragments", [0x02, 0, 0x00, 0, 0x80, 0], [.message(.binary(Data()))]),
            Row("character cut between fragments", [0x01, 1, 0xC3, 0x80, 1, 0xA9], [.message(.text("é"))]),
            Row("middle without begin", [0x00, 0], violation: .protocolError),
            Row("end without begin", [0x80, 0], violation: .protocolError),
            Row("message inside of another", [0x01, 1, 0x61, 0x81, 1, 0x62], violation: .protocolError),
            Row(
                "too large in fragments",
                [0x02, 126, 0xEA, 0x60] + zeros(60_000) + [0x80, 126, 0x27, 0x11],
                violation: .messageTooBig
            ),
            // 5.5: control frames
            Row("ping", [0x89, 2] + "hi".utf8, [.ping(Array("hi".utf8))]),
            Row("ping of 125 bytes", [0x89, 125] + zeros(125), [.ping(zeros(125))]),
            Row("ping of 126 bytes", [0x89, 126, 0, 126], violation: .protocolError),
            Row("fragmented ping", [0x09, 0], violation: .protocolError),
            Row("fragmented close", [0x08, 2, 3, 0xE8], violation: .protocolError),
            Row("pong that nobody asked for", [0x8A, 1, 0x61], [.pong]),
            Row(
                "ping between fragments",
                [0x01, 1, 0x61, 0x89, 1, 0x70, 0x80, 1, 0x62],
                [.ping([0x70]), .message(.text("ab"))]
            ),
            Row("close", [0x88, 2, 3, 0xE8], [.close(WebSocket.Close(.normal))]),
            Row(
                "close with a reason",
                [0x88, 5, 3, 0xE9] + "bye".utf8,
                [.close(WebSocket.Close(.goingAway, reason: "bye"))]
            ),
            Row("close without a code", [0x88, 0], [.close(WebSocket.Close(.noStatus))]),
            Row("close with half a code", [0x88, 1, 3], violation: .protocolError),
            Row("close with a broken reason", [0x88, 3, 3, 0xE8, 0xFF], violation: .invalidPayload),
        ]
        // 7.4: codes
        + [1000, 1001, 1002, 1003, 1007, 1011, 1014, 3000, 3999, 4000, 4999].map {
            Row("close with \($0)", close($0), [.close(WebSocket.Close(.init(rawValue: $0)))])
        }
        + [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535].map {
            Row("close with \($0)", close($0), violation: .protocolError)
        }
        // 8.1: text is UTF-8
        + [
            [0xCE, 0xBA, 0xE1, 0xBD, 0xB9], [0xF4, 0x8F, 0xBF, 0xBF], [0xEF, 0xBF, 0xBE], [0x00],
        ].map { text($0, String(decoding: $0, as: UTF8.self)) }
        + [
            [0xFF], [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xC3], [0xE2, 0x82],
        ].map { text($0, nil) }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private static func close(_ code: UInt16) -> [UInt8] { [0x88, 2, UInt8(code >> 8), UInt8(code & 0xFF)] }

    private static func text(_ bytes: [UInt8], _ text: String?) -> Row {
        Row(
            "text of \(bytes)",
            [0x81, UInt8(bytes.count)] + bytes,
            text.map { [.message(.text($0))] } ?? [],
            violation: text == nil ? .invalidPayload : nil
        )
    }

    /// Feeds the bytes in pieces that end at these places.
    private func expect(_ row: Row, fedUpTo ends: some Sequence<Int>) throws {
        var decoder = WebSocketDecoder(maxMessageBytes: Self.limit)
        var events: [WebSocketDecoder.Event] = []
        var start = 0
        do {
            for end in ends {
                try row.bytes[start..<end].withUnsafeBytes { piece in
                    var rest = piece
                    while let event = try decoder.next(&rest) { events.append(event) }
                    #expect(rest.isEmpty)
                }
                start = end
            }
            #expect(row.violation == nil)
        } catch let error as WebSocketViolation {
            #expect(error.code == row.violation, "\(error.message)")
        }
        #expect(events == row.events)
    }

    @Test(arguments: rows) func framesAreDecodedInOnePiece(_ row: Row) throws {
        try expect(row, fedUpTo: [row.bytes.count])
    }

    @Test(arguments: rows) func framesAreDecodedByteByByte(_ row: Row) throws {
        try expect(row, fedUpTo: 1...row.bytes.count)
    }

    @Test(arguments: rows) func framesAreDecodedAtEverySplit(_ row: Row) throws {
        // In long runs of zeros, only the start and the end.
        let points = (0...row.bytes.count).filter { $0 < 64 || $0 > row.bytes.count - 64 }
        for point in points { try expect(row, fedUpTo: [point, row.bytes.count]) }
    }

    @Test func consecutiveMessagesAreSeparate() throws {
        try expect(
            Row(
                "",
                [0x81, 1, 0x61, 0x82, 1, 0x62, 0x01, 1, 0x63, 0x80, 1, 0x64],
                [.message(.text("a")), .message(.binary(Data([0x62]))), .message(.text("cd"))]
            ),
            fedUpTo: [12]
        )
    }
}
