@testable import BeagleNetGraphQL
import BeagleNetHTTP

extension FuzzTarget {
    /// A document that reads is the same one when it is made short, and that is as short as it gets.
    static func fuzzDocument(_ text: String) {
        guard let document = try? GraphQLDocument(parsing: text) else { return }
        do {
            let short = try GraphQLDocument(parsing: document.minified)
            precondition(short.minified == document.minified, "a minified document can be made shorter")
            precondition(short.rootFields == document.rootFields, "a minified document has other root fields")
        } catch {
            preconditionFailure("a minified document does not read: \(error)")
        }
    }

    /// A line each: payloads of an answer that comes in pieces, and each as a whole answer.
    static func fuzzPieces(_ bytes: UnsafeRawBufferPointer) {
        var merge = IncrementalMerge()
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let data = Data(line)
            _ = try? GraphQLAnswer(reading: NetworkResponse(data: data))
            guard let payload = try? JSONValue(parsing: data) else { continue }
            do throws(NetworkError) {
                _ = try merge.take(payload)
            } catch {
                precondition(error.kind == .decoding || error.kind == .protocol, "a piece fails with \(error.kind)")
            }
        }
    }
}

extension GraphQLDocument {
    /// Those of all operations; defaults are told as they are written, and so differ.
    fileprivate var rootFields: [[RootField]] { operations.map(\.rootFields) }
}
