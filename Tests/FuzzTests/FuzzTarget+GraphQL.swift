@testable import BeagleNetGraphQL
import BeagleNetHTTP

extension FuzzTarget {
    /// A valid document is equivalent to its minified form, which can't be minified further.
    static func fuzzDocument(_ text: String) {
        guard let document = try? GraphQLDocument(parsing: text) else { return }
        do {
            let short = try GraphQLDocument(parsing: document.minified)
            precondition(short.minified == document.minified, "a minified document can be made shorter")
            precondition(short.rootFields == document.rootFields, "a minified document has other root fields")
        } catch {
            preconditionFailure("a minified document cannot be parsed: \(error)")
        }
    }

    /// Each line is a payload of an incremental response, and is also parsed as a complete response.
    static func fuzzPieces(_ bytes: UnsafeRawBufferPointer) {
        var merge = IncrementalMerge()
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let data = Data(line)
            _ = try? ParsedGraphQLResponse(reading: NetworkResponse(data: data))
            guard let payload = try? JSONValue(parsing: data) else { continue }
            do throws(NetworkError) {
                _ = try merge.apply(payload)
            } catch {
                precondition(error.kind == .decoding || error.kind == .protocol, "a piece fails with \(error.kind)")
            }
        }
    }

    /// Each line is a message of a server over a WebSocket. The older protocol is used if the first byte is odd. An
    /// accepted message is JSON, its payload is a part of it, and each operation ends once.
    static func fuzzSocket(_ bytes: UnsafeRawBufferPointer) {
        let isOlder = (bytes.first ?? 0) & 1 == 1
        var session = SocketSession(isOlder ? .graphQLWS : .graphQLTransportWS)
        let operations = (0..<3).map { _ in SocketOperation(Data()) { _ in } }
        let ids = operations.map { session.add($0) }
        var ended = 0
        for line in bytes.dropFirst().split(separator: UInt8(ascii: "\n")) {
            guard let text = String(validating: line, as: UTF8.self),
                let message = try? SocketMessage(text, session.subprotocol)
            else { continue }
            check(message, text)
            guard let step = try? session.receive(message) else { continue }
            if case .begin(let begun) = step {
                precondition(begun == ids, "not all operations begin with the acknowledgement")
                for id in begun { _ = session.markSent(id) }
            }
            if case .end = step { ended += 1 }
        }
        precondition(session.removeAll().count + ended == operations.count, "an operation ended twice or never")
    }

    private static func check(_ message: SocketMessage, _ text: String) {
        var tokenizer = JSONTokenizer()
        let bytes = Array(text.utf8)
        do {
            try bytes.withUnsafeBufferPointer { bytes throws(JSONFault) in try tokenizer.feed(bytes) { _ in } }
            try tokenizer.finish { _ in }
        } catch {
            preconditionFailure("an accepted message is not JSON: \(error)")
        }
        switch message {
        case .result(_, let payload), .failure(_, let payload), .ping(let payload?), .refusal(let payload?):
            precondition(bytes.firstRange(of: payload) != nil, "a payload is not a part of its message")
        default: break
        }
    }
}

extension GraphQLDocument {
    /// The root fields of all operations. Default values are reported as written, so they would differ.
    fileprivate var rootFields: [[RootField]] { operations.map(\.rootFields) }
}
