import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A message from the server, in the protocol `graphql-transport-ws` or its predecessor.
///
/// It is parsed in one pass that checks the JSON grammar and creates no values for the payload. If a member is
/// repeated, the last one counts; unknown members are ignored.
enum SocketMessage: Sendable, Hashable {
    /// The connection is acknowledged (`connection_ack`), with an optional payload as the text of an object.
    case acknowledgement(Data?)
    /// The connection is refused (`connection_error` of the older protocol), with the reason.
    case refusal(Data?)
    /// A keep-alive message: `ka` of the older protocol, or `pong` with an optional payload.
    case keepAlive(Data?)
    /// A ping, whose payload the pong must repeat.
    case ping(Data?)
    /// A result (`next`, `data`) as the text of an object. The ID is `nil` if the client didn't assign it.
    case result(id: Int?, Data)
    /// The final error of an operation (`error`) as the text of a list, or of any value in the older protocol.
    case failure(id: Int?, Data)
    /// The end of an operation (`complete`).
    case completion(id: Int?)

    /// - Throws: `SocketProtocolError` if the protocol doesn't define the message.
    init(_ text: String, _ subprotocol: GraphQLSocketOptions.Subprotocol) throws(SocketProtocolError) {
        var text = text
        let outcome: Result<SocketMessage, SocketProtocolError> = text.withUTF8 { bytes in
            do throws(SocketProtocolError) {
                return .success(try Envelope(bytes).message(subprotocol))
            } catch {
                return .failure(error)
            }
        }
        self = try outcome.get()
    }
}

/// The members of a message, by their position in its text.
private struct Envelope {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var type: JSONScanner.Text?
    private var id: JSONScanner.Text?
    private var payload: Range<Int>?

    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(SocketProtocolError) {
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
            throw SocketProtocolError(reason: "a message is not a JSON object: \(error.reason) at byte \(error.offset)")
        }
    }

    private mutating func readMember(
        _ name: JSONScanner.Text,
        _ scanner: inout JSONScanner
    ) throws(JSONFault) {
        if text(name, is: "payload") {
            payload = try scanner.value()
        } else if text(name, is: "id") {
            // An ID that isn't a string can't be one of the client's. Messages that need no ID may have any value here.
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

    func message(_ subprotocol: GraphQLSocketOptions.Subprotocol) throws(SocketProtocolError) -> SocketMessage {
        guard let type else { throw SocketProtocolError(reason: "a message has no type") }
        let message = try subprotocol == .graphQLWS ? olderMessage(type) : currentMessage(type)
        guard let message else { throw SocketProtocolError(reason: "a message has an unknown type") }
        return message
    }

    /// Parses a message of the current protocol (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md).
    private func currentMessage(_ type: JSONScanner.Text) throws(SocketProtocolError) -> SocketMessage? {
        if text(type, is: "next") { return .result(id: try number(), try object()) }
        if text(type, is: "complete") { return .completion(id: try number()) }
        if text(type, is: "error") { return .failure(id: try number(), try errors()) }
        if text(type, is: "ping") { return .ping(try objectOrNothing()) }
        if text(type, is: "pong") { return .keepAlive(try objectOrNothing()) }
        if text(type, is: "connection_ack") { return .acknowledgement(try objectOrNothing()) }
        return nil
    }

    /// Parses a message of the older protocol
    /// (https://github.com/apollographql/subscriptions-transport-ws/blob/master/PROTOCOL.md).
    private func olderMessage(_ type: JSONScanner.Text) throws(SocketProtocolError) -> SocketMessage? {
        if text(type, is: "data") { return .result(id: try number(), try object()) }
        if text(type, is: "complete") { return .completion(id: try number()) }
        if text(type, is: "error") { return .failure(id: id == nil ? nil : try number(), try anything()) }
        if text(type, is: "ka") { return .keepAlive(nil) }
        // The older protocol doesn't define this payload, so it can be any value.
        if text(type, is: "connection_ack") { return .acknowledgement(payload.map { Data(bytes[$0]) }) }
        if text(type, is: "connection_error") { return .refusal(payload.map { Data(bytes[$0]) }) }
        return nil
    }

    /// Returns the ID as a number, or `nil` if it can't be one of the client's.
    private func number() throws(SocketProtocolError) -> Int? {
        guard let id else { throw SocketProtocolError(reason: "a message has no id") }
        return id.hasEscapes ? Self.number(unescaped(id).utf8) : Self.number(bytes[id.range])
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int? {
        // Another notation of the same number is another ID.
        guard (1...18).contains(digits.count), digits.first != 0x30 else { return nil }
        var number = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            number = number * 10 + Int(digit - 0x30)
        }
        return number
    }

    private func anything() throws(SocketProtocolError) -> Data {
        guard let payload else { throw SocketProtocolError(reason: "a message has no payload") }
        return Data(bytes[payload])
    }

    private func object() throws(SocketProtocolError) -> Data {
        guard let payload, bytes[payload.lowerBound] == UInt8(ascii: "{") else {
            throw SocketProtocolError(reason: "a payload is not an object")
        }
        return Data(UnsafeBufferPointer(rebasing: bytes[payload]))
    }

    /// Returns the payload. A null counts as missing, because some servers send it.
    private func objectOrNothing() throws(SocketProtocolError) -> Data? {
        guard let payload, bytes[payload.lowerBound] != UInt8(ascii: "n") else { return nil }
        return try object()
    }

    /// Returns the payload, which must be a list that isn't empty.
    private func errors() throws(SocketProtocolError) -> Data {
        guard let payload, bytes[payload.lowerBound] == UInt8(ascii: "[") else {
            throw SocketProtocolError(reason: "the payload of an error is not a list")
        }
        var inside = JSONScanner(UnsafeBufferPointer(rebasing: bytes[payload].dropFirst()))
        guard inside.peek() == UInt8(ascii: "{") else {
            throw SocketProtocolError(reason: "the payload of an error is not a list of errors")
        }
        return Data(bytes[payload])
    }
}
