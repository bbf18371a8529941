/// A JSON text that was read once and stays as it is written: members in their order, numbers with all their digits,
/// and where in the text each value stands.
///
/// Values are places in a list of tokens; looking at one makes nothing of the others.
package final class JSONDocument: Sendable {
    package let bytes: [UInt8]
    private let tokens: [JSONTokenizer.Token]
    /// Behind which token the value that begins with a token ends.
    private let ends: [Int32]

    /// Reads a text in UTF-8.
    ///
    /// - Throws: `JSONFault` with place and path of what is wrong.
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

    /// Reads a text in UTF-8.
    package convenience init(_ data: Data) throws(JSONFault) {
        try self.init([UInt8](data))
    }

    /// How many tokens it has.
    package var tokenCount: Int { tokens.count }

    /// The outermost value.
    package var root: JSONNode { JSONNode(document: self, index: 0) }

    /// The tokens while they come.
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

        /// Where the reading stopped.
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

        /// The last member before a place.
        private func member(of start: Int, at inner: Int, _ bytes: [UInt8]) -> String {
            var (place, last) = (start + 1, Int?.none)
            while place < inner {
                last = place
                guard place + 1 < inner else { break }
                place = Int(ends[place + 1])
            }
            return last.map { "." + JSONNode.text(of: tokens[$0], in: bytes) } ?? ""
        }

        /// How many elements come before a place.
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

extension JSONDocument {
    fileprivate func token(_ index: Int) -> JSONTokenizer.Token { tokens[index] }
    fileprivate func end(_ index: Int) -> Int { Int(ends[index]) }
}

/// A value of a `JSONDocument`.
package struct JSONNode: Sendable {
    /// What sort of value there is.
    package enum Kind: Sendable {
        case object, array, string, number, bool, null
    }

    fileprivate let document: JSONDocument
    /// Its number among the tokens of the document, in which each value and name has one.
    package let index: Int

    private var token: JSONTokenizer.Token { document.token(index) }
    private var end: Int { document.end(index) }

    /// What it is.
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

    /// Where it stands in the text.
    package var range: Range<Int> { token.start..<document.token(end - 1).end }
    /// As it is written.
    package var raw: ArraySlice<UInt8> { document.bytes[range] }
    /// Whether it is null.
    package var isNull: Bool { token.kind == .null }

    /// The text of a string; nil of any other value. Half of a surrogate pair, and what is not UTF-8, is U+FFFD.
    package var string: String? { token.kind == .string ? Self.text(of: token, in: document.bytes) : nil }
    /// The truth value; nil of any other.
    package var bool: Bool? { token.kind == .true ? true : token.kind == .false ? false : nil }
    /// The number as near as a `Double` comes to it; nil of any other value.
    package var number: Double? { numberText.flatMap { Double($0) } }
    /// The number where it is whole and fits, also one written `1.0` or `1e3`.
    package var integer: Int64? {
        numberText.flatMap { text in Int64(text) ?? Decimal(string: text).flatMap { Int64("\($0)") } }
    }
    /// The number as it is written.
    package var numberText: String? { token.kind == .number ? String(decoding: raw, as: UTF8.self) : nil }

    /// The members of an object in their order; none of another value.
    package var members: some Sequence<(name: String, value: JSONNode)> {
        sequence(state: index + 1) { [self] place -> (name: String, value: JSONNode)? in
            guard kind == .object, place < end - 1 else { return nil }
            let (name, value) = (document.token(place), JSONNode(document: document, index: place + 1))
            place = value.end
            return (Self.text(of: name, in: document.bytes), value)
        }
    }

    /// The elements of an array; none of another value.
    package var elements: some Sequence<JSONNode> {
        sequence(state: index + 1) { [self] place -> JSONNode? in
            guard kind == .array, place < end - 1 else { return nil }
            let value = JSONNode(document: document, index: place)
            place = value.end
            return value
        }
    }

    /// The member of this name, byte for byte: of several the last.
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

    /// What a name or string says.
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
