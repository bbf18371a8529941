import BeagleNetHTTP

/// A formatter of JSON text that writes each value on its own line, and preserves digits, order and escapes.
package enum IndentedJSON {
    /// Formats JSON text.
    ///
    /// - Returns: `nil` if the bytes are not valid JSON.
    package static func text(of bytes: [UInt8]) -> String? {
        var writer = Writer(bytes: bytes)
        do throws(JSONFault) {
            var tokenizer = JSONTokenizer()
            try bytes.withUnsafeBufferPointer { buffer throws(JSONFault) in
                try tokenizer.feed(buffer) { writer.take($0) }
            }
            try tokenizer.finish { writer.take($0) }
        } catch {
            return nil
        }
        return String(decoding: writer.output, as: UTF8.self)
    }

    private struct Writer {
        let bytes: [UInt8]
        var output: [UInt8] = []
        private var depth = 0
        private var last: JSONTokenizer.Token.Kind?

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func take(_ token: JSONTokenizer.Token) {
            let isEnd = token.kind == .objectEnd || token.kind == .arrayEnd
            let isFirst = last == .objectStart || last == .arrayStart
            if isEnd { depth -= 1 }
            switch last {
            case nil: break
            case .name: output += ": ".utf8
            default:
                // Empty objects and arrays stay on one line.
                if isEnd, isFirst { break }
                if !isEnd, !isFirst { output.append(UInt8(ascii: ",")) }
                output += "\n".utf8
                output += repeatElement(UInt8(ascii: " "), count: depth * 2)
            }
            output += bytes[token.start..<token.end]
            if token.kind == .objectStart || token.kind == .arrayStart { depth += 1 }
            last = token.kind
        }
    }
}
