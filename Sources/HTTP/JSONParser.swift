extension JSONValue {
    /// Containers inside containers that are read; a deeper document is refused, so that no walk
    /// over the value can exhaust the stack.
    public static let depthLimit = 512

    /// The value of a JSON text (RFC 8259) in UTF-8. Of a member's name that repeats, the last counts.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` with line and column of what is wrong.
    public init(parsing data: Data) throws(NetworkError) {
        self = try JSONParser.parse(Array(data))
    }

    /// The value of a JSON text (RFC 8259). Of a member's name that repeats, the last counts.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` with line and column of what is wrong.
    public init(parsing text: String) throws(NetworkError) {
        self = try JSONParser.parse(Array(text.utf8))
    }
}

/// Reads one JSON text. The containers that are open are a list, not calls inside calls: a thread's stack may be small.
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
    private var position = 0
    private var open: [Container] = []

    static func parse(_ bytes: [UInt8]) throws(NetworkError) -> JSONValue {
        var parser = JSONParser(bytes: bytes)
        parser.skipByteOrderMark()
        let value = try parser.document()
        parser.skipSpace()
        guard parser.position == bytes.count else { throw parser.error("text after the end of the value") }
        return value
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipByteOrderMark() {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func document() throws(NetworkError) -> JSONValue {
        while true {
            guard var value = try begin() else { continue }
            while let container = open.indices.last {
                open[container].take(value)
                skipSpace()
                if skip(",") { break }
                value = try close()
            }
            if open.isEmpty { return value }
            try name()
        }
    }

    /// Reads a scalar or an empty container; any other container it opens.
    private mutating func begin() throws(NetworkError) -> JSONValue? {
        skipSpace()
        guard let byte = next else { throw error("the text ends where a value should be") }
        switch byte {
        case UInt8(ascii: "{"): return try open(isObject: true)
        case UInt8(ascii: "["): return try open(isObject: false)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw error("no value begins like this")
        }
    }

    private mutating func open(isObject: Bool) throws(NetworkError) -> JSONValue? {
        guard open.count < JSONValue.depthLimit else {
            throw error("nested deeper than \(JSONValue.depthLimit) containers")
        }
        position += 1
        skipSpace()
        if skip(isObject ? "}" : "]") { return isObject ? .object([:]) : .array([]) }
        open.append(Container(isObject: isObject))
        try name()
        return nil
    }

    /// Reads the name of the next member, if the innermost container has names.
    private mutating func name() throws(NetworkError) {
        guard let container = open.indices.last, open[container].isObject else { return }
        skipSpace()
        guard next == UInt8(ascii: "\"") else { throw error("a member's name in quotes should be here") }
        open[container].name = try string()
        skipSpace()
        guard skip(":") else { throw error("a colon should be here") }
    }

    private mutating func close() throws(NetworkError) -> JSONValue {
        let container = open.removeLast()
        guard skip(container.isObject ? "}" : "]") else {
            throw error("a comma or the end of the \(container.isObject ? "object" : "array") should be here")
        }
        return container.value
    }

    private mutating func word(_ text: String, _ value: JSONValue) throws(NetworkError) -> JSONValue {
        guard bytes[position...].starts(with: text.utf8) else { throw error("no value begins like this") }
        position += text.utf8.count
        return value
    }
}

// MARK: - Numbers

extension JSONParser {
    private mutating func number() throws(NetworkError) -> JSONValue {
        let start = position
        var isWhole = true
        _ = skip("-")
        if !skip("0") { try digits() }
        if skip(".") {
            isWhole = false
            try digits()
        }
        if skip("e") || skip("E") {
            isWhole = false
            if !skip("+") { _ = skip("-") }
            try digits()
        }
        return try value(ofNumber: String(decoding: bytes[start..<position], as: UTF8.self), isWhole, at: start)
    }

    private mutating func digits() throws(NetworkError) {
        let start = position
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        guard position > start else { throw error("a digit should be here") }
    }

    private func value(ofNumber text: String, _ isWhole: Bool, at start: Int) throws(NetworkError) -> JSONValue {
        // The integer zero has no sign.
        if isWhole, text != "-0", let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw error("the number is too large", at: start) }
        return .number(value)
    }
}

// MARK: - Text

extension JSONParser {
    private mutating func string() throws(NetworkError) -> String {
        position += 1
        var text: [UInt8] = []
        while true {
            let plain = try plainText()
            if next == UInt8(ascii: "\""), text.isEmpty {
                position += 1
                return try utf8(plain)
            }
            text += plain
            if skip("\"") { return try utf8(text[...]) }
            try escape(into: &text)
        }
    }

    /// The bytes before the next quote or escape.
    private mutating func plainText() throws(NetworkError) -> ArraySlice<UInt8> {
        let start = position
        while let byte = next {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return bytes[start..<position] }
            guard byte >= 0x20 else { throw error("a control character in text must be escaped") }
            position += 1
        }
        throw error("the text ends inside quotes")
    }

    private func utf8(_ text: ArraySlice<UInt8>) throws(NetworkError) -> String {
        guard let string = String(validating: text, as: UTF8.self) else { throw error("the text is not UTF-8") }
        return string
    }

    private mutating func escape(into text: inout [UInt8]) throws(NetworkError) {
        position += 1
        guard let byte = next else { throw error("the text ends inside an escape") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: UTF8.encode(try scalar())!)
        default: throw error("unknown escape", at: position - 1)
        }
    }

    /// The character of one `\uXXXX`, or of the two that make a surrogate pair.
    private mutating func scalar() throws(NetworkError) -> Unicode.Scalar {
        let start = position
        let high = try codeUnit()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard UTF16.isLeadSurrogate(high), skip("\\"), skip("u") else {
            throw error("half of a surrogate pair", at: start)
        }
        let low = try codeUnit()
        guard UTF16.isTrailSurrogate(low) else { throw error("half of a surrogate pair", at: start) }
        return UTF16.decode(UTF16.EncodedScalar([high, low]))
    }

    private mutating func codeUnit() throws(NetworkError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("a hexadecimal digit should be here")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    private func error(_ what: String, at place: Int? = nil) -> NetworkError {
        let before = bytes[..<(place ?? position)]
        let line = before.count { $0 == 0x0A } + 1
        let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
        return NetworkError(.decoding, during: .decode, "not JSON at line \(line), column \(column): \(what)")
    }
}
