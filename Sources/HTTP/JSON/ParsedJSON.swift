/// A parsed JSON text that preserves its source: the order of members, all digits of numbers, and the position of each
/// value.
///
/// Values are positions in a list of tokens. Reading one value doesn't convert the others.
package final class ParsedJSON: Sendable {
    package let bytes: [UInt8]
    private let tokens: [JSONTokenizer.Token]
    /// For each token, the index after the last token of the value that it begins.
    private let ends: [Int32]

    /// Parses a text in UTF-8.
    ///
    /// - Throws: `JSONFault` with the position and path of the error.
    package init(_ bytes: [UInt8]) throws(JSONFault) {
        self.bytes = bytes
        var tape = Tape()
        do {
            tape.tokens.reserveCapacity(bytes.count / 8)
            try bytes.withUnsafeBufferPointer { buffer throws(JSONFault) in try tape.read(buffer) }
        } catch {
            var fault = error
            fault.path = tape.path(in: bytes)
            throw fault
        }
        tokens = tape.tokens
        ends = tape.ends
    }

    /// Parses a text in UTF-8.
    package convenience init(_ data: Data) throws(JSONFault) {
        try self.init([UInt8](data))
    }

    /// The number of tokens.
    package var tokenCount: Int { tokens.count }

    /// The outermost value.
    package var root: JSONNode { JSONNode(document: self, index: 0) }

    /// The tokens while the text is being read.
    private struct Tape {
        var tokens: [JSONTokenizer.Token] = []
        var ends: [Int32] = []
        var open: [Int] = []

        mutating func read(_ buffer: UnsafeBufferPointer<UInt8>) throws(JSONFault) {
            var tokenizer = JSONTokenizer()
            try tokenizer.feed(buffer) { append($0) }
            try tokenizer.finish { append($0) }
        }

        private mutating func append(_ token: JSONTokenizer.Token) {
            let index = tokens.count
            tokens.append(token)
            ends.append(Int32(truncatingIfNeeded: index + 1))
            switch token.kind {
            case .objectStart, .arrayStart: open.append(index)
            case .objectEnd, .arrayEnd: ends[open.removeLast()] = Int32(truncatingIfNeeded: index + 1)
            default: break
            }
        }

        /// Returns the path at which reading stopped.
        func path(in bytes: [UInt8]) -> String {
            var path = "$"
            for (level, start) in open.enumerated() {
                let inner = level + 1 < open.count ? open[level + 1] : tokens.count
                path +=
                    tokens[start].kind == .objectStart
                    ? member(of: start, at: inner, bytes) : element(of: start, at: inner)
            }
            return path
        }

        /// Returns the path step of the last member before a token.
        private func member(of start: Int, at inner: Int, _ bytes: [UInt8]) -> String {
            var (place, last) = (start + 1, Int?.none)
            while place < inner {
                last = place
                guard place + 1 < inner else { break }
                place = Int(ends[place + 1])
            }
            return last.map { "." + JSONNode.text(of: tokens[$0], in: bytes) } ?? ""
        }

        /// Returns the path step of the element at a token.
        private func element(of start: Int, at inner: Int) -> String {
            var (place, count) = (start + 1, 0)
            while place < inner {
                place = Int(ends[place])
                count += 1
            }
            return "[\(count)]"
        }
    }
}

extension ParsedJSON {
    fileprivate func token(_ index: Int) -> JSONTokenizer.Token { tokens[index] }
    fileprivate func end(_ index: Int) -> Int { Int(ends[index]) }
}

/// A value of a `ParsedJSON`.
package struct JSONNode: Sendable {
    /// The type of a JSON value.
    package enum Kind: Sendable {
        case object, array, string, number, bool, null
    }

    fileprivate let document: ParsedJSON
    /// The index of the value's first token in the document.
    package let index: Int

    private var token: JSONTokenizer.Token { document.token(index) }
    private var end: Int { document.end(index) }

    /// The type of the value.
    package var kind: Kind {
        switch token.kind {
        case .objectStart: .object
        case .arrayStart: .array
        case .number: .number
        case .true, .false: .bool
        case .null: .null
        default: .string
        }
    }

    /// The range of the value in the text.
    package var range: Range<Int> { token.start..<document.token(end - 1).end }
    /// The value as it is written.
    package var raw: ArraySlice<UInt8> { document.bytes[range] }
    /// Whether the value is null.
    package var isNull: Bool { token.kind == .null }

    /// The text of a string, or `nil` for any other value.
    ///
    /// Unpaired surrogates and invalid UTF-8 become U+FFFD.
    package var string: String? { token.kind == .string ? Self.text(of: token, in: document.bytes) : nil }
    /// The Boolean, or `nil` for any other value.
    package var bool: Bool? { token.kind == .true ? true : token.kind == .false ? false : nil }
    /// The number as the nearest `Double`, or `nil` for any other value.
    package var number: Double? { numberText.flatMap { Double($0) } }
    /// The number if it is integral and fits, even if it is written as `1.0` or `1e3`; otherwise `nil`.
    package var integer: Int64? {
        numberText.flatMap { text in Int64(text) ?? Decimal(string: text).flatMap { Int64("\($0)") } }
    }
    /// The number as it is written.
    package var numberText: String? { token.kind == .number ? String(decoding: raw, as: UTF8.self) : nil }

    /// The members of an object in order; empty for any other value.
    package var members: some Sequence<(name: String, value: JSONNode)> {
        sequence(state: index + 1) { [self] place -> (name: String, value: JSONNode)? in
            guard kind == .object, place < end - 1 else { return nil }
            let (name, value) = (document.token(place), JSONNode(document: document, index: place + 1))
            place = value.end
            return (Self.text(of: name, in: document.bytes), value)
        }
    }

    /// The elements of an array; empty for any other value.
    package var elements: some Sequence<JSONNode> {
        sequence(state: index + 1) { [self] place -> JSONNode? in
            guard kind == .array, place < end - 1 else { return nil }
            let value = JSONNode(document: document, index: place)
            place = value.end
            return value
        }
    }

    /// Returns the member with this name, compared byte by byte.
    ///
    /// If the name repeats, the last member counts.
    package subscript(name: String) -> JSONNode? {
        guard kind == .object else { return nil }
        var (place, found) = (index + 1, JSONNode?.none)
        while place < end - 1 {
            let value = JSONNode(document: document, index: place + 1)
            if document.token(place).isNamed(name, in: document.bytes) { found = value }
            place = value.end
        }
        return found
    }

    /// Returns the unescaped text of a name or string.
    fileprivate static func text(of token: JSONTokenizer.Token, in bytes: [UInt8]) -> String {
        let written = bytes[(token.start + 1)..<(token.end - 1)]
        return token.hasEscapes ? JSONText.unescaped(written) : String(decoding: written, as: UTF8.self)
    }
}

extension JSONTokenizer.Token {
    fileprivate func isNamed(_ name: String, in bytes: [UInt8]) -> Bool {
        if hasEscapes { return JSONNode.text(of: self, in: bytes).utf8.elementsEqual(name.utf8) }
        return bytes[(start + 1)..<(end - 1)].elementsEqual(name.utf8)
    }
}
