import BeagleNet
import BeagleNetHTTP

/// The parsed content of a document, shared by its copies. Rarely used parts are computed on first use.
package final class GraphQLDocumentStorage: Sendable {
    let text: String
    let bytes: [UInt8]
    package let nodes: [GraphQLNode]
    /// The byte offsets of the descriptions.
    let descriptions: [Int]
    private let lazyState = Lock(LazyState())

    private struct LazyState {
        var details: GraphQLDocumentDetails?
        var minified: String?
        var opening: (operationName: String?, bytes: [UInt8])?
        var hash: String?
    }

    init(_ text: String) throws(NetworkError) {
        let bytes = Array(text.utf8)
        do throws(GraphQLSyntaxError) {
            guard bytes.count < Int32.max else { throw GraphQLSyntaxError(0, "the text is larger than 2 GB") }
            (nodes, descriptions) = try bytes.withUnsafeBufferPointer { bytes throws(GraphQLSyntaxError) in
                var parser = GraphQLParser(bytes)
                try parser.document()
                var check = DocumentValidator(parser.nodes, bytes)
                try check.run()
                return (check.nodes, parser.descriptions)
            }
        } catch {
            throw NetworkError(error, in: bytes)
        }
        self.text = text
        self.bytes = bytes
    }

    var details: GraphQLDocumentDetails {
        lazyState.withLock { lazyState in
            if let details = lazyState.details { return details }
            let details = GraphQLDocumentDetails(self)
            lazyState.details = details
            return details
        }
    }

    /// Returns the start of a request message for an operation: an unclosed JSON object with the text and the operation
    /// name.
    ///
    /// The last start is cached, because an app usually sends the same operation again.
    func messageStart(_ operationName: String?) -> [UInt8] {
        lazyState.withLock { lazyState in
            if let opening = lazyState.opening, opening.operationName == operationName { return opening.bytes }
            var output = JSONOutput(capacity: bytes.count + 128)
            output.object { output in
                output.member("query", text)
                if let operationName { output.member("operationName", operationName) }
            }
            let opened = Array(output.bytes.dropLast())
            lazyState.opening = (operationName, opened)
            return opened
        }
    }

    var minified: String {
        lazyState.withLock { lazyState in
            if let minified = lazyState.minified { return minified }
            let minified = DocumentMinifier.text(of: bytes, without: descriptions)
            lazyState.minified = minified
            return minified
        }
    }

    func hash() throws(NetworkError) -> String {
        if let hash = lazyState.withLock({ $0.hash }) { return hash }
        let hash = try SHA256Digest.hex(of: Data(bytes))
        lazyState.withLock { $0.hash = hash }
        return hash
    }

    /// Returns the source text of a range.
    package func text(_ place: GraphQLNode.SourceRange) -> String {
        String(decoding: bytes[place.range], as: UTF8.self)
    }
}

extension NetworkError {
    /// Creates an error for an invalid document, with line and column.
    init(_ fault: GraphQLSyntaxError, in bytes: [UInt8]) {
        let place = GraphQLError.Location(of: fault.offset, in: bytes)
        self.init(
            .badRequest,
            during: .build,
            "the document is not valid GraphQL at line \(place.line), column \(place.column): \(fault.reason)",
            advice: fault.advice ?? "check the document at that position"
        )
    }
}

extension GraphQLError.Location {
    /// Converts a byte offset to a line and a column, which counts Unicode scalars.
    init(of offset: Int, in bytes: [UInt8]) {
        self.init(line: 1, column: 1)
        var index = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while index < min(offset, bytes.count) {
            let byte = bytes[index]
            index += 1
            if byte == 0x0D, index < bytes.count, bytes[index] == 0x0A { continue }
            if byte == 0x0A || byte == 0x0D {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
    }
}
