extension GraphQLDocument {
    /// The text with `__typename` added to every selection set except those of operations, so that the result states
    /// the type of each object.
    ///
    /// A fragment gets `__typename` even if an operation spreads it at its root.
    public var withTypenames: String {
        let bytes = Array(text.utf8)
        let written = bytes.withUnsafeBufferPointer { bytes in
            do throws(GraphQLSyntaxError) {
                return try Self.addTypenames(to: bytes)
            } catch {
                // The document was parsed before, so this can't happen.
                return Array(bytes)
            }
        }
        return String(decoding: written, as: UTF8.self)
    }

    /// Adds `__typename` to selection sets. Braces outside of parentheses enclose selections; those inside enclose
    /// values.
    private static func addTypenames(to bytes: UnsafeBufferPointer<UInt8>) throws(GraphQLSyntaxError) -> [UInt8] {
        var written: [UInt8] = []
        var (copied, parentheses, depth, isFragment) = (0, 0, 0, false)
        var lexer = GraphQLLexer(bytes)
        while true {
            let token = try lexer.next()
            switch token.kind {
            case .end: return written + bytes[copied...]
            case .parenLeft: parentheses += 1
            case .parenRight: parentheses -= 1
            case .braceLeft where parentheses == 0:
                if depth > 0 || isFragment {
                    written += bytes[copied..<token.end] + Array("__typename ".utf8)
                    copied = token.end
                }
                depth += 1
            case .braceRight where parentheses == 0:
                depth -= 1
                if depth == 0 { isFragment = false }
            default:
                if depth == 0, parentheses == 0, !isFragment {
                    isFragment = bytes[token.start..<token.end].elementsEqual("fragment".utf8)
                }
            }
        }
    }
}
