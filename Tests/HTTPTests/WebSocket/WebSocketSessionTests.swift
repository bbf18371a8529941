import Testing

@testable import BeagleNetHTTP

struct WebSocketSessionTests {
    var session = WebSocketSession(maxMessageBytes: 1 << 20)

    /// A frame as the server decodes it.
    struct Sent: Equatable {
        let opcode: WebSocketOpcode
        let isFinal: Bool
        let payload: [UInt8]

        init(_ opcode: WebSocketOpcode, _ payload: some Sequence<UInt8>, isFinal: Bool = true) {
            self.opcode = opcode
            self.isFinal = isFinal
            self.payload = Array(payload)
        }
    }

    /// Returns all frames that are queued for sending.
    private mutating func sent() throws -> [Sent] {
        var bytes: [UInt8] = []
        while case let chunk = session.nextChunk(), !chunk.isEmpty { bytes += chunk }
        return try Self.frames(bytes)
    }

    /// Decodes masked frames, independently of the code that encodes them.
    static func frames(_ bytes: [UInt8]) throws -> [Sent] {
        var rest = bytes[...]
        var frames: [Sent] = []
        while let first = rest.popFirst() {
            let second = rest.removeFirst()
            #expect(second & 0x80 != 0, "client frames must be masked")
            var length = Int(second & 0x7F)
            if length > 125 {
                let size = length == 126 ? 2 : 8
                length = rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
                #expect(length > (size == 2 ? 125 : 65_535), "lengths must use the shortest form")
                rest = rest.dropFirst(size)
            }
            let mask = Array(rest.prefix(4))
            rest = rest.dropFirst(4)
            #expect(rest.count >= length)
            let payload = rest.prefix(length).enumerated().map { $1 ^ mask[$0 & 3] }
            rest = rest.dropFirst(length)
            frames.append(
                Sent(try #require(WebSocketOpcode(rawValue: first & 0x0F)), payload, isFinal: first & 0x80 != 0)
            )
        }
        return frames
    }

    private mutating func receive(_ bytes: [UInt8]) -> [WebSocket.Message] {
        bytes.withUnsafeBytes { session.receive($0) }
    }

    @Test(arguments: [0, 1, 7, 8, 9, 125, 126, 65_535])
    mutating func messageIsOneMaskedFrame(of size: Int) throws {
        let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        session.send(.binary(Data(payload)))
        #expect(session.queuedBytes >= size && session.queuedBytes > 0)
        #expect(try sent() == [Sent(.binary, payload)])
        #expect(session.queuedBytes == 0)
    }

    @Test mutating func textIsSentAsUTF8() throws {
        session.send(.text("größer"))
        #expect(try sent() == [Sent(.text, "größer".utf8)])
    }

    @Test mutating func masksDiffer() {
        session.send(.binary(Data(count: 64)))
        session.send(.binary(Data(count: 64)))
        let chunk = session.nextChunk()
        #expect(chunk[..<70] != chunk[70...], "frames of zeros consist of their masks")
    }

    @Test mutating func largeMessageIsFragmentedAroundAPong() throws {
        let payload = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        session.send(.binary(Data(payload)))
        let first = session.nextChunk()
        #expect(first.count < 100_000)
        #expect(receive([0x89, 1, 0x70]).isEmpty)
        let frames = try Self.frames(first) + sent()
        #expect(frames.map(\.opcode) == [.binary, .pong, .continuation, .continuation, .continuation])
        #expect(frames.filter { !$0.opcode.isControl }.flatMap(\.payload) == payload)
        #expect(frames.map(\.isFinal) == [false, true, false, false, true])
    }

    @Test mutating func smallMessagesShareAChunk() throws {
        for index in 0..<1000 { session.send(.text("\(index)")) }
        let frames = try Self.frames(session.nextChunk())
        let texts = frames.map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(texts == (0..<1000).map { "\($0)" })
        #expect(session.nextChunk().isEmpty)
    }

    @Test mutating func pongHasThePayloadOfThePing() throws {
        #expect(receive([0x89, 2, 1, 2]).isEmpty)
        #expect(try sent() == [Sent(.pong, [1, 2])])
    }

    @Test mutating func floodOfPingsReceivesOnePong() throws {
        #expect(receive([0x89, 1, 1, 0x89, 1, 2, 0x89, 1, 3]).isEmpty)
        #expect(try sent() == [Sent(.pong, [3])])
    }

    @Test mutating func sentPingIsEmpty() throws {
        session.ping()
        #expect(try sent() == [Sent(.ping, [])])
    }

    @Test mutating func closeOfTheServerIsEchoedImmediately() throws {
        session.send(.text("not wanted any more"))
        #expect(receive([0x81, 1, 0x61, 0x88, 2, 0x0F, 0xA0, 0x81, 1, 0x62]) == [.text("a")])
        #expect(session.peerClose == WebSocket.Close(.init(rawValue: 4000)))
        #expect(try sent() == [Sent(.close, [0x0F, 0xA0])])
        #expect(session.isOver && session.isClosing && session.queuedBytes == 0)
    }

    @Test mutating func closeWithoutACodeIsEchoedWithoutOne() throws {
        #expect(receive([0x88, 0]).isEmpty)
        #expect(session.peerClose?.code == .noStatus)
        #expect(try sent() == [Sent(.close, [])])
    }

    @Test mutating func closeIsSentAfterQueuedMessages() throws {
        session.send(.text("last"))
        session.close(WebSocket.Close(.goingAway, reason: "bye"))
        session.send(.text("too late"))
        #expect(try sent() == [Sent(.text, "last".utf8), Sent(.close, [3, 0xE9] + "bye".utf8)])
        #expect(!session.isOver)
        #expect(receive([0x81, 1, 0x61, 0x89, 0, 0x88, 2, 3, 0xE9]).isEmpty, "messages after a close must be ignored")
        #expect(session.peerClose == WebSocket.Close(.goingAway))
        #expect(try sent().isEmpty)
    }

    /// RFC 6455, 5.5.1 and 5.5.2.
    @Test mutating func pingReceivesAPongUntilTheCloseIsSent() throws {
        session.send(.binary(Data(count: 200_000)))
        session.close(WebSocket.Close(.normal))
        let first = session.nextChunk()
        #expect(receive([0x89, 1, 0x70]).isEmpty)
        let frames = try Self.frames(first) + sent()
        #expect(frames.map(\.opcode) == [.binary, .pong, .continuation, .continuation, .continuation, .close])
        #expect(receive([0x89, 1, 0x70]).isEmpty)
        #expect(try sent().isEmpty)
    }

    @Test(
        arguments: [
            ([0x81, 0x80], 1002, .protocol), ([0x81, 1, 0xFF], 1007, .protocol),
            ([0x82, 127, 0, 0, 0, 0, 0x40, 0, 0, 0], 1009, .tooLarge),
        ] as [([UInt8], UInt16, NetworkError.Kind)]
    )
    mutating func violationSendsACloseCode(_ bytes: [UInt8], _ code: UInt16, _ kind: NetworkError.Kind) throws {
        session.send(.text("not wanted any more"))
        #expect(receive([0x81, 1, 0x61] + bytes + [0x81, 1, 0x62]) == [.text("a")])
        #expect(session.violation?.kind == kind)
        #expect(try sent() == [Sent(.close, [UInt8(code >> 8), UInt8(code & 0xFF)])])
        #expect(receive([0x81, 1, 0x63]).isEmpty)
    }

    @Test(arguments: [999, 1004, 1005, 1006, 1015, 5000] as [UInt16])
    func reservedCloseCodeIsRejected(_ code: UInt16) {
        let error = #expect(throws: NetworkError.self) { try WebSocket.Close(.init(rawValue: code)).validate() }
        #expect(error?.kind == .badRequest)
        #expect(error?.message.contains("WebSocket.Close.code") == true)
    }

    @Test func closeReasonIsLimitedInLength() throws {
        try WebSocket.Close(.normal, reason: String(repeating: "é", count: 61)).validate()
        let error = #expect(throws: NetworkError.self) {
            try WebSocket.Close(.normal, reason: String(repeating: "é", count: 62)).validate()
        }
        #expect(error?.message.contains("WebSocket.Close.reason") == true)
    }
}
