extension JSONValue {
    /// The maximum number of nested containers that the parser accepts, so that recursive functions over a value can't
    /// exhaust the stack.
    public static let depthLimit = 512

    /// Parses a JSON text (RFC 8259) in UTF-8.
    ///
    /// If a name repeats, the last member counts. This includes names with different scalars that are equal as
    /// `String`s, such as `é` and `e` followed by a combining accent.
    ///
    /// A number that is too large becomes the largest finite one (`1e999`), and an unpaired surrogate becomes U+FFFD,
    /// so that one unreadable member doesn't make the whole text unreadable.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` with the line and column of the error.
    public init(parsing data: Data) throws(NetworkError) {
        self = try JSONParser.parse(Array(data))
    }

    /// Parses a JSON text (RFC 8259), with the same rules as `init(parsing:)` for data.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` with the line and column of the error.
    public init(parsing text: String) throws(NetworkError) {
        self = try JSONParser.parse(Array(text.utf8))
    }
}

/// A parser that builds a value from tokens. Open containers are kept in a list instead of recursive calls, because a
/// thread's stack may be small.
private struct JSONParser {
    private struct Container {
        let isObject: Bool
        var elements: [JSONValue] = []
        var members: [String: JSONValue] = [:]
        var name = ""

        mutating func take(_ value: JSONValue) {
            if isObject { members[name] = value } else { elements.append(value) }
        }

        var value: JSONValue { isObject ? .object(members) : .array(elements) }
    }

    private let bytes: [UInt8]
    private var open: [Container] = []
    private var value = JSONValue.null
    /// The first error that the tokenizer doesn't detect.
    private var fault: JSONFault?

    static func parse(_ bytes: [UInt8]) throws(NetworkError) -> JSONValue {
        var parser = JSONParser(bytes: bytes)
        do throws(JSONFault) {
            var tokenizer = JSONTokenizer()
            try bytes.withUnsafeBufferPointer { text throws(JSONFault) in
                try tokenizer.feed(text) { parser.take($0) }
            }
            try tokenizer.finish { parser.take($0) }
        } catch {
            throw (parser.fault ?? error).error(in: bytes)
        }
        if let fault = parser.fault { throw fault.error(in: bytes) }
        return parser.value
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func take(_ token: JSONTokenizer.Token) {
        switch token.kind {
        case .objectStart: open.append(Container(isObject: true))
        case .arrayStart: open.append(Container(isObject: false))
        case .objectEnd, .arrayEnd: give(open.removeLast().value)
        case .name: open[open.endIndex - 1].name = text(token)
        case .string: give(.string(text(token)))
        case .number: give(number(token))
        case .true: give(.bool(true))
        case .false: give(.bool(false))
        case .null: give(.null)
        }
    }

    private mutating func give(_ value: JSONValue) {
        if let last = open.indices.last { open[last].take(value) } else { self.value = value }
    }

    private mutating func number(_ token: JSONTokenizer.Token) -> JSONValue {
        let text = String(decoding: bytes[token.start..<token.end], as: UTF8.self)
        // An integer zero has no sign.
        if text != "-0", let value = Int64(text) { return .integer(value) }
        return .number(Double(json: text))
    }

    private mutating func text(_ token: JSONTokenizer.Token) -> String {
        let written = bytes[(token.start + 1)..<(token.end - 1)]
        let text = token.hasEscapes ? JSONText.bytes(of: written)[...] : written
        if let text = String(validating: text, as: UTF8.self) { return text }
        note("the text is not valid UTF-8", at: token.start)
        return ""
    }

    private mutating func note(_ reason: String, at offset: Int) {
        if fault == nil { fault = JSONFault(offset: offset, reason: reason) }
    }
}

extension Double {
    /// Creates the finite number nearest to one that has passed the tokenizer.
    ///
    /// JSON has no infinity, so an infinite value couldn't be written again.
    init(json text: String) {
        let value = Double(text) ?? 0
        self = value.isFinite ? value : value < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude
    }
}

extension JSONFault {
    fileprivate func error(in bytes: [UInt8]) -> NetworkError {
        let before = bytes[..<offset]
        let line = before.count { $0 == 0x0A } + 1
        let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
        return NetworkError(.decoding, during: .decode, "invalid JSON at line \(line), column \(column): \(reason)")
    }
}
