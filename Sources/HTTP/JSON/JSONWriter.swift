extension JSONValue {
    /// Options for writing JSON text.
    public struct WritingOptions: OptionSet, Sendable {
        /// The options as bits.
        public let rawValue: Int

        /// Creates options from bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// One member or element per line, indented by two spaces.
        public static let pretty = WritingOptions(rawValue: 1)
        /// Slashes written as `\/`, so that `</script>` in a text doesn't end an HTML script.
        public static let escapingSlashes = WritingOptions(rawValue: 2)
    }

    /// Returns the value as JSON text in UTF-8.
    ///
    /// Members are sorted by name, so equal values give equal bytes.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` if a number is infinite or NaN, which JSON can't represent.
    public func data(_ options: WritingOptions = []) throws(NetworkError) -> Data {
        Data(try utf8(options))
    }

    /// Returns the value as JSON text.
    ///
    /// Members are sorted by name.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` if a number is infinite or NaN, which JSON can't represent.
    public func text(_ options: WritingOptions = []) throws(NetworkError) -> String {
        String(decoding: try utf8(options), as: UTF8.self)
    }

    private func utf8(_ options: WritingOptions) throws(NetworkError) -> [UInt8] {
        var writer = JSONWriter(options: options)
        writer.write(self)
        return try writer.checkedBytes
    }
}

extension JSONTree {
    /// Returns the tree as JSON text in UTF-8.
    ///
    /// Members are sorted by name.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` if a number is infinite or NaN, which JSON can't represent.
    package func data(_ options: JSONValue.WritingOptions = []) throws(NetworkError) -> Data {
        var writer = JSONWriter(options: options)
        writer.write(self)
        return Data(try writer.checkedBytes)
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON text.
    ///
    /// Numbers that JSON can't represent are written as `inf` and `nan`.
    public var description: String {
        var writer = JSONWriter(options: [])
        writer.write(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

private struct JSONWriter {
    let options: JSONValue.WritingOptions
    private(set) var bytes: [UInt8] = []
    /// The last number written that JSON can't represent.
    private(set) var unrepresentable: Double?
    private var depth = 0

    init(options: JSONValue.WritingOptions) {
        self.options = options
    }

    /// The bytes written, unless they contain a number that JSON can't represent.
    var checkedBytes: [UInt8] {
        get throws(NetworkError) {
            guard let unrepresentable else { return bytes }
            throw NetworkError(
                .badRequest,
                during: .build,
                "JSON cannot represent the number \(unrepresentable)",
                advice: "send null or text instead"
            )
        }
    }

    mutating func write(_ tree: JSONTree) {
        switch tree {
        case .value(let value): write(value)
        case .literal(let text): append(text)
        case .array(let elements): write(elements) { $0.write($1) }
        case .object(let members): write(members) { $0.write($1) }
        }
    }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(String(value))
        case .number(let value): write(value)
        case .string(let value): write(value)
        case .array(let elements): write(elements) { $0.write($1) }
        case .object(let members): write(members) { $0.write($1) }
        }
    }

    private mutating func write(_ number: Double) {
        if !number.isFinite { unrepresentable = number }
        append("\(number)")
    }

    private mutating func write<Element>(_ elements: [Element], _ write: (inout Self, Element) -> Void) {
        guard !elements.isEmpty else { return append("[]") }
        append("[")
        depth += 1
        for (index, element) in elements.enumerated() {
            separate(index)
            write(&self, element)
        }
        close("]")
    }

    private mutating func write<Member>(_ members: [String: Member], _ write: (inout Self, Member) -> Void) {
        guard !members.isEmpty else { return append("{}") }
        append("{")
        depth += 1
        for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
            separate(index)
            self.write(member.key)
            append(options.contains(.pretty) ? ": " : ":")
            write(&self, member.value)
        }
        close("}")
    }

    private mutating func separate(_ index: Int) {
        if index > 0 { append(",") }
        breakLine()
    }

    private mutating func close(_ bracket: String) {
        depth -= 1
        breakLine()
        append(bracket)
    }

    private mutating func breakLine() {
        guard options.contains(.pretty) else { return }
        append("\n")
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    private mutating func write(_ string: String) {
        JSONText.append(string, to: &bytes, escapingSlashes: options.contains(.escapingSlashes))
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}
