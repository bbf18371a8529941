/// Writes a document's tokens with only the separators that the grammar needs.
enum DocumentMinifier {
    /// Returns the minified text of a document.
    ///
    /// - Parameter descriptions: The offsets of the descriptions, which are left out.
    static func text(of bytes: [UInt8], without descriptions: [Int]) -> String {
        let written = bytes.withUnsafeBufferPointer { bytes in
            do throws(GraphQLSyntaxError) {
                return try write(bytes, descriptions)
            } catch {
                // The document was parsed before, so this can't happen.
                return Array(bytes)
            }
        }
        return String(decoding: written, as: UTF8.self)
    }

    private static func write(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ descriptions: [Int]
    ) throws(GraphQLSyntaxError) -> [UInt8] {
        var written: [UInt8] = []
        written.reserveCapacity(bytes.count)
        var lexer = GraphQLLexer(bytes)
        var left = descriptions[...]
        var last = GraphQLToken.Kind.end
        while true {
            let token = try lexer.next()
            if token.kind == .end { return written }
            if left.first == token.start {
                left = left.dropFirst()
                continue
            }
            if token.kind.isWord && last.isWord || token.kind.isText && last.isText { written.append(0x20) }
            if token.kind == .blockString {
                written.append(contentsOf: GraphQLString.quoted(GraphQLString.value(of: token, in: bytes)).utf8)
            } else {
                written.append(contentsOf: bytes[token.start..<token.end])
            }
            last = token.kind
        }
    }
}
