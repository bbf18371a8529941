import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a server says over a WebSocket: graphql-transport-ws, and what came before it.
///
/// Read in one pass that checks the grammar of the whole and makes no value of the payload. Of a member that repeats the last
/// counts, and members that nobody knows are passed over.
enum SocketMessage: Sendable, Hashable {
    /// It takes operations (`connection_ack`), and may say something with it: the text of an object.
    case acknowledgement(Data?)
    /// It takes none (`connection_error`, of the older protocol), and says why.
    case refusal(Data?)
    /// It is there (`ka`, of the older protocol; `pong`, which may hold something).
    case signOfLife(Data?)
    /// It asks for a sign of life, which is to hold the same payload.
    case ping(Data?)
    /// A result (`next`, `data`): the text of an object. Of ids that are none of ours nil is known.
    case result(id: Int?, Data)
    /// Why there is no result, nor will be (`error`): the text of a list, in the older protocol of anything.
    case failure(id: Int?, Data)
    /// Nothing more comes (`complete`).
    case completion(id: Int?)

    /// - Throws: `SocketFault` where the protocol knows no such message.
    init(_ text: String, _ subprotocol: GraphQLSocketOptions.Subprotocol) throws(SocketFault) {
        var text = text
        let outcome: Result<SocketMessage, SocketFault> = text.withUTF8 { bytes in
            do throws(SocketFault) {
                return .success(try Envelope(bytes).message(subprotocol))
            } catch {
                return .failure(error)
            }
        }
        self = try outcome.get()
    }
}

/// How a message breaks the protocol, in words of ours.
struct SocketFault: Error, Hashable {
    let reason: String

    /// What operations fail with.
    var error: NetworkError {
        NetworkError(
            .protocol,
            during: .body,
            "the server violated the WebSocket subprotocol: \(reason)",
            advice: "check that the endpoint serves GraphQL over WebSocket"
        )
    }
}

/// Where the members of a message are.
private struct Envelope {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var type: JSONScanner.Text?
    private var id: JSONScanner.Text?
    private var payload: Range<Int>?

    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(SocketFault) {
        self.bytes = bytes
        var scanner = JSONScanner(bytes)
        do throws(JSONFault) {
            guard scanner.peek() == UInt8(ascii: "{") else {
                _ = try scanner.value()
                throw scanner.fault("expected an object")
            }
            try scanner.object { (scanner, name) throws(JSONFault) in try readMember(name, &scanner) }
            try scanner.finish()
        } catch {
            throw SocketFault(reason: "a message is not a JSON object: \(error.reason) at byte \(error.offset)")
        }
    }

    private mutating func readMember(
        _ name: JSONScanner.Text,
        _ scanner: inout JSONScanner
    ) throws(JSONFault) {
        if text(name, is: "payload") {
            payload = try scanner.value()
        } else if text(name, is: "id") {
            // What is no text is none of ours; messages that need none may hold anything.
            id = scanner.peek() == UInt8(ascii: "\"") ? try scanner.text() : nil
            if id == nil { _ = try scanner.value() }
        } else if text(name, is: "type") {
            type = try textOrValue(&scanner, "type is not a string")
        } else {
            _ = try scanner.value()
        }
    }

    private func textOrValue(_ scanner: inout JSONScanner, _ reason: String) throws(JSONFault) -> JSONScanner.Text {
        guard scanner.peek() == UInt8(ascii: "\"") else { throw scanner.fault(reason) }
        return try scanner.text()
    }

    private func text(_ text: JSONScanner.Text, is word: StaticString) -> Bool {
        if text.hasEscapes { return unescaped(text) == word.description }
        return text.range.count == word.utf8CodeUnitCount
            && word.withUTF8Buffer { $0.elementsEqual(bytes[text.range]) }
    }

    private func unescaped(_ text: JSONScanner.Text) -> String {
        JSONText.unescaped(Array(bytes[text.range])[...])
    }

    // MARK: what it means

    func message(_ subprotocol: GraphQLSocketOptions.Subprotocol) throws(SocketFault) -> SocketMessage {
        guard let type else { throw SocketFault(reason: "a message has no type") }
        let message = try subprotocol == .graphQLWS ? olderMessage(type) : currentMessage(type)
        guard let message else { throw SocketFault(reason: "a message has an unknown type") }
        return message
    }

    /// https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
    private func currentMessage(_ type: JSONScanner.Text) throws(SocketFault) -> SocketMessage? {
        if text(type, is: "next") { return .result(id: try number(), try object()) }
        if text(type, is: "complete") { return .completion(id: try number()) }
        if text(type, is: "error") { return .failure(id: try number(), try errors()) }
        if text(type, is: "ping") { return .ping(try objectOrNothing()) }
        if text(type, is: "pong") { return .signOfLife(try objectOrNothing()) }
        if text(type, is: "connection_ack") { return .acknowledgement(try objectOrNothing()) }
        return nil
    }

    /// https://github.com/apollographql/subscriptions-transport-ws/blob/master/PROTOCOL.md
    private func olderMessage(_ type: JSONScanner.Text) throws(SocketFault) -> SocketMessage? {
        if text(type, is: "data") { return .result(id: try number(), try object()) }
        if text(type, is: "complete") { return .completion(id: try number()) }
        if text(type, is: "error") { return .failure(id: id == nil ? nil : try number(), try anything()) }
        if text(type, is: "ka") { return .signOfLife(nil) }
        // The older protocol says nothing of a payload, and servers may put anything there.
        if text(type, is: "connection_ack") { return .acknowledgement(payload.map { Data(bytes[$0]) }) }
        if text(type, is: "connection_error") { return .refusal(payload.map { Data(bytes[$0]) }) }
        return nil
    }

    /// The id as a number of ours; nil where it is another's.
    private func number() throws(SocketFault) -> Int? {
        guard let id else { throw SocketFault(reason: "a message has no id") }
        return id.hasEscapes ? Self.number(unescaped(id).utf8) : Self.number(bytes[id.range])
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int? {
        // Another writing of the same number is another id.
        guard (1...18).contains(digits.count), digits.first != 0x30 else { return nil }
        var number = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            number = number * 10 + Int(digit - 0x30)
        }
        return number
    }

    private func anything() throws(SocketFault) -> Data {
        guard let payload else { throw SocketFault(reason: "a message has no payload") }
        return Data(bytes[payload])
    }

    private func object() throws(SocketFault) -> Data {
        guard let payload, bytes[payload.lowerBound] == UInt8(ascii: "{") else {
            throw SocketFault(reason: "a payload is not an object")
        }
        return Data(UnsafeBufferPointer(rebasing: bytes[payload]))
    }

    /// Of what may be left out null stands for nothing, as some servers write it.
    private func objectOrNothing() throws(SocketFault) -> Data? {
        guard let payload, bytes[payload.lowerBound] != UInt8(ascii: "n") else { return nil }
        return try object()
    }

    /// A list that is not empty.
    private func errors() throws(SocketFault) -> Data {
        guard let payload, bytes[payload.lowerBound] == UInt8(ascii: "[") else {
            throw SocketFault(reason: "the payload of an error is not a list")
        }
        var inside = JSONScanner(UnsafeBufferPointer(rebasing: bytes[payload].dropFirst()))
        guard inside.peek() == UInt8(ascii: "{") else {
            throw SocketFault(reason: "the payload of an error is not a list of errors")
        }
        return Data(bytes[payload])
    }
}
